/** One instance's round trips to one app key's item in the store: they take permits, and block limits. */

import type { After } from '../kernel/pauses.ts';
import {
  type Exhausted,
  exhaustionOf,
  type Grant,
  type GrantRequest,
  grantOf,
  permitsOf,
  type RemainingPermits,
  remainingOf,
  type Validity,
} from './grant.ts';
import type { Windows } from './limits.ts';
import {
  blockedWith,
  countAfter,
  exhaustedSchedule,
  type PermitCounters,
  readSchedule,
  renewedSchedule,
  returnableAfter,
  returnedCounter,
  type Schedule,
  type ScheduleView,
  scheduleText,
  withBlocked,
  zeroCounters,
} from './schedule.ts';
import {
  type Addition,
  isSameItem,
  type LimiterItem,
  type LimiterStore,
  type StoreClock,
  type WriteAnswer,
} from './store.ts';
import { StoreThrottled } from './store-throttled.ts';

/** Failure of the store; `store_busy`: it throttles requests, or the instance lost every race for the item. */
export interface FailedTrip {
  readonly kind: 'store_busy' | 'store_unavailable';
  readonly cause: unknown;
}

interface Granted {
  readonly kind: 'granted';
  readonly permits: readonly Validity[];
  readonly remaining: RemainingPermits;
}

/** The item as this instance has written it: another operation of the instance may read a later one at once. */
interface WrittenItem {
  readonly schedule: Schedule | undefined;
  readonly counters: PermitCounters;
}

/** The parts that the round trips of one app key share. */
export interface StoreAccess {
  readonly store: LimiterStore;
  readonly key: string;
  readonly windows: Windows;
  readonly permitLifeMs: number;
  readonly clock: StoreClock;
  readonly after: After;
  readonly random: () => number;
}

/** Time limit of one operation of the store. */
const timeoutMs = 500;
/** Most races that one request may lose; each lost race returns the current item, so few are needed. */
const maxTries = 6;
/** Time over which waiting instances spread their attempts after an early renewal is due, in milliseconds. */
const renewalSpreadMs = 500;
/** Age up to which a write may build on a read item, because the store checks its conditions. */
const freshMs = 500;
/** Extra life of an item, which is useless after its windows; an hour more costs nothing. */
const keepMs = 3_600_000;
/** Largest lead of a clock that is followed: one more than a day ahead is broken. */
const maxAheadMs = 86_400_000;

export class StoreClient {
  readonly #access: StoreAccess;
  #item: LimiterItem | undefined;
  #schedule: Schedule | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Time at which the item was last known to be current; `#readAt` is earlier where it must be read again. */
  #seenAt = Number.NEGATIVE_INFINITY;
  /** Whether no other instance wrote between this one's last two operations, so that a write needs no read before it. */
  #isOnlyWriter = false;
  /** Whether the store throttled the last operation: then a write builds on an item of any age, which the store checks. */
  #wasThrottled = false;
  /** Whether the last operation was a read, so that the next one shows nothing about other instances. */
  #hasJustRead = false;
  #unused: { readonly limits: readonly string[]; readonly countedFrom: number }[] = [];

  constructor(access: StoreAccess) {
    this.#access = access;
  }

  /** Never rejects. */
  async acquire(request: GrantRequest): Promise<Granted | Exhausted | FailedTrip> {
    try {
      return await this.#acquire(request);
    } catch (cause) {
      this.#wasThrottled = cause instanceof StoreThrottled;
      return failureOf(cause);
    }
  }

  /**
   * Remembers permits that expired unused, except those of a reserve, which the item does not count.
   *
   * @returns whether some permits have not been returned yet
   */
  giveBack(limits: readonly string[], permits: readonly Validity[]): boolean {
    for (const { countedFrom } of permits)
      if (countedFrom !== undefined) this.#unused.push({ limits, countedFrom });
    // The item was read before these permits' lives began, so it must be read again.
    if (permits.length > 0) this.#readAt = Number.NEGATIVE_INFINITY;
    return this.#unused.length > 0;
  }

  /** Returns unused permits to the store for others. Rejects when the store fails: then they stay counted. */
  async returnUnused(): Promise<void> {
    if (this.#mustRead(this.#access.clock.now())) await this.#read();
    if (this.#returningAdditions().length === 0) this.#unused = [];
    else await this.#add([], this.#access.clock.now());
  }

  /** End of a limit's block, according to the last read of the item. */
  blockedUntil(limit: string): number {
    return this.#schedule?.limits[limit]?.blockedUntil ?? 0;
  }

  /**
   * Makes all instances grant no permit of the limit before `until`. If another limit is blocked, too, the limit around
   * them is blocked as well, because it may be the exhausted one. Rejects when the store fails.
   */
  async block(limit: string, until: number): Promise<void> {
    const { clock, permitLifeMs, windows } = this.#access;
    for (let tries = 0; tries < maxTries; tries++) {
      await this.#read();
      const now = clock.now();
      // If many instances were refused at once, only one writes.
      if (this.blockedUntil(limit) >= until - permitLifeMs) return;
      let next = withBlocked(this.#renewed(now, [limit]), limit, until);
      const blocked = Object.keys(next.limits).filter((name) => next.limits[name]!.blockedUntil > now);
      for (const name of blockedWith(limit, blocked, windows.get(limit)?.within))
        next = withBlocked(next, name, until);
      if (await this.#replace(next, {}, now)) return;
    }
  }

  /** Number of permits in the window of a limit now. Rejects when the store fails. */
  async used(limit: string): Promise<number> {
    await this.#read();
    const now = this.#access.clock.now();
    const { log = [], windowMs = 0 } = this.#renewed(now, [limit]).limits[limit] ?? {};
    return countAfter(log, now - windowMs);
  }

  async #acquire(request: GrantRequest): Promise<Granted | Exhausted | FailedTrip> {
    const { clock } = this.#access;
    for (let tries = 0; tries < maxTries; tries++) {
      let now = clock.now();
      let grant = this.#schedule && grantOf(this.#view(this.#schedule, this.#counters, now), request);
      const next = grant ? undefined : this.#renewed(now, request.limits);
      if (next) grant = grantOf(this.#view(next, {}, now), request);
      const from = next && grant ? this.#renewableAt(request) : now;
      const refusal =
        next && (!grant || from > now)
          ? exhaustionOf(this.#view(next, {}, now), request, from, this.#seenAt)
          : undefined;
      // A refusal needs no second read, as an item only gets fuller once no more permits can come back; a grant does.
      const isStale =
        refusal && this.#item ? now - this.#seenAt > freshMs && refusal.mayReturn : this.#mustRead(now);
      if (tries === 0 && isStale) {
        await this.#read();
        continue;
      }
      if (refusal && (this.#item || tries > 0)) {
        // All instances expect the next permit at the same moment, and only one gets it, so each reads again first.
        this.#readAt = Number.NEGATIVE_INFINITY;
        return { ...refusal, mayReturn: refusal.mayReturn && refusal.reason !== 'blocked' };
      }
      if (!grant) continue;
      now = clock.now();
      const written = next
        ? await this.#replace(next, sums(grant), now)
        : await this.#add(grant.additions, now);
      if (written) return this.#granted(written, grant, request, now);
    }
    return { kind: 'store_busy', cause: new Error('The limiter lost every race for its item in the store.') };
  }

  get #counters(): PermitCounters {
    return this.#item?.counters ?? {};
  }

  #view(schedule: Schedule, counters: PermitCounters, now: number): ScheduleView {
    const { windows, permitLifeMs } = this.#access;
    return { schedule, counters, windows, permitLifeMs, now };
  }

  #mustRead(now: number): boolean {
    return !this.#isOnlyWriter && now - this.#readAt > freshMs && !(this.#wasThrottled && this.#item);
  }

  /** Time of a renewal that shares out the permits returned within a second; otherwise instances would race for each. */
  #renewableAt({ limits, latestDeadline }: GrantRequest): number {
    const { immediateUntil = 0, limits: known = {} } = this.#schedule ?? {};
    const hasReturns = limits.some((name) => (this.#counters[returnedCounter(name)] ?? 0) > 0);
    const isShared = (hasReturns || this.#unused.length > 0) && limits.every((name) => known[name]);
    const at = isShared ? immediateUntil + this.#access.random() * renewalSpreadMs : 0;
    return at > latestDeadline() ? 0 : at;
  }

  /** The renewed schedule without this instance's unused permits; the write that follows forgets them. */
  #renewed(now: number, wanted: readonly string[]): Schedule {
    const counters = { ...this.#counters };
    for (const { counter, by } of this.#returningAdditions())
      counters[counter] = (counters[counter] ?? 0) + by;
    return renewedSchedule(this.#schedule, counters, now, this.#access.windows, wanted);
  }

  /** Additions that return unused permits, as far as this schedule accepts them. Items of earlier versions lack the counter. */
  #returningAdditions(): readonly Addition[] {
    const schedule = this.#schedule;
    return Object.entries(schedule?.limits ?? {}).flatMap(([name, limit]) => {
      // One millisecond more allows for the rounding of times in the log.
      const after = returnableAfter(schedule!, limit) + 1;
      const by = this.#unused.filter((one) => one.limits.includes(name) && one.countedFrom > after).length;
      const counter = returnedCounter(name);
      const isKept = by > 0 && counter in this.#counters;
      return isKept ? [{ counter, by, min: 0, max: Number.MAX_SAFE_INTEGER }] : [];
    });
  }

  async #read(): Promise<void> {
    const before = this.#item;
    this.#accept(await this.#bounded(this.#access.store.read(this.#access.key)));
    this.#isOnlyWriter = before !== undefined && isSameItem(this.#item, before);
    this.#hasJustRead = true;
  }

  #replace(next: Schedule, counters: PermitCounters, now: number): Promise<WrittenItem | undefined> {
    const { store, key, random, windows } = this.#access;
    const item: LimiterItem = {
      revision: `${now.toString(36)}-${random().toString(36).slice(2, 12)}`,
      counters: { ...zeroCounters(next, windows), ...counters },
      text: scheduleText(next),
      writtenAt: now,
    };
    return this.#write(store.replace(key, this.#item, item, expiryOf(next, now)), {});
  }

  /** Takes permits, and returns unused ones in the same write. */
  #add(taken: readonly Addition[], now: number): Promise<WrittenItem | undefined> {
    const { store, key } = this.#access;
    const additions = [...taken, ...this.#returningAdditions()];
    const expected = additions.map(
      ({ counter, by }) => [counter, (this.#counters[counter] ?? 0) + by] as const,
    );
    return this.#write(
      store.add(key, this.#item?.revision ?? '', additions, now),
      Object.fromEntries(expected),
    );
  }

  /**
   * @param expected the counters after the write if no other instance has written since
   * @returns undefined when another instance was first
   */
  async #write(operation: Promise<WriteAnswer>, expected: PermitCounters): Promise<WrittenItem | undefined> {
    const unused = this.#unused;
    // Unused permits are forgotten before the answer, which may be lost: a permit returned twice would free another's.
    this.#unused = [];
    const answer = await this.#bounded(operation).catch((cause: unknown) => {
      if (cause instanceof StoreThrottled) this.#unused.push(...unused);
      throw cause;
    });
    if (!answer.written) this.#unused.push(...unused);
    this.#accept(answer.item);
    const isAsExpected = Object.entries(expected).every(
      ([counter, value]) => this.#counters[counter] === value,
    );
    this.#isOnlyWriter = answer.written && (this.#isOnlyWriter || !this.#hasJustRead) && isAsExpected;
    this.#hasJustRead = false;
    return answer.written ? { schedule: this.#schedule, counters: this.#counters } : undefined;
  }

  #bounded<T>(operation: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#access.after(timeoutMs, () =>
        reject(new Error(`The limiter’s store gave no answer within ${timeoutMs} ms.`)),
      );
      operation.then(resolve, reject).finally(cancel);
    });
  }

  /** Accepts the item that the store returned as the current one. */
  #accept(item: LimiterItem | undefined): void {
    const { clock } = this.#access;
    this.#wasThrottled = false;
    if (item && !isValid(item, clock.now())) throw new Error('The limiter’s store returned an invalid item.');
    // With an unreadable text, another version may still grant permits, which the counters show.
    const isUnread = this.#schedule?.unreadAt === this.#schedule?.startedAt;
    const isNew = isUnread ? !isSameItem(this.#item, item) : item?.revision !== this.#item?.revision;
    if (item && isNew) this.#schedule = readSchedule(item.text);
    if (!item) this.#schedule = undefined;
    this.#item = item;
    if (item) clock.follow(item.writtenAt);
    this.#seenAt = this.#readAt = clock.now();
    if (item && !this.#schedule) this.#schedule = exhaustedSchedule(this.#readAt);
  }

  /** The permits that a write took, without those that have already expired. */
  #granted(
    { schedule, counters }: WrittenItem,
    grant: Grant,
    request: GrantRequest,
    now: number,
  ): Granted | FailedTrip {
    const { limits } = request;
    if (!schedule?.limits[limits[0]])
      return failureOf(new Error('The limiter’s store returned an item without the limit.'));
    const view = this.#view(schedule, counters, now);
    const granted = permitsOf(view, grant, request);
    const permits = granted.filter(({ expiresAt }) => expiresAt >= this.#access.clock.now());
    // The earliest permits expire first, so they are the ones to give back.
    this.giveBack(limits, granted.slice(0, granted.length - permits.length));
    if (permits.length === 0)
      return failureOf(new Error('The limiter’s store answered after the permits had expired.'));
    return { kind: 'granted', permits, remaining: remainingOf(view, limits) };
  }
}

export const failureOf = (cause: unknown): FailedTrip => ({
  kind: cause instanceof StoreThrottled ? 'store_busy' : 'store_unavailable',
  cause,
});

const sums = ({ additions }: Grant): PermitCounters =>
  Object.fromEntries(additions.map(({ counter, by }) => [counter, by] as const));

/** When the store may drop the item. */
const expiryOf = ({ limits }: Schedule, now: number): number =>
  keepMs +
  Math.max(
    now,
    ...Object.values(limits).map(({ blockedUntil, windowMs }) => Math.max(blockedUntil, now + windowMs)),
  );

/** Checks an item before use, because a store may break the promise of its types. */
const isValid = ({ revision, counters, text, writtenAt }: LimiterItem, now: number): boolean =>
  typeof revision === 'string' &&
  typeof text === 'string' &&
  writtenAt >= 0 &&
  writtenAt <= now + maxAheadMs &&
  Object.values(counters ?? {}).every((value) => Number.isSafeInteger(value) && value >= 0);
