/**
 * One app key's limiter in one instance. Requests wait in queues. The store is asked for one queue at a time, the most
 * urgent first, and is left alone for a while after a failure.
 */

import type { FallbackLimiter } from './fallback.ts';
import type { RemainingPermits, Validity } from './grant.ts';
import { allPriorities, type Priority } from './limits.ts';
import type { LimiterReport, Permit, PermitAnswer, PermitCall, RefusalReason } from './permit.ts';
import { blockedWith, isShare } from './schedule.ts';
import { RecentGrants } from './shares.ts';
import { type FailedTrip, failureOf, type StoreAccess, StoreClient } from './store-client.ts';
import { WaitQueue } from './wait-queue.ts';

interface PermitRequest extends Required<Pick<PermitCall, 'limits' | 'priority' | 'waitMs'>> {
  readonly user: string | undefined;
}

/** A request with the shares that it counts against, and the time of its arrival by this instance's own clock. */
type QueuedRequest = PermitRequest & { readonly askedAt: number };

interface ClientParts extends StoreAccess {
  /** The fallback without the store; absent where nothing is reserved. */
  readonly fallback: FallbackLimiter | undefined;
  readonly report: (report: LimiterReport) => void;
}

const minPauseMs = 100;
/**
 * The longest pauses after failures; each is shortened by up to a half at random. So 1,000 instances with
 * waiting requests make about 530 attempts a second at a store that throttles, and 270 at one that is unavailable.
 */
const maxPauseMs = { store_busy: 2500, store_unavailable: 5000 } as const;
/** Delay with which unused permits are returned together, or earlier with the next write. */
const returnAfterMs = 500;
/** Most permits that one instance asks for at once; further requests are in its next batch. */
const maxBatch = 32;

export class LimiterClient {
  readonly #parts: ClientParts;
  readonly #store: StoreClient;
  readonly #recentGrants: RecentGrants;
  readonly #queues = new Map<string, WaitQueue>();
  readonly #blockedUntil = new Map<string, number>();
  #storeNotBefore = 0;
  #storePauseMs = 0;
  /** Last failure of the store, which is left alone until `#storeNotBefore`; undefined after a success. */
  #storeFailure: FailedTrip['kind'] | undefined;
  #isPumping = false;
  /** When unused permits are returned, unless a request's write returns them earlier. */
  #returnAt = Number.POSITIVE_INFINITY;
  #wake: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.#store = new StoreClient(parts);
    this.#recentGrants = new RecentGrants(parts.windows);
  }

  acquire(request: PermitRequest): Promise<PermitAnswer> {
    const { clock } = this.#parts;
    const limits = this.#recentGrants.withShares(request.limits, request.user, clock.now());
    const queued = { ...request, limits, askedAt: this.#ownTime() };
    const queue = this.#queueOf(limits, request.priority);
    return new Promise((resolve) => {
      const isQueued = queue.add({
        // A request waits by this instance's own clock, although the store's may be ahead.
        get deadline() {
          return queued.askedAt + queued.waitMs + clock.ahead;
        },
        refuse: (reason, notBefore) => resolve(this.#refused(queued, queue, reason, notBefore)),
        grant: (validity, remaining) => {
          this.#recentGrants.note(limits, request.user, clock.now());
          this.#atTime(validity.validFrom, () =>
            resolve({ ok: true, permit: this.#granted(queued, validity, remaining) }),
          );
        },
      });
      if (isQueued) void this.#pump();
    });
  }

  /** Never rejects: a failure of the store is reported. */
  async block(limit: string, until: number): Promise<void> {
    const { report, windows } = this.#parts;
    // The same limits are blocked here as in the store, which may be away.
    const blocked = [...windows.keys()].filter((name) => name === limit || this.#isBlocked([name]));
    for (const name of blockedWith(limit, blocked, windows.get(limit)?.within))
      this.#blockedUntil.set(name, Math.max(this.#blockedUntil.get(name) ?? 0, until));
    report({ kind: 'blocked', limit, until });
    try {
      await this.#store.block(limit, until);
    } catch (cause) {
      report(failureOf(cause));
    }
  }

  /** Number of permits in the window of a limit; undefined when the store fails, which is reported. */
  async used(limit: string): Promise<number | undefined> {
    try {
      return await this.#store.used(limit);
    } catch (cause) {
      this.#parts.report(failureOf(cause));
      return undefined;
    }
  }

  #ownTime(): number {
    const { clock } = this.#parts;
    return clock.now() - clock.ahead;
  }

  #refused(
    { priority, limits: [limit], askedAt }: QueuedRequest,
    { usedUp }: WaitQueue,
    reason: RefusalReason,
    notBefore: number,
  ): PermitAnswer {
    const { clock, report } = this.#parts;
    const retryAfterMs = Math.max(1, notBefore - clock.now());
    const waitedMs = this.#ownTime() - askedAt;
    report({ kind: 'refused', priority, limit, reason, waitedMs, retryAfterMs });
    const isUsedUp = usedUp !== undefined && (reason === 'exhausted' || reason === 'blocked');
    return { ok: false, reason, retryAfterMs, ...(isUsedUp && { usedUp }) };
  }

  /** The permit ends once: its holder consumes it, or it expires, and the instance gives it back. */
  #granted(
    { priority, limits, askedAt }: QueuedRequest,
    validity: Validity,
    remaining: RemainingPermits,
  ): Permit {
    const { clock, report } = this.#parts;
    const { expiresAt } = validity;
    report({
      kind: 'granted',
      priority,
      limit: limits[0],
      waitedMs: this.#ownTime() - askedAt,
      ...remaining,
    });
    let hasEnded = false;
    const end = (isUsed: boolean): boolean => {
      if (hasEnded) return false;
      hasEnded = true;
      if (isUsed) return true;
      report({ kind: 'expired', priority });
      this.#giveBack(limits, [validity]);
      return false;
    };
    this.#atTime(expiresAt + 1, () => end(false));
    return { expiresAt, consume: () => end(clock.now() <= expiresAt && !this.#isBlocked(limits)) };
  }

  #isBlocked(limits: readonly string[]): boolean {
    const now = this.#parts.clock.now();
    return limits.some(
      (name) => Math.max(this.#blockedUntil.get(name) ?? 0, this.#store.blockedUntil(name)) > now,
    );
  }

  #queueOf(limits: PermitRequest['limits'], priority: Priority): WaitQueue {
    const { clock, random } = this.#parts;
    // Users come and go, so an empty queue of a share is removed once it delays no request.
    for (const [name, { length, notBefore }] of this.#queues)
      if (isShare(name) && length === 0 && notBefore < clock.now()) this.#queues.delete(name);
    const name = [priority, ...limits].join(' ');
    const queue = this.#queues.get(name) ?? new WaitQueue(limits, priority, random);
    this.#queues.set(name, queue);
    return queue;
  }

  /** Asks the store for one queue after the other; never runs twice at the same time. */
  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      for (let queue = this.#nextQueue(); queue; queue = this.#nextQueue()) await this.#askStore(queue);
      await this.#returnUnused();
    } finally {
      this.#isPumping = false;
      this.#sleep();
    }
  }

  #nextQueue(): WaitQueue | undefined {
    const now = this.#parts.clock.now();
    if (this.#storeNotBefore > now) {
      for (const queue of this.#queues.values()) this.#serveWithoutStore(queue, now);
      return undefined;
    }
    const ready = [...this.#queues.values()].filter((queue) => queue.length > 0 && queue.askAt <= now);
    return ready.sort((a, b) => allPriorities.indexOf(a.priority) - allPriorities.indexOf(b.priority))[0];
  }

  async #askStore(queue: WaitQueue): Promise<void> {
    const { clock, report } = this.#parts;
    const isOver = (deadline: number) => deadline < clock.now();
    queue.refuseHopeless(isOver, this.#storeFailure ?? queue.reason, () => clock.now());
    if (queue.length === 0) return;
    const answer = await this.#store.acquire({
      limits: queue.limits,
      priority: queue.priority,
      count: Math.min(queue.length, maxBatch),
      latestDeadline: () => queue.latestDeadline(),
    });
    // Returns the permits that expired before the answer came.
    this.#giveBack([], []);
    const now = clock.now();
    if ('cause' in answer) return this.#leaveStoreAlone(answer, now);
    if (this.#storeFailure) report({ kind: 'store_recovered' });
    this.#storeFailure = undefined;
    // A single answer between failures does not prove that the store has room, so the pause only shrinks.
    this.#storePauseMs /= 4;
    if (answer.kind === 'granted')
      this.#giveBack(queue.limits, queue.serve(answer.permits, answer.remaining, now));
    else queue.refuseUntil(answer, now);
  }

  #giveBack(limits: readonly string[], permits: readonly Validity[]): void {
    const { clock, random } = this.#parts;
    const now = clock.now();
    if (this.#store.giveBack(limits, permits))
      this.#returnAt = Math.min(this.#returnAt, now + returnAfterMs * (1 + random()));
    if (!this.#isPumping) this.#sleep();
  }

  /** Returns unused permits; not while the store fails, so that permits that wait too long stay counted. */
  async #returnUnused(): Promise<void> {
    if (Math.max(this.#returnAt, this.#storeNotBefore) > this.#parts.clock.now()) return;
    this.#returnAt = Number.POSITIVE_INFINITY;
    try {
      await this.#store.returnUnused();
    } catch (cause) {
      this.#leaveStoreAlone(failureOf(cause), this.#parts.clock.now());
    }
    this.#giveBack([], []);
  }

  #leaveStoreAlone(failure: FailedTrip, now: number): void {
    const { random, report } = this.#parts;
    this.#storeFailure = failure.kind;
    report(failure);
    this.#storePauseMs = Math.min(maxPauseMs[failure.kind], Math.max(minPauseMs, this.#storePauseMs * 2));
    this.#storeNotBefore = now + this.#storePauseMs * (0.5 + random() / 2);
  }

  /** While the store is left alone, requests use the reserve, or wait until the store is asked again. */
  #serveWithoutStore(queue: WaitQueue, now: number): void {
    const { fallback, permitLifeMs } = this.#parts;
    const limits = queue.limits.filter((name) => !isShare(name));
    // A store that throttles can still be reached, and the reserve is only for one that cannot.
    const reserve = this.#storeFailure === 'store_unavailable' ? fallback : undefined;
    const validity: Validity = { validFrom: now, expiresAt: now + permitLifeMs };
    if (reserve)
      queue.serveFromReserve(() => !this.#isBlocked(limits) && reserve.take(limits, now), validity);
    const reserveAt = reserve?.nextAt(limits, now) ?? Number.POSITIVE_INFINITY;
    queue.refuseWithoutStore(this.#storeNotBefore, reserveAt, this.#storeFailure ?? queue.reason, now);
  }

  /** Sets a timer for the next attempt of a queue, or for the return of unused permits. */
  #sleep(): void {
    const { clock, after } = this.#parts;
    const times = [...this.#queues.values()].flatMap((queue) =>
      queue.length > 0 ? [Math.max(queue.askAt, this.#storeNotBefore)] : [],
    );
    const at = Math.min(...times, Math.max(this.#returnAt, this.#storeNotBefore));
    if (this.#wake && this.#wake.at <= at) return;
    this.#wake?.cancel();
    this.#wake = undefined;
    if (at === Number.POSITIVE_INFINITY) return;
    const cancel = after(Math.max(1, Math.ceil(at - clock.now())), () => {
      this.#wake = undefined;
      void this.#pump();
    });
    this.#wake = { at, cancel };
  }

  /** Runs at `time`. A timer may be early by a fraction of a millisecond, which a permit must not be. */
  #atTime(time: number, run: () => void): void {
    const { clock, after } = this.#parts;
    const earlyMs = time - clock.now();
    if (earlyMs <= 0) run();
    else after(Math.max(1, Math.ceil(earlyMs)), () => this.#atTime(time, run));
  }
}
