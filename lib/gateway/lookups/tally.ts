/** Counts what becomes of a batch. */

import type { LookupMessage, LookupReport } from './ports.ts';

type Counter = 'waiting' | 'duplicates' | 'poisoned';

export function createTally(report: (report: LookupReport) => void) {
  const counts = { answered: 0, failed: 0, waiting: 0, duplicates: 0, poisoned: 0 };
  const ages: number[] = [];
  const causes: unknown[] = [];
  const left = new Set<string>();
  let calls = 0;
  return {
    count(what: Counter): void {
      counts[what]++;
    },
    settled(how: 'answered' | 'failed', ageMs: number): void {
      counts[how]++;
      ages.push(ageMs);
    },
    calls(more: number): void {
      calls += more;
    },
    cause(cause: unknown): void {
      causes.push(cause);
    },
    /** Its message must come again. */
    leave({ id }: LookupMessage, cause?: unknown): void {
      left.add(id);
      if (cause !== undefined) causes.push(cause);
    },
    done(): readonly string[] {
      try {
        report({ ...counts, undone: left.size, calls, ages, causes });
      } catch {
        // Figures that fail must not cost anybody his reply.
      }
      return [...left];
    },
  };
}
