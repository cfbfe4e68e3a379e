/** A command line as its command gets it. */

import assert from 'node:assert/strict';
import { parse, UsageError } from '../../infra/commands/command.ts';
import { table } from '../../infra/commands/table.ts';

/** Arguments as a shell gives them: a text in quotes is one. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replaceAll(/["']/g, ''));

/** @throws UsageError */
export async function given<T>(words: string | readonly string[]): Promise<T> {
  const parsed = await parse(typeof words === 'string' ? wordsOf(words) : words, table, '');
  assert.ok('run' in parsed, 'text' in parsed ? parsed.text : '');
  return parsed.given as T;
}

/** That a line is refused in one sentence which says so, and where help is; `absent` is not repeated in it. */
export async function refused(words: string | readonly string[], sentence: string | RegExp, absent?: string) {
  await assert.rejects(
    () => given(words),
    (error) => {
      assert.ok(error instanceof UsageError, `${words}: ${error}`);
      const { message } = error;
      const [, said = '', help = ''] = /^(.*) (countersign [a-z -]*--help says more\.)$/.exec(message) ?? [];
      assert.ok(help, message);
      if (typeof sentence === 'string') assert.equal(said, sentence);
      else assert.match(said, sentence);
      assert.ok(absent === undefined || !message.includes(absent), message);
      return true;
    },
    `${words}`,
  );
}
