/**
 * When permissions were given, as runs of evenly spaced times: a minute of steady use is one run, a burst
 * another, so that the whole window fits into a small item.
 */

/** `count` times: `from`, `from + step`, … in milliseconds since the epoch, fractions included. */
export interface Run {
  readonly from: number;
  readonly step: number;
  readonly count: number;
}

/** Far below a millisecond, far above what a double loses at this size. */
const hair = 0.01;

export const timeOf = ({ from, step }: Omit<Run, 'count'>, index: number): number => from + index * step;

/** How many times lie after `time`; one that lies on it does not count. */
export function countAfter(runs: readonly Run[], time: number): number {
  let total = 0;
  for (const run of runs) total += run.count - countUpTo(run, time);
  return total;
}

function countUpTo({ from, step, count }: Run, time: number): number {
  const passed = time - from + hair;
  if (passed < 0) return 0;
  return step === 0 ? count : Math.min(count, Math.floor(passed / step) + 1);
}

/** The `nth` time after `time`, counted from 1; undefined when there are fewer. */
export function nthAfter(runs: readonly Run[], time: number, nth: number): number | undefined {
  const times: number[] = [];
  for (const run of runs)
    for (let index = countUpTo(run, time); index < run.count; index++) times.push(timeOf(run, index));
  return times.sort((a, b) => a - b)[nth - 1];
}

/** Without what lies up to `time`. */
export function dropUpTo(runs: readonly Run[], time: number): Run[] {
  return runs.flatMap((run) => {
    const gone = countUpTo(run, time);
    if (gone === run.count) return [];
    return gone === 0 ? [run] : [{ from: timeOf(run, gone), step: run.step, count: run.count - gone }];
  });
}

/** With one more at the end, joined to the last where it goes on in the same step. */
export function withRun(runs: readonly Run[], run: Run): readonly Run[] {
  if (run.count === 0) return runs;
  const last = runs.at(-1);
  const goesOn = last && last.step === run.step && Math.abs(timeOf(last, last.count) - run.from) < hair / 10;
  const stands = last && last.count > 0 && run.step === 0 && last.step === 0 && last.from === run.from;
  if (last && (goesOn || stands)) return [...runs.slice(0, -1), { ...last, count: last.count + run.count }];
  return [...runs, run];
}
