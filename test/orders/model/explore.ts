/** All histories of a scenario, depth first: they fork where there is a choice, and none goes on from a state that was seen. */

import { History, type Scenario, type Subject } from './history.ts';
import type { Finding } from './witness.ts';

export interface Explored {
  readonly states: number;
  /** Those that came to their end; others met a state that was seen before. */
  readonly histories: number;
  readonly findings: readonly (Finding & { readonly path: readonly string[] })[];
  /** False where `maxStates` ended it. */
  readonly isComplete: boolean;
}

interface Path {
  readonly name: string;
  readonly after: Path | undefined;
}

export async function explore(
  scenario: Scenario,
  subject: Subject,
  { maxStates = Number.POSITIVE_INFINITY, maxFindings = 1 } = {},
): Promise<Explored> {
  const seen = new Set<string>();
  const findings: Explored['findings'][number][] = [];
  let histories = 0;
  const isEnough = () => findings.length >= maxFindings || seen.size >= maxStates;
  const goOn = async (history: History, path?: Path): Promise<void> => {
    const state = await history.state();
    const isNew = !seen.has(state) && history.witness.findings.length === 0;
    const count = isNew ? history.options().length : 0;
    if (isNew) seen.add(state);
    if (isNew && count === 0) {
      histories++;
      await history.end();
    }
    for (const finding of history.witness.findings) findings.push({ ...finding, path: namesOf(path) });
    for (let index = 0; index < count && !isEnough(); index++) {
      // The last choice goes on in this history: no fork is needed.
      const next = index === count - 1 ? history : history.fork();
      const { name, take } = next.options()[index]!;
      await take();
      await goOn(next, { name, after: path });
    }
  };
  await goOn(History.begin(scenario, subject));
  return { states: seen.size, histories, findings, isComplete: !isEnough() };
}

const namesOf = (path: Path | undefined): readonly string[] =>
  path ? [...namesOf(path.after), path.name] : [];
