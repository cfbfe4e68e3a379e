/** Command lines as commands get them, and all commands. */

import assert from 'node:assert/strict';
import { type AnyCommand, isGroup, parse, UsageError } from '../../infra/commands/command.ts';
import { table } from '../../infra/commands/table.ts';

/** Each command that does something, by the words that a shell takes. */
export async function allCommands(): Promise<ReadonlyMap<string, AnyCommand>> {
  const found = new Map<string, AnyCommand>();
  for (const [name, { load }] of Object.entries(table)) {
    const loaded = await load();
    if (!isGroup(loaded)) found.set(name, loaded);
    else for (const [verb, [, one]] of Object.entries(loaded)) found.set(`${name} ${verb}`, one);
  }
  return found;
}

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
