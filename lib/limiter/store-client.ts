/** One app key's item in the store, as one instance sees it: draws permissions from it, and closes it. */

import { type Grant, type GrantRequest, grantOf, whenToAsk } from './grant.ts';
import { countAfter, timeOf } from './grant-log.ts';
import type { LimitWindow } from './options.ts';
import type { Validity } from './permit.ts';
import { allPriorities } from './priorities.ts';
import {
  type Counters,
  exhaustedSchedule,
  lateOf,
  renewedSchedule,
  type Schedule,
  takenBy,
  takenOf,
  withBlocked,
} from './schedule.ts';
import { readSchedule, scheduleText } from './schedule-text.ts';
import { type Addition, type LimiterItem, type LimiterStore, StoreThrottled } from './store.ts';
import type { After, StoreClock } from './store-clock.ts';

export type GrantAnswer =
  /** `left`: what the window still holds. */
  | { readonly kind: 'granted'; readonly slots: readonly Validity[]; readonly left: number }
  | {
      readonly kind: 'full';
      /** Asking before is of no use. */
      readonly notBefore: number;
      /** No permission is of an earlier time. */
      readonly earliest: number;
      readonly closed: boolean;
    }
  /** Too many at once: the store throttles requests, or every race for the item was lost. */
  | { readonly kind: 'busy'; readonly cause: unknown }
  | { readonly kind: 'failed'; readonly cause: unknown };

export interface StoreClientOptions {
  readonly store: LimiterStore;
  readonly key: string;
  readonly figures: ReadonlyMap<string, LimitWindow>;
  readonly lifeMs: number;
  readonly time: StoreClock;
  readonly after: After;
  /** For one store operation. */
  readonly timeoutMs: number;
  readonly random: () => number;
}

export interface StoreClient {
  /** Never rejects. */
  draw(draw: GrantRequest): Promise<GrantAnswer>;
  /** Gives nothing of the limit before `until`. Rejects when the store fails. */
  close(limit: string, until: number): Promise<void>;
}

/** Lost races for one draw; each brings the item as it is, so that few are needed. */
const mostTries = 6;
/** What was read a moment ago is good enough to take by: the store checks it. */
const freshMs = 500;
/** An item is of no use to anybody when its windows are over; an hour more costs nothing. */
const keepMs = 3_600_000;
/** A clock so far ahead is nonsense, and following it would be too. */
const farthestMs = 86_400_000;

export function createStoreClient(options: StoreClientOptions): StoreClient {
  const { store, key, figures, lifeMs, time, after, timeoutMs, random } = options;
  let known: LimiterItem | undefined;
  let plan: Schedule | undefined;
  let knownAt = Number.NEGATIVE_INFINITY;
  /** Nobody else wrote between our last two operations, so that a look before the next would be in vain. */
  let alone = false;
  /** The store throttled the last operation: what is known, however old, goes into a write, which checks it. */
  let throttled = false;
  /** The last operation was a look, so that the next shows nothing of others. */
  let looked = false;

  function learn(item: LimiterItem | undefined): void {
    throttled = false;
    if (item && !isSane(item, time.now())) throw new Error('the budget store answered nonsense');
    if (item && item.revision !== known?.revision) plan = readSchedule(item.text);
    if (!item) plan = undefined;
    known = item;
    if (item) time.follow(item.writtenAt);
    knownAt = time.now();
    if (item && !plan) plan = exhaustedSchedule(knownAt, figures);
  }

  function bounded<T>(operation: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = after(timeoutMs, () => reject(new Error('the budget store gave no answer in time')));
      operation.then(resolve, reject).finally(cancel);
    });
  }

  async function read(): Promise<void> {
    const before = known;
    learn(await bounded(store.read(key)));
    alone = before !== undefined && isSame(before, known);
    looked = true;
  }

  function itemOf(next: Schedule, counters: Counters, now: number): LimiterItem {
    const zeros = Object.keys(next.limits).flatMap((name) => [
      [takenOf(name), 0],
      [lateOf(name), 0],
      ...allPriorities.map((one) => [takenBy(name, one), 0]),
    ]);
    const revision = `${now.toString(36)}-${random().toString(36).slice(2, 12)}`;
    const all = { ...Object.fromEntries(zeros), ...counters };
    return { revision, counters: all, text: scheduleText(next), writtenAt: now };
  }

  const expiresAt = (next: Schedule, now: number) =>
    Math.max(
      now,
      ...Object.values(next.limits).map(({ closedUntil, windowMs }) => Math.max(closedUntil, now + windowMs)),
    ) + keepMs;

  const renewed = (now: number): Schedule => renewedSchedule(plan, known?.counters ?? {}, now, figures);

  async function draw(wanted: GrantRequest): Promise<GrantAnswer> {
    for (let tries = 0; tries < mostTries; tries++) {
      let now = time.now();
      let offer = plan && grantOf(plan, known?.counters ?? {}, wanted, now, figures, lifeMs);
      const next = offer ? undefined : renewed(now);
      if (next) offer = grantOf(next, {}, wanted, now, figures, lifeMs);
      // What was read once only gets fuller, so that a refusal needs no second look, but an offer does.
      if (!offer && next && (known || tries > 0)) return full(next, wanted, now);
      const mustLook = !alone && now - knownAt > freshMs && !(throttled && known);
      if (tries === 0 && mustLook) {
        await read();
        continue;
      }
      if (!offer) continue;
      now = time.now();
      const taken = next ? await put(next, sums(offer), now) : await add(offer, now);
      if (taken) return given(offer, wanted, now);
    }
    return { kind: 'busy', cause: new Error('lost every race for the budget item') };
  }

  async function put(next: Schedule, counters: Counters, now: number): Promise<boolean> {
    const item = itemOf(next, counters, now);
    const answer = await bounded(store.replace(key, known, item, expiresAt(next, now)));
    learn(answer.item);
    alone = answer.written && (alone || !looked);
    looked = false;
    return answer.written;
  }

  async function add({ additions }: Grant, now: number): Promise<boolean> {
    const { revision = '', counters = {} } = known ?? {};
    const answer = await bounded(store.add(key, revision, additions, now));
    learn(answer.item);
    const byUs = ({ counter, by }: Addition) =>
      answer.item?.counters[counter] === (counters[counter] ?? 0) + by;
    alone = answer.written && (alone || !looked) && additions.every(byUs);
    looked = false;
    return answer.written;
  }

  /** The permissions that were taken, of those that are still worth something. */
  function given(offer: Grant, { limits: [outer] }: GrantRequest, askedAt: number): GrantAnswer {
    const limit = plan?.limits[outer];
    const taken = known?.counters[takenOf(outer)] ?? 0;
    if (!limit) return { kind: 'failed', cause: new Error('the budget store forgot a limit') };
    const slots = Array.from({ length: offer.count }, (_, index): Validity => {
      if (offer.mode === 'now') return { validFrom: askedAt, expiresAt: askedAt + lifeMs };
      const from = timeOf({ from: limit.due, step: limit.step }, taken - offer.count + index);
      return { validFrom: from, expiresAt: from + lifeMs };
    }).filter(({ expiresAt }) => expiresAt >= time.now());
    if (slots.length === 0) return { kind: 'failed', cause: new Error('the budget store was too slow') };
    const inWindow = countAfter(limit.runs, askedAt - limit.windowMs) + taken;
    const left = Math.max(0, (figures.get(outer)?.capacity ?? 0) - inWindow);
    return { kind: 'granted', slots, left };
  }

  function full(next: Schedule, wanted: GrantRequest, now: number): GrantAnswer {
    // By what everybody knows the next permission is there at the same moment, and one gets it: look before.
    knownAt = Number.NEGATIVE_INFINITY;
    const closed = wanted.limits.some((name) => (next.limits[name]?.closedUntil ?? 0) > now);
    return { kind: 'full', closed, ...whenToAsk(next, wanted, now, figures) };
  }

  return {
    async draw(wanted) {
      try {
        return await draw(wanted);
      } catch (cause) {
        throttled = cause instanceof StoreThrottled;
        return { kind: throttled ? 'busy' : 'failed', cause };
      }
    },
    async close(limit, until) {
      for (let tries = 0; tries < mostTries; tries++) {
        await read();
        const now = time.now();
        // Of many that were refused at once, one writes.
        if ((plan?.limits[limit]?.closedUntil ?? 0) >= until - lifeMs) return;
        const next = withBlocked(renewed(now), limit, until);
        if (await put(next, {}, now)) return;
      }
    },
  };
}

const sums = ({ additions }: Grant) =>
  Object.fromEntries(additions.map(({ counter, by }) => [counter, by] as const));

/** A store may be wrong in what types promise: what comes from outside is looked at before it is used. */
const isSane = ({ revision, counters, text, writtenAt }: LimiterItem, now: number): boolean =>
  typeof revision === 'string' &&
  typeof text === 'string' &&
  writtenAt >= 0 &&
  writtenAt <= now + farthestMs &&
  Object.values(counters ?? {}).every((value) => Number.isSafeInteger(value) && value >= 0);

function isSame(a: LimiterItem | undefined, b: LimiterItem | undefined): boolean {
  if (!a || !b) return a === b;
  return (
    a.revision === b.revision &&
    Object.keys(b.counters).every((name) => a.counters[name] === b.counters[name])
  );
}
