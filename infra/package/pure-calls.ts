/**
 * Marks the catalogue's calls in the built package as free of side effects, so that a bundler leaves out the
 * operations that nobody uses. The functions say so themselves (`@__NO_SIDE_EFFECTS__`), but esbuild and others
 * believe that within one file only; a mark at the call is understood by all, and no one wants to read a
 * thousand of them in the source.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const space = /\s+|\/\/.*|\/\*[\s\S]*?\*\//;
const text = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/;
const expression = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*])+\/[a-z]*/;
const word = /[\w$]+(?:\.[A-Za-z_$][\w$]*)*/;
const token = new RegExp(
  `(?<space>${space.source})|${text.source}|(?<expression>${expression.source})|(?<word>${word.source})|.`,
  'y',
);

/** `code` is JavaScript as the compiler writes it. */
export function markCalls(code: string): string {
  let marked = '';
  /** What stands before, space and comments aside. */
  let before = '';
  for (token.lastIndex = 0; token.lastIndex < code.length; ) {
    const at = token.lastIndex;
    const match = token.exec(code);
    if (!match) throw new Error(`not JavaScript that can be read here: ${code.slice(at, at + 40)}`);
    let [found] = match;
    const { space, expression, word } = match.groups ?? {};
    // Only where a value is expected: a call that stands for itself is made for its effect.
    const wantsValue = /[=(,:[>]$/.test(before);
    if (expression !== undefined && !wantsValue) {
      // A division.
      found = '/';
      token.lastIndex = at + 1;
    } else if (word !== undefined && wantsValue && code[token.lastIndex] === '(' && !/^\d/.test(word)) {
      marked += '/* @__PURE__ */ ';
    }
    marked += found;
    if (space === undefined) before = found;
  }
  return marked;
}

/** Every module of a built folder, in place; sound only where no call has an effect. */
export function markFolder(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue;
    const file = join(folder, name);
    writeFileSync(file, markCalls(readFileSync(file, 'utf8')));
  }
}
