/** Counts the results of a batch. */

import type { LookupReport } from './ports.ts';

type Counter = 'waiting' | 'duplicates' | 'poisoned';

export class BatchMetrics {
  readonly #report: (report: LookupReport) => void;
  readonly #counts = { answered: 0, failed: 0, waiting: 0, duplicates: 0, poisoned: 0 };
  readonly #ages: number[] = [];
  readonly #causes: unknown[] = [];
  #calls = 0;

  constructor(report: (report: LookupReport) => void) {
    this.#report = report;
  }

  count(counter: Counter): void {
    this.#counts[counter]++;
  }

  settled(result: 'answered' | 'failed', ageMs: number): void {
    this.#counts[result]++;
    this.#ages.push(ageMs);
  }

  calls(more: number): void {
    this.#calls += more;
  }

  /** A bound function, because it is passed on as the handler of rejections. */
  readonly cause = (cause: unknown): void => {
    this.#causes.push(cause);
  };

  done(undone = 0): void {
    try {
      this.#report({
        ...this.#counts,
        undone,
        calls: this.#calls,
        ages: this.#ages,
        causes: this.#causes,
      });
    } catch {
      // Metrics that fail must not cost a requester its reply.
    }
  }
}
