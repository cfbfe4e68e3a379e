/**
 * The gateway as its clients see it: the local run in a process that has just started, real connections, load
 * from a process of its own. About twenty minutes for all; names narrow the run, each a part of a study's name:
 *
 *     npm run study -- http junk cold
 */

import { studyCold, studySteady } from './crowd.ts';
import { studyGreedy } from './greedy.ts';
import { studyInvalidSymbols } from './invalid-symbols.ts';

const studies: Readonly<Record<string, () => Promise<void>>> = {
  junk: studyInvalidSymbols,
  greedy: studyGreedy,
  'cold-1000': () => studyCold(1000),
  'cold-5000': () => studyCold(5000),
  steady: studySteady,
};

/** @param filters narrow the run, each a part of a name */
export async function studyHttp(filters: readonly string[]): Promise<boolean> {
  for (const [name, run] of Object.entries(studies))
    if (filters.length === 0 || filters.some((part) => name.includes(part))) await run();
  return true;
}
