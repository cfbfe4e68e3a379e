/** Figures of a run as text, each with what it takes to judge it. */

import { loadavg } from 'node:os';
import { at } from '../../support/figures.ts';
import type { Run, Sample } from './plan.ts';

/** `200 ×54, 429 budget_used_up ×6`. */
export function byCode(samples: readonly Sample[]): string {
  const counts = new Map<string, number>();
  for (const { status, code } of samples) {
    const what = [status || 'no answer', code].filter(Boolean).join(' ');
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return (
    [...counts]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([what, count]) => `${what} ×${count}`)
      .join(', ') || 'nothing'
  );
}

export const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** Where a process was late, or was delayed by other work, a figure says less about the gateway. */
export function conditions({ samples, thread }: Run): string {
  const late = samples.map(({ lateMs }) => lateMs);
  return `[${[
    `load late p99 ${at(late, 0.99).toFixed(0)} ms, at most ${Math.max(0, ...late).toFixed(0)} ms`,
    ...(thread ? [`gateway ran ${inSeconds(thread.ranMs)}, delayed ${inSeconds(thread.keptMs)}`] : []),
    `machine load ${loadavg()[0]?.toFixed(1)}`,
  ].join('; ')}]`;
}
