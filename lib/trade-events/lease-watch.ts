/**
 * What a contender learns of a lease that another listener holds. The record has times of the owner's clock, which may
 * be off: the contender compares them with each other alone, and measures by its own clock how long the record stays.
 */

import type { TradeEventTuning } from './listener-options.ts';
import type { LeaseRecord } from './ports.ts';

/** Times are those of the contender's monotonic clock. */
export class LeaseWatch {
  readonly #tuning: Pick<TradeEventTuning, 'leaseMs' | 'renewEveryMs' | 'pollMs'>;
  #record: LeaseRecord | undefined;
  /** When the record was there at the latest: its owner counts its lease from before that. */
  #since = Number.POSITIVE_INFINITY;
  /** So much earlier it may have been written. */
  #ageMs = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isRenewed = false;

  constructor(tuning: Pick<TradeEventTuning, 'leaseMs' | 'renewEveryMs' | 'pollMs'>) {
    this.#tuning = tuning;
  }

  /** @param askedAt when the store was asked; it has answered at `now` */
  see(record: LeaseRecord, askedAt: number, now: number): void {
    const before = this.#record;
    if (record.owner !== before?.owner || record.until !== before.until) {
      this.#isRenewed = before !== undefined;
      this.#since = now;
      this.#ageMs = Math.min(now - this.#lookedAt, this.#tuning.renewEveryMs);
      this.#record = record;
    }
    this.#lookedAt = askedAt;
  }

  /** The record that stayed for a whole lease: its owner has stopped. */
  expired(now: number): LeaseRecord | undefined {
    return now - this.#since >= this.#tuning.leaseMs ? this.#record : undefined;
  }

  /** Without a renewal since the first look, the owner may be dead. */
  get isRenewed(): boolean {
    return this.#isRenewed;
  }

  /** It missed two renewals: it may be dead. */
  isOverdue(now: number): boolean {
    return now - this.#since > 2 * this.#tuning.renewEveryMs;
  }

  /** When the owner hands over at the latest: what was left to it when it wrote the record. */
  get handsOverBy(): number {
    const { endsAt, until } = this.#record ?? { endsAt: 0, until: 0 };
    return this.#since + Math.max(0, endsAt - until + this.#tuning.leaseMs);
  }

  /** Often when the owner may hand over; otherwise as often as tells its death within the margin of a lease. */
  pauseMs(now: number): number {
    const { leaseMs, renewEveryMs, pollMs } = this.#tuning;
    const handsOverAt = this.handsOverBy - this.#ageMs;
    const next = Math.min(handsOverAt - now, this.#since + leaseMs - now, renewEveryMs / 3);
    return Math.max(pollMs, next);
  }
}
