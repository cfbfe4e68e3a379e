/** Counts what becomes of a batch. */

import type { LookupReport } from './ports.ts';

type Counter = 'waiting' | 'duplicates' | 'poisoned';

export function createBatchMetrics(report: (report: LookupReport) => void) {
  const counts = { answered: 0, failed: 0, waiting: 0, duplicates: 0, poisoned: 0 };
  const ages: number[] = [];
  const causes: unknown[] = [];
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
    done(undone = 0): void {
      try {
        report({ ...counts, undone, calls, ages, causes });
      } catch {
        // Figures that fail must not cost anybody his reply.
      }
    },
  };
}
