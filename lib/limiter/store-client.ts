/** One instance's round trips to one app key's item in the store: they take permits, and block limits. */

import type { After } from '../kernel/pauses.ts';
import { type Grant, type GrantRequest, grantOf, whenToAsk } from './grant.ts';
import type { LimitWindow } from './options.ts';
import type { Remaining, Validity } from './permit.ts';
import {
  blockedWith,
  type Counters,
  countAfter,
  exhaustedSchedule,
  isShare,
  renewedSchedule,
  returnableAfter,
  returnedCounter,
  type Schedule,
  takenCounter,
  timeOf,
  withBlocked,
  zeroCounters,
} from './schedule.ts';
import { readSchedule, scheduleText } from './schedule-text.ts';
import { roomOf } from './shares.ts';
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
export type StoreFailure =
  | { readonly kind: 'store_busy'; readonly cause: unknown }
  | { readonly kind: 'store_unavailable'; readonly cause: unknown };

type GrantAnswer =
  /** `remaining`: how many permits are left in the window. */
  | {
      readonly kind: 'granted';
      readonly permits: readonly Validity[];
      readonly remaining: number;
      readonly narrowest?: Remaining;
    }
  | Exhausted
  | StoreFailure;

interface Exhausted {
  readonly kind: 'exhausted';
  /** Time before which another attempt is useless. */
  readonly notBefore: number;
  /** Earliest time of a permit. */
  readonly earliest: number;
  readonly isBlocked: boolean;
  /** Whether permits were granted so recently that some may come back unused. */
  readonly mayReturn: boolean;
  /** The first of the limits that grants nothing. */
  readonly usedUp: string;
}

/** The item as this instance has written it. */
interface WrittenItem {
  readonly schedule: Schedule | undefined;
  readonly counters: Counters;
}

export interface StoreClientOptions {
  readonly store: LimiterStore;
  readonly key: string;
  readonly windows: ReadonlyMap<string, LimitWindow>;
  readonly permitLifeMs: number;
  readonly clock: StoreClock;
  readonly after: After;
  /** Time limit of one store operation. */
  readonly timeoutMs: number;
  readonly random: () => number;
}

/** Most races that one request may lose; each lost race returns the current item, so few are needed. */
const maxTries = 6;
/** Time over which waiting instances spread their attempts after an early renewal is due, in milliseconds. */
const renewalSpreadMs = 500;
/** Age up to which a write may build on a read item, because the store checks its conditions. */
const freshMs = 500;
/** Extra life of an item, which is useless after its windows; an hour more costs nothing. */
const keepMs = 3_600_000;
/** Longest time from a permit's grant to its return, in milliseconds. */
const mayReturnMs = 2500;
/** Largest lead of a clock that is followed: one more than a day ahead is broken. */
const maxAheadMs = 86_400_000;

export class StoreClient {
  readonly #options: StoreClientOptions;
  #item: LimiterItem | undefined;
  #schedule: Schedule | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Time at which the item was last known to be current; `#readAt` is earlier where it must be read again. */
  #seenAt = Number.NEGATIVE_INFINITY;
  /** Whether no other instance wrote between this one's last two operations, so that a write needs no read before it. */
  #isAlone = false;
  /** Whether the store throttled the last operation: then a write builds on an item of any age, which the store checks. */
  #wasThrottled = false;
  /** Whether the last operation was a read, so that the next one shows nothing about other instances. */
  #hasJustRead = false;
  #unused: { readonly limits: readonly string[]; readonly countedFrom: number }[] = [];

  constructor(options: StoreClientOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async acquire(request: GrantRequest): Promise<GrantAnswer> {
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
    if (this.#mustRead(this.#options.clock.now())) await this.#read();
    if (this.#returns().length === 0) this.#unused = [];
    else await this.#add([], this.#options.clock.now());
  }

  /** Additions that return unused permits, as far as this schedule accepts them. Items of earlier versions lack the counter. */
  #returns(): readonly Addition[] {
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

  /** End of a limit's block, according to the last read of the item. */
  blockedUntil(limit: string): number {
    return this.#schedule?.limits[limit]?.blockedUntil ?? 0;
  }

  /**
   * Makes all instances grant no permit of the limit before `until`. If another limit is blocked, too, the limit around
   * them is blocked as well, because it may be the exhausted one. Rejects when the store fails.
   */
  async block(limit: string, until: number): Promise<void> {
    const { clock, permitLifeMs, windows } = this.#options;
    for (let tries = 0; tries < maxTries; tries++) {
      await this.#read();
      const now = clock.now();
      // If many instances were refused at once, only one writes.
      if ((this.#schedule?.limits[limit]?.blockedUntil ?? 0) >= until - permitLifeMs) return;
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
    const now = this.#options.clock.now();
    const { log = [], windowMs = 0 } = this.#renewed(now, [limit]).limits[limit] ?? {};
    return countAfter(log, now - windowMs);
  }

  async #acquire(request: GrantRequest): Promise<GrantAnswer> {
    const { clock, windows, permitLifeMs } = this.#options;
    for (let tries = 0; tries < maxTries; tries++) {
      let now = clock.now();
      let grant =
        this.#schedule && grantOf(this.#schedule, this.#counters, request, now, windows, permitLifeMs);
      const next = grant ? undefined : this.#renewed(now, request.limits);
      if (next) grant = grantOf(next, {}, request, now, windows, permitLifeMs);
      const from = next && grant ? this.#renewableAt(request) : now;
      const refusal = next && (!grant || from > now) ? this.#exhausted(next, request, now, from) : undefined;
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
        return { ...refusal, mayReturn: refusal.mayReturn && !refusal.isBlocked };
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

  get #counters(): Counters {
    return this.#item?.counters ?? {};
  }

  #mustRead(now: number): boolean {
    return !this.#isAlone && now - this.#readAt > freshMs && !(this.#wasThrottled && this.#item);
  }

  /** Time of a renewal that shares out the permits returned within a second; otherwise instances would race for each. */
  #renewableAt({ limits, latestDeadline }: GrantRequest): number {
    const { immediateUntil = 0, limits: known = {} } = this.#schedule ?? {};
    const hasReturns = limits.some((name) => (this.#counters[returnedCounter(name)] ?? 0) > 0);
    const isShared = (hasReturns || this.#unused.length > 0) && limits.every((name) => known[name]);
    const at = isShared ? immediateUntil + this.#options.random() * renewalSpreadMs : 0;
    return at > latestDeadline() ? 0 : at;
  }

  /** The renewed schedule without this instance's unused permits; the write that follows forgets them. */
  #renewed(now: number, wanted: readonly string[]): Schedule {
    const counters = { ...this.#counters };
    for (const { counter, by } of this.#returns()) counters[counter] = (counters[counter] ?? 0) + by;
    return renewedSchedule(this.#schedule, counters, now, this.#options.windows, wanted);
  }

  async #read(): Promise<void> {
    const before = this.#item;
    this.#accept(await this.#bounded(this.#options.store.read(this.#options.key)));
    this.#isAlone = before !== undefined && isSameItem(this.#item, before);
    this.#hasJustRead = true;
  }

  #replace(next: Schedule, counters: Counters, now: number): Promise<WrittenItem | undefined> {
    const { store, key, random, windows } = this.#options;
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
    const { store, key } = this.#options;
    const additions = [...taken, ...this.#returns()];
    const alone = additions.map(({ counter, by }) => [counter, (this.#counters[counter] ?? 0) + by] as const);
    return this.#write(store.add(key, this.#item?.revision ?? '', additions, now), Object.fromEntries(alone));
  }

  /**
   * @param alone the counters after the write if no other instance has written since
   * @returns undefined when another instance was first
   */
  async #write(operation: Promise<WriteAnswer>, alone: Counters): Promise<WrittenItem | undefined> {
    const unused = this.#unused;
    // Unused permits are forgotten before the answer, which may be lost: a permit returned twice would free another's.
    this.#unused = [];
    const answer = await this.#bounded(operation).catch((cause: unknown) => {
      if (cause instanceof StoreThrottled) this.#unused.push(...unused);
      throw cause;
    });
    if (!answer.written) this.#unused.push(...unused);
    this.#accept(answer.item);
    const isOnlyOwn = Object.entries(alone).every(([counter, value]) => this.#counters[counter] === value);
    this.#isAlone = answer.written && (this.#isAlone || !this.#hasJustRead) && isOnlyOwn;
    this.#hasJustRead = false;
    return answer.written ? { schedule: this.#schedule, counters: this.#counters } : undefined;
  }

  #bounded<T>(operation: Promise<T>): Promise<T> {
    const { after, timeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const cancel = after(timeoutMs, () =>
        reject(new Error(`The limiter’s store gave no answer within ${timeoutMs} ms.`)),
      );
      operation.then(resolve, reject).finally(cancel);
    });
  }

  /** Accepts the item that the store returned as the current one. */
  #accept(item: LimiterItem | undefined): void {
    const { clock } = this.#options;
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

  /** The permits that were taken, without those that have already expired. */
  #granted(
    { schedule, counters }: WrittenItem,
    { mode, count }: Grant,
    { limits }: GrantRequest,
    askedAt: number,
  ): GrantAnswer {
    const { clock, permitLifeMs, windows } = this.#options;
    const [outer, ...narrower] = limits;
    const limit = schedule?.limits[outer];
    if (!limit) return unavailable('The limiter’s store returned an item without the limit.');
    const taken = counters[takenCounter(outer)] ?? 0;
    // The log has a reserved permit at its exact time, and a permit for now not before the schedule, whatever the clocks.
    const isReserved = mode === 'reserved' && narrower.length === 0;
    const countedFrom = isReserved ? Number.POSITIVE_INFINITY : schedule.startedAt;
    const granted = Array.from({ length: count }, (_, index): Validity => {
      const times = { from: limit.due, step: limit.step };
      const validFrom = mode === 'now' ? askedAt : timeOf(times, taken - count + index);
      const expiresAt = validFrom + permitLifeMs;
      return { validFrom, expiresAt, countedFrom: Math.min(countedFrom, validFrom) };
    });
    const permits = granted.filter(({ expiresAt }) => expiresAt >= clock.now());
    // The earliest permits expire first, so they are the ones to give back.
    this.giveBack(limits, granted.slice(0, count - permits.length));
    if (permits.length === 0)
      return unavailable('The limiter’s store answered after the permits had expired.');
    const remainingOf = (name: string): Remaining => {
      const capacity = windows.get(name)?.capacity ?? 0;
      const { log = [], windowMs = 0 } = schedule.limits[name] ?? {};
      const inWindow = countAfter(log, askedAt - windowMs) + (counters[takenCounter(name)] ?? 0);
      return { limit: name, capacity, remaining: Math.max(0, capacity - inWindow) };
    };
    const wide = remainingOf(outer);
    const [narrowest] = narrower
      .filter((name) => !isShare(name))
      .map(remainingOf)
      .filter((one) => partOf(one) < partOf(wide))
      .sort((a, b) => partOf(a) - partOf(b));
    return { kind: 'granted', permits, remaining: wide.remaining, ...(narrowest && { narrowest }) };
  }

  #exhausted(next: Schedule, request: GrantRequest, now: number, from: number): Exhausted {
    const isBlocked = request.limits.some((name) => (next.limits[name]?.blockedUntil ?? 0) > now);
    const usedUp = this.#usedUpOf(next, request, now);
    const { notBefore, earliest } = whenToAsk(next, request, now, this.#options.windows);
    // Some permits of the last read may come back long before the next one is due, but that never makes room in a share.
    const mayReturn =
      notBefore > now + mayReturnMs &&
      !isShare(usedUp) &&
      countAfter(next.limits[usedUp]?.log ?? [], this.#seenAt - mayReturnMs) > 0;
    return {
      kind: 'exhausted',
      isBlocked,
      usedUp,
      mayReturn,
      notBefore: Math.max(from, notBefore),
      earliest: Math.max(from, earliest),
    };
  }

  /** The exhausted limit: the widest if it alone grants nothing, or else the first that grants nothing beside it. */
  #usedUpOf(next: Schedule, request: GrantRequest, now: number): string {
    const { windows, permitLifeMs } = this.#options;
    const [outer, ...narrower] = request.limits;
    const hasUsedUp = (share: string) =>
      next.limits[share]?.log.length && (roomOf(next, {}, share, windows, now)?.room ?? 1) < 1;
    // An exhausted share is reported before the shared limit, but only to a user who has used some of it.
    const share = narrower.find((name) => isShare(name) && hasUsedUp(name));
    if (share !== undefined) return share;
    const grants = (...inner: readonly string[]) =>
      grantOf(next, {}, { ...request, limits: [outer, ...inner] }, now, windows, permitLifeMs);
    return (grants() && narrower.find((name) => !isShare(name) && !grants(name))) ?? outer;
  }
}

export const failureOf = (cause: unknown): StoreFailure => ({
  kind: cause instanceof StoreThrottled ? 'store_busy' : 'store_unavailable',
  cause,
});

const partOf = ({ remaining, capacity }: Remaining): number => remaining / Math.max(1, capacity);

const unavailable = (message: string): StoreFailure => ({
  kind: 'store_unavailable',
  cause: new Error(message),
});

const sums = ({ additions }: Grant): Counters =>
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
