/** The queue of one instance's requests that wait for permits of the same kind. */

import type { Exhausted, RemainingPermits, Validity } from './grant.ts';
import type { Priority } from './limits.ts';
import type { RefusalReason } from './permit.ts';

/** A request that waits. */
interface Waiter {
  /** When the request stops waiting; moves when the instance follows another's clock. */
  readonly deadline: number;
  readonly grant: (validity: Validity, remaining: RemainingPermits) => void;
  readonly refuse: (reason: RefusalReason, notBefore: number) => void;
}

/** Average wait for the next attempt, in milliseconds, while permits may come back unused. */
const askAgainMs = 1000;
/** Time over which instances with few refused requests spread their next attempts, in milliseconds. */
const baseSpreadMs = 500;
/** Refused requests above this number widen the spread, because they suggest many instances like this one. */
const fewRefused = 6;
const spreadPerRefusedMs = 500;
const minSpreadMs = 100;
const maxSpreadMs = 12_000;

export class WaitQueue {
  readonly limits: readonly [string, ...string[]];
  readonly priority: Priority;
  /** Time given to refused requests for their next attempt. */
  notBefore = 0;
  /** Time of the next question to the store for these requests; before `notBefore` while unused permits may come back. */
  askAt = 0;
  /** Reason why the last attempt got no permit. */
  reason: RefusalReason = 'exhausted';
  /** Limit that had no permit left at the last attempt. */
  usedUp: string | undefined;
  readonly #random: () => number;
  #waiters: Waiter[] = [];
  /** Time over which refused instances spread their next attempts, in milliseconds. */
  #spreadMs = 0;
  /** Number of requests refused since the last one was served. */
  #refused = 0;

  constructor(limits: readonly [string, ...string[]], priority: Priority, random: () => number) {
    this.limits = limits;
    this.priority = priority;
    this.#random = random;
  }

  get length(): number {
    return this.#waiters.length;
  }

  /** The deadline of the most patient request. */
  latestDeadline(): number {
    return Math.max(...this.#waiters.map(({ deadline }) => deadline));
  }

  /** Adds a request, or refuses it at once when its deadline is before the next attempt. */
  add(waiter: Waiter): boolean {
    if (this.askAt > waiter.deadline) {
      this.#refused++;
      waiter.refuse(this.reason, this.notBefore);
      return false;
    }
    this.#waiters.push(waiter);
    return true;
  }

  /**
   * Grants permits: the earliest goes to the least patient of the requests that can wait for it.
   *
   * @returns the permits that no request can use
   */
  serve(permits: readonly Validity[], remaining: RemainingPermits, now: number): readonly Validity[] {
    this.#spreadMs /= 4;
    this.#refused = 0;
    const waiters = [...this.#waiters].sort((a, b) => a.deadline - b.deadline);
    const left = permits.filter((permit) => {
      // A permit for now suits every request, even one whose deadline passed while the store was asked.
      const index = waiters.findIndex(
        ({ deadline }) => deadline >= permit.validFrom || permit.validFrom <= now,
      );
      const [waiter] = index < 0 ? [] : waiters.splice(index, 1);
      waiter?.grant(permit, remaining);
      return !waiter;
    });
    this.#waiters = waiters;
    return left;
  }

  /** Grants permits of the reserve in the order of arrival, until `take` returns false. */
  serveFromReserve(take: () => boolean, validity: Validity): void {
    while (this.length > 0 && take()) {
      const [waiter, ...others] = this.#waiters;
      this.#waiters = others;
      waiter?.grant(validity, { remaining: 0 });
    }
  }

  /** Plans the next attempt at `notBefore` after one that got no permit, and refuses requests that cannot wait so long. */
  refuseUntil({ notBefore, earliest, reason, usedUp, mayReturn }: Exhausted, now: number): void {
    this.usedUp = usedUp;
    this.reason = reason;
    // A distant time drawn earlier stays, or each early attempt would delay it again.
    const laterMs = this.notBefore - notBefore;
    const isDrawn = notBefore > now + askAgainMs && laterMs >= 0 && laterMs <= 10 + this.#spreadMs;
    if (!isDrawn) this.notBefore = Math.max(notBefore, now);
    const isHopeless = (deadline: number) => deadline < Math.max(earliest, this.notBefore);
    const patient = this.#waiters.filter(({ deadline }) => !isHopeless(deadline));
    this.#refused += this.length - patient.length;
    const patienceMs = Math.max(0, ...patient.map(({ deadline }) => deadline - now));
    // Under a hundredfold demand hardly any attempt succeeds, and each costs, so patient requests wait longer.
    const max = this.#spreadByRefused() + patienceMs / 4;
    this.#spreadMs = Math.min(maxSpreadMs, max, Math.max(minSpreadMs, this.#spreadMs * 2));
    // A random part keeps instances with the same time from coming at once.
    if (!isDrawn) this.notBefore += 10 + this.#random() * this.#spreadMs;
    this.askAt = mayReturn ? now + askAgainMs * (0.5 + this.#random()) : this.notBefore;
    this.refuseHopeless(isHopeless, reason, () => this.notBefore);
  }

  /**
   * Refuses requests that cannot wait until the store is asked again. Each gets a retry time of its own; the more there
   * are, the further apart.
   */
  refuseWithoutStore(storeAt: number, reserveAt: number, reason: RefusalReason, now: number): void {
    const isHopeless = (deadline: number) => deadline < storeAt;
    this.#refused += this.#waiters.filter(({ deadline }) => isHopeless(deadline)).length;
    const spreadMs = Math.min(maxSpreadMs, storeAt - now + this.#spreadByRefused());
    const notBefore = () => Math.max(now, Math.min(reserveAt, storeAt + this.#random() * spreadMs));
    this.refuseHopeless(isHopeless, reason, notBefore);
  }

  refuseHopeless(
    isHopeless: (deadline: number) => boolean,
    reason: RefusalReason,
    notBefore: () => number,
  ): void {
    const waiters = this.#waiters;
    this.#waiters = waiters.filter(({ deadline }) => !isHopeless(deadline));
    for (const waiter of waiters) if (isHopeless(waiter.deadline)) waiter.refuse(reason, notBefore());
  }

  #spreadByRefused(): number {
    return baseSpreadMs + spreadPerRefusedMs * Math.max(0, this.#refused - fewRefused);
  }
}
