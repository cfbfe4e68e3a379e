/** All histories of a scenario, depth first: each is run again from its start, and none goes on from a state that was seen. */

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

interface Node {
  chosen: number;
  readonly count: number;
}

export async function explore(
  scenario: Scenario,
  subject: Subject,
  { maxStates = Number.POSITIVE_INFINITY, maxFindings = 1 } = {},
): Promise<Explored> {
  const seen = new Set<string>();
  const findings: Explored['findings'][number][] = [];
  const nodes: Node[] = [];
  let histories = 0;
  do {
    const history = new History(scenario, subject);
    const path: string[] = [];
    for (const { chosen } of nodes) await take(history, chosen, path);
    const isNew = await goOn(history, nodes, path, seen);
    if (isNew) {
      histories++;
      await history.end();
    }
    for (const finding of history.witness.findings) findings.push({ ...finding, path });
    if (findings.length >= maxFindings || seen.size >= maxStates)
      return { states: seen.size, histories, findings, isComplete: false };
  } while (next(nodes));
  return { states: seen.size, histories, findings, isComplete: true };
}

async function take(history: History, chosen: number, path: string[]): Promise<void> {
  const option = history.options()[chosen];
  if (!option) throw new Error(`a history that does not repeat itself: ${path.join(', ')}`);
  path.push(option.name);
  await option.take();
}

/** By first choices to the end, or to a state that was seen. Whether the end is a new one. */
async function goOn(history: History, nodes: Node[], path: string[], seen: Set<string>): Promise<boolean> {
  for (;;) {
    const state = await history.state();
    if (seen.has(state) || history.witness.findings.length > 0) return false;
    seen.add(state);
    const count = history.options().length;
    if (count === 0) return true;
    nodes.push({ chosen: 0, count });
    await take(history, 0, path);
  }
}

/** The next choice at the deepest place that has one left. */
function next(nodes: Node[]): boolean {
  for (let last = nodes.at(-1); last; last = nodes.at(-1)) {
    if (++last.chosen < last.count) return true;
    nodes.pop();
  }
  return false;
}
