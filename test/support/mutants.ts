/** The product with rules broken in its source: what passes for the code as it is must fail for each of them. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { bundle, load, replaceIn } from './bundle.ts';

export interface Edit {
  /** In `lib`, without its ending. */
  readonly file: string;
  readonly find: string;
  readonly by: string;
}

export interface Mutant extends Edit {
  readonly rule: string;
}

export const inFile =
  (file: string) =>
  (rule: string, find: string, by: string): Mutant => ({ rule, file, find, by });

/** @param source exports what is judged */
export async function subjectWith<Subject>(source: string, ...edits: readonly Edit[]): Promise<Subject> {
  const plugins = edits.map(({ file, find, by }) => replaceIn(`lib/${file}.ts`, find, by));
  return (await load((await bundle(source, { plugins })).text)) as Subject;
}

/** @param caughtBy says in words what fails for a subject; undefined where nothing does */
export function mutantTests<Subject>(
  source: string,
  mutants: readonly (Mutant | { readonly rule: string; readonly edits: readonly Edit[] })[],
  caughtBy: (subject: Subject) => Promise<string | undefined>,
): void {
  test.each(mutants)('caught: $rule', async (mutant) => {
    const edits = 'edits' in mutant ? mutant.edits : [mutant];
    const by = await caughtBy(await subjectWith<Subject>(source, ...edits));
    console.log(`| ${mutant.rule} | ${by?.split('\n')[0]?.slice(0, 100) ?? 'survives'} |`);
    assert.ok(by, 'survives');
  });
}
