/** One instance's round trips to one app key's item in the store: takes permits from it, and blocks limits. */

import type { After } from '../kernel/pauses.ts';
import type { StoreClock } from './clock.ts';
import { type Grant, type GrantRequest, grantOf, whenToAsk } from './grant.ts';
import type { LimitWindow } from './options.ts';
import type { Remaining, Validity } from './permit.ts';
import {
  type Counters,
  countAfter,
  exhaustedSchedule,
  isShare,
  renewedSchedule,
  returnableAfter,
  returnedCounter,
  returnedIn,
  type Schedule,
  takenCounter,
  timeOf,
  withBlocked,
  zeroCounters,
} from './schedule.ts';
import { readSchedule, scheduleText } from './schedule-text.ts';
import { roomOf } from './shares.ts';
import { type Addition, isSameItem, type LimiterItem, type LimiterStore } from './store.ts';
import { StoreThrottled } from './store-throttled.ts';

/** `store_busy`: the store throttles requests, or every race for the item was lost. */
export type StoreFailure =
  | { readonly kind: 'store_busy'; readonly cause: unknown }
  | { readonly kind: 'store_unavailable'; readonly cause: unknown };

export type GrantAnswer =
  /** `remaining`: how many permits the window still holds. */
  | {
      readonly kind: 'granted';
      readonly permits: readonly Validity[];
      readonly remaining: number;
      readonly narrowest?: Remaining;
    }
  | {
      readonly kind: 'exhausted';
      /** An attempt before is of no use. */
      readonly notBefore: number;
      /** No permit is for an earlier time. */
      readonly earliest: number;
      readonly isBlocked: boolean;
      /** Permits were granted so lately that some may come back unused. */
      readonly mayReturn: boolean;
      /** The first of the limits that grants nothing. */
      readonly usedUp: string;
    }
  | StoreFailure;

export interface StoreClientOptions {
  readonly store: LimiterStore;
  readonly key: string;
  readonly windows: ReadonlyMap<string, LimitWindow>;
  readonly permitLifeMs: number;
  readonly clock: StoreClock;
  readonly after: After;
  /** For one store operation. */
  readonly timeoutMs: number;
  readonly random: () => number;
}

/** Races that one request may lose; each shows the item as it is now, so that few are needed. */
const maxTries = 6;
/** After a race for permits that come back one by one, in milliseconds. */
const lostRaceMs = 500;
/** A write may build on an item that was read so lately: the store checks its conditions. */
const freshMs = 500;
/** An item is of no use when its windows are over; an hour more costs nothing. */
const keepMs = 3_600_000;
/** A permit comes back, if at all, so soon after it was granted, in milliseconds; most come sooner. */
const mayReturnMs = 2500;
/** A clock further ahead than a day is broken, and following it would break this one. */
const maxAheadMs = 86_400_000;

export class StoreClient {
  readonly #options: StoreClientOptions;
  #item: LimiterItem | undefined;
  #schedule: Schedule | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** No other instance wrote between this one's last two operations, so that a read before a write is in vain. */
  #isAlone = false;
  /** The store throttled the last operation: a write may build on an item of any age, which the store checks. */
  #wasThrottled = false;
  /** The last operation was a read, so that the next says nothing about other instances. */
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
   * Takes note of permits that nobody can consume any more; one of a reserve is in no item.
   *
   * @returns whether there are any that have not come back yet
   */
  giveBack(limits: readonly string[], permits: readonly Validity[]): boolean {
    for (const { countedFrom } of permits)
      if (countedFrom !== undefined) this.#unused.push({ limits, countedFrom });
    return this.#unused.length > 0;
  }

  /** Makes room for others in the place of those permits. Rejects when the store fails: then they stay counted. */
  async returnUnused(): Promise<void> {
    await this.#add([], this.#options.clock.now());
  }

  #returns(): readonly Addition[] {
    const schedule = this.#schedule;
    return Object.entries(schedule?.limits ?? {}).flatMap(([name, limit]) => {
      const after = returnableAfter(schedule!, limit) + 1;
      const by = this.#unused.filter((one) => one.limits.includes(name) && one.countedFrom > after).length;
      const counter = returnedCounter(name);
      // An item that an earlier version wrote has no such counter.
      const isKept = by > 0 && this.#counters[counter] !== undefined;
      return isKept ? [{ counter, by, min: 0, max: Number.MAX_SAFE_INTEGER }] : [];
    });
  }

  /** Until when a limit is blocked, as the item said when it was read last. */
  blockedUntil(limit: string): number {
    return this.#schedule?.limits[limit]?.blockedUntil ?? 0;
  }

  /**
   * Makes all instances grant nothing of the limit before `until`, nor of the one around it if another limit is blocked: then
   * it may be that one which is used up. Rejects when the store fails.
   */
  async block(limit: string, until: number): Promise<void> {
    const { clock, permitLifeMs, windows } = this.#options;
    const around = windows.get(limit)?.within ?? limit;
    for (let tries = 0; tries < maxTries; tries++) {
      await this.#read();
      const now = clock.now();
      // Of many instances that were refused at once, one writes.
      if ((this.#schedule?.limits[limit]?.blockedUntil ?? 0) >= until - permitLifeMs) return;
      const renewed = withBlocked(this.#renewed(now, [limit]), limit, until);
      const blocked = Object.values(renewed.limits).filter(({ blockedUntil }) => blockedUntil > now);
      const next = blocked.length > 1 ? withBlocked(renewed, around, until) : renewed;
      if (await this.#replace(next, {}, now)) return;
    }
  }

  /** How many permits of a limit its window holds now. Rejects when the store fails. */
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
      // An item that was read once only gets fuller: a refusal needs no second read, but a grant does.
      if (!grant && next && (this.#item || tries > 0)) {
        if (this.#unused.length === 0 || tries === maxTries - 1) return this.#exhausted(next, request, now);
        await this.returnUnused();
        continue;
      }
      if (tries === 0 && this.#mustRead(now)) {
        await this.#read();
        continue;
      }
      if (!grant) continue;
      now = clock.now();
      const isTaken = next
        ? await this.#replace(next, sums(grant), now)
        : await this.#add(grant.additions, now);
      if (isTaken) return this.#granted(grant, request, now);
      // While dozens of permits come back, all who wait race for each: the loser does better to come later.
      const [outer] = request.limits;
      if (tries > 0 && (this.#counters[returnedCounter(outer)] ?? 0) > (windows.get(outer)?.burst ?? 0))
        return this.#exhausted(this.#renewed(now, request.limits), request, now, now + lostRaceMs);
    }
    return { kind: 'store_busy', cause: new Error('The limiter lost every race for its item in the store.') };
  }

  get #counters(): Counters {
    return this.#item?.counters ?? {};
  }

  #mustRead(now: number): boolean {
    return !this.#isAlone && now - this.#readAt > freshMs && !(this.#wasThrottled && this.#item);
  }

  #renewed(now: number, wanted: readonly string[]): Schedule {
    return renewedSchedule(this.#schedule, this.#counters, now, this.#options.windows, wanted);
  }

  async #read(): Promise<void> {
    const before = this.#item;
    this.#accept(await this.#bounded(this.#options.store.read(this.#options.key)));
    this.#isAlone = before !== undefined && isSameItem(this.#item, before);
    this.#hasJustRead = true;
  }

  async #replace(next: Schedule, counters: Counters, now: number): Promise<boolean> {
    const { store, key, random, windows } = this.#options;
    const item: LimiterItem = {
      revision: `${now.toString(36)}-${random().toString(36).slice(2, 12)}`,
      counters: { ...zeroCounters(next, windows), ...counters },
      text: scheduleText(next),
      writtenAt: now,
    };
    const answer = await this.#bounded(store.replace(key, this.#item, item, expiryOf(next, now)));
    this.#accept(answer.item);
    this.#isAlone = answer.written && (this.#isAlone || !this.#hasJustRead);
    this.#hasJustRead = false;
    return answer.written;
  }

  /** Unused permits come back in the same write. */
  async #add(taken: readonly Addition[], now: number): Promise<boolean> {
    const { store, key } = this.#options;
    const { revision = '', counters = {} } = this.#item ?? {};
    const additions = [...taken, ...this.#returns()];
    const unused = this.#unused;
    // Forgotten before the write, whose answer may be lost: what came back twice would be another's.
    this.#unused = [];
    if (additions.length === 0) return true;
    const answer = await this.#bounded(store.add(key, revision, additions, now)).catch((cause: unknown) => {
      if (cause instanceof StoreThrottled) this.#unused.push(...unused);
      throw cause;
    });
    if (!answer.written) this.#unused.push(...unused);
    this.#accept(answer.item);
    const isOwn = ({ counter, by }: Addition) =>
      answer.item?.counters[counter] === (counters[counter] ?? 0) + by;
    this.#isAlone = answer.written && (this.#isAlone || !this.#hasJustRead) && additions.every(isOwn);
    this.#hasJustRead = false;
    return answer.written;
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

  /** Takes what the store returned for the item as it is now. */
  #accept(item: LimiterItem | undefined): void {
    const { clock } = this.#options;
    this.#wasThrottled = false;
    if (item && !isValid(item, clock.now())) throw new Error('The limiter’s store returned an invalid item.');
    // Under a text that cannot be read another version may go on granting, which its counters show.
    const isUnread = this.#schedule?.unreadAt === this.#schedule?.startedAt;
    const isNew = isUnread ? !isSameItem(this.#item, item) : item?.revision !== this.#item?.revision;
    if (item && isNew) this.#schedule = readSchedule(item.text);
    if (!item) this.#schedule = undefined;
    this.#item = item;
    if (item) clock.follow(item.writtenAt);
    this.#readAt = clock.now();
    if (item && !this.#schedule) this.#schedule = exhaustedSchedule(this.#readAt);
  }

  /** The permits that were taken, without those that have expired meanwhile. */
  #granted({ mode, count }: Grant, { limits }: GrantRequest, askedAt: number): GrantAnswer {
    const { clock, permitLifeMs } = this.#options;
    const [outer, ...narrower] = limits;
    const limit = this.#schedule?.limits[outer];
    if (!limit) return unavailable('The limiter’s store returned an item without the limit.');
    const taken = this.#counters[takenCounter(outer)] ?? 0;
    const granted = Array.from({ length: count }, (_, index): Validity => {
      const times = { from: limit.due, step: limit.step };
      const validFrom = mode === 'now' ? askedAt : timeOf(times, taken - count + index);
      return { validFrom, expiresAt: validFrom + permitLifeMs, countedFrom: Math.min(askedAt, validFrom) };
    });
    // The first ones expire first.
    const expired = granted.filter(({ expiresAt }) => expiresAt < clock.now());
    const permits = granted.slice(expired.length);
    this.giveBack(limits, expired);
    if (permits.length === 0)
      return unavailable('The limiter’s store answered after the permits had expired.');
    const wide = this.#remaining(outer, askedAt);
    const [narrowest] = narrower
      .filter((name) => !isShare(name))
      .map((name) => this.#remaining(name, askedAt))
      .filter((one) => partOf(one) < partOf(wide))
      .sort((a, b) => partOf(a) - partOf(b));
    return { kind: 'granted', permits, remaining: wide.remaining, ...(narrowest && { narrowest }) };
  }

  #remaining(limit: string, now: number): Remaining {
    const capacity = this.#options.windows.get(limit)?.capacity ?? 0;
    return { limit, capacity, remaining: Math.max(0, capacity - this.#inWindow(limit, now)) };
  }

  #inWindow(limit: string, now: number): number {
    const one = this.#schedule?.limits[limit];
    if (!this.#schedule || !one) return 0;
    const returned = returnedIn(this.#schedule, this.#counters, limit, now);
    return countAfter(one.log, now - one.windowMs) + (this.#counters[takenCounter(limit)] ?? 0) - returned;
  }

  #exhausted(next: Schedule, request: GrantRequest, now: number, from = now): GrantAnswer {
    // All instances expect the next permit at the same moment, and one gets it: read before the next attempt.
    this.#readAt = Number.NEGATIVE_INFINITY;
    const isBlocked = request.limits.some((name) => (next.limits[name]?.blockedUntil ?? 0) > now);
    const { windows } = this.#options;
    const usedUp = this.#usedUpOf(next, request, now);
    const isLate = (name: string) => countAfter(next.limits[name]?.log ?? [], now - mayReturnMs) > 0;
    const mayReturn = !isBlocked && request.limits.some(isLate);
    const { notBefore, earliest } = whenToAsk(next, request, now, windows);
    const askAt = { notBefore: Math.max(from, notBefore), earliest };
    return { kind: 'exhausted', isBlocked, usedUp, mayReturn, ...askAt };
  }

  /** The widest if it alone grants nothing, or else the first that grants nothing with it. */
  #usedUpOf(next: Schedule, request: GrantRequest, now: number): string {
    const { windows, permitLifeMs } = this.#options;
    const [outer, ...narrower] = request.limits;
    const hasUsedUp = (share: string) =>
      next.limits[share]?.log.length && (roomOf(next, {}, share, windows, now)?.room ?? 1) < 1;
    // Whoever used up a share is told that, whether or not others have used up the limit; who has had nothing is not.
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

/** A store may break what its types promise: an item is checked before it is used. */
const isValid = ({ revision, counters, text, writtenAt }: LimiterItem, now: number): boolean =>
  typeof revision === 'string' &&
  typeof text === 'string' &&
  writtenAt >= 0 &&
  writtenAt <= now + maxAheadMs &&
  Object.values(counters ?? {}).every((value) => Number.isSafeInteger(value) && value >= 0);
