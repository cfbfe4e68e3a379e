/**
 * The limiter: ensures that no window of the upstream's limits ever holds more requests of all instances together than
 * the limit allows. Every request that leaves, even a repeated one, needs a permit of its own.
 */

import { monotonicClock, steadyClock } from '../kernel/age.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import { type After, afterTimeout } from '../kernel/pauses.ts';
import { LimiterClient } from './client.ts';
import { FallbackLimiter, type ReserveOptions } from './fallback.ts';
import { type Limit, type Margins, type Priority, permitLifeOf, priorities, windowOf } from './limits.ts';
import { type LimiterStore, limiterKey, StoreClock } from './store.ts';

/** Dependencies and assumptions of a limiter; every instance has the same, except for clock and report. */
export interface LimiterWiring {
  /** The store that all instances share. */
  readonly store: LimiterStore;
  /** The upstream's limits by name; a name has letters, digits and `_ - . :`. */
  readonly limits: Readonly<Record<string, Limit>>;
  /**
   * Name of the shared limits, a part of the item's key. Instances that share limits have the same bucket, store, limits
   * and margins.
   */
  readonly bucket: string;
  /** Part of the limits that instances may use while the store is unavailable. Default none. */
  readonly reserve: ReserveOptions | undefined;
  /** Now, in milliseconds since the epoch, by a clock that goes on while the instance is frozen. Default `Date.now`. */
  readonly clock: () => number;
  /** Receives each event of the limiter at once; an error that it throws is ignored. */
  readonly report: (report: LimiterReport) => void;
}

interface LimiterSeams {
  readonly margins?: Margins;
  /** Timer of the limiter. Default `afterTimeout`. */
  readonly after?: After;
  /** Random numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Replaces `limiterKey(bucket, appKey)` in tests. */
  readonly keyOf?: (appKey: string) => string;
}

export type LimiterOptions = OptionsOf<LimiterWiring, 'store' | 'limits' | 'bucket'> & LimiterSeams;

/**
 * Permission for one request under a limit. It is counted from its grant until its window is over, or until it expires
 * unused: then its instance gives it back, and `consume()` returns false from that moment on.
 *
 * @example
 * const answer = await limiter.acquire({ appKey, limits: ['api'] });
 * if (answer.ok && answer.permit.consume()) send(request);
 */
export interface Permit {
  /** When the permit becomes worthless, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /**
   * Call it immediately before the request goes to the socket, with nothing awaited in between. Returns true at most once.
   * Returns false when the permit has expired, as after a freeze, or its limit is known to be blocked: then the request
   * must not leave, and a caller that still wants to send it acquires another permit.
   */
  consume(): boolean;
}

/**
 * Why no permit was granted. `exhausted`: this limiter's instances, or others on the same app key, have used
 * the limit; `blocked`: the upstream itself has just refused a request; `store_busy`: the store throttles
 * requests, or too many instances write at once; `store_unavailable`: the store cannot be reached;
 * `share_exhausted`: the request's user has used as much of the limit as is left for all others.
 */
export type RefusalReason = 'exhausted' | 'share_exhausted' | 'blocked' | 'store_busy' | 'store_unavailable';

/** A permit, or the reason why there is none. */
export type PermitAnswer =
  | { readonly ok: true; readonly permit: Permit }
  /**
   * `retryAfterMs`: time in milliseconds before which another attempt is useless. `usedUp`: the limit, of several, that has
   * no permit, where it is known; requests that do not count against it may get one.
   */
  | {
      readonly ok: false;
      readonly reason: RefusalReason;
      readonly retryAfterMs: number;
      readonly usedUp?: string;
    };

/** Remaining permits of one limit. */
export interface Remaining {
  readonly limit: string;
  readonly remaining: number;
  /** How many permits the limit's window holds in all. */
  readonly capacity: number;
}

/**
 * A limiter's report of an event, for metrics and logs.
 *
 * @example
 * const report = (report: LimiterReport) => {
 *   if (report.kind === 'refused') refusals.add(1, { reason: report.reason });
 * };
 */
export type LimiterReport =
  | {
      readonly kind: 'granted';
      readonly priority: Priority;
      /** The widest of the limits that the request counts against. */
      readonly limit: string;
      readonly waitedMs: number;
      /** How many permits of `limit` are left in its window; 0 when the store is unavailable. */
      readonly remaining: number;
      /** The narrower limit with the smallest part left, where that part is smaller than the widest limit's. */
      readonly narrowest?: Remaining;
    }
  | {
      readonly kind: 'refused';
      readonly priority: Priority;
      readonly limit: string;
      readonly reason: RefusalReason;
      readonly waitedMs: number;
      readonly retryAfterMs: number;
    }
  /** A permit was not used in its life, or its limit was blocked meanwhile: its instance gives it back. */
  | { readonly kind: 'expired'; readonly priority: Priority }
  /** The upstream itself refused; no permit is granted before `until` (ms since the epoch). */
  | { readonly kind: 'blocked'; readonly limit: string; readonly until: number }
  /** Each time the store throttled this instance, or it lost every race for the item. */
  | { readonly kind: 'store_busy'; readonly cause: unknown }
  /** Each failed operation of the store; from the first one on, this instance has only its reserve, if any. */
  | { readonly kind: 'store_unavailable'; readonly cause: unknown }
  /** The first answer of the store after a failure. */
  | { readonly kind: 'store_recovered' };

/** One request that wants a permit. */
export interface PermitCall {
  /** The key by which the upstream counts requests. Each has its own limits. */
  readonly appKey: string;
  /** Limits that the request counts against: one that is within no other, then limits within it. */
  readonly limits: readonly [string, ...string[]];
  /**
   * Short name, without `@`, of the user for whom the request is sent: a user may use no more of a limit than is left for
   * others. Default: no user, and no share.
   */
  readonly user?: string;
  /** Rank among waiting requests. Default interactive. */
  readonly priority?: Priority;
  /**
   * Longest wait for the permit, in milliseconds. Default 2 s. After it, the request still waits for an answer of the
   * store that is under way, at most 500 ms.
   */
  readonly waitMs?: number;
}

/**
 * Grants permits, one for each request that is sent.
 *
 * @example
 * const answer = await limiter.acquire({ appKey, limits: ['api'] });
 * if (!answer.ok) return tooManyRequests(answer.retryAfterMs);
 * const request = await sign(…);                  // after the wait: a signature has a time
 * if (!answer.permit.consume()) return tooLate(); // it expired: acquire another one, or give up
 * const response = await fetch(request);
 * if (response.status === 429) await limiter.block(appKey, 'api', 30_000);
 */
export interface Limiter {
  /**
   * Waits for a permit, and refuses as soon as none can come in time. Resolves to a refusal even when the store fails.
   *
   * @throws RangeError for limits that are not configured, or that are not a limit and limits within it
   */
  acquire(call: PermitCall): Promise<PermitAnswer>;
  /**
   * Call it when the upstream refused a request with 429: others on the same app key have used its limit. No instance gets
   * a permit of the limit for `retryAfterMs` (default 10 s, at most 5 minutes). If another limit is blocked, too, the limit
   * around this one is blocked as well. Never rejects.
   */
  block(appKey: string, limit: string, retryAfterMs?: number): Promise<void>;
  /**
   * Number of all instances' permits in the window of a limit: never fewer than the requests that arrived in the upstream's
   * window. Undefined when the store cannot be read. Never rejects.
   */
  used(appKey: string, limit: string): Promise<number | undefined>;
}

const defaultWaitMs = priorities.interactive.aheadMs;
const defaultBlockMs = 10_000;
/** Longest block, so that a wrong header of the upstream does not stop all requests for hours. */
const maxBlockMs = 300_000;

/**
 * Creates one instance's limiter; keep it for the life of the process.
 *
 * @throws RangeError when a limit leaves no permit to grant, the bucket or a limit's name has other characters,
 *   or `reserve.instances` is not a whole number from 1
 * @example
 * const limiter = createLimiter({
 *   store: createMemoryLimiterStore(),
 *   bucket: 'production',
 *   limits: {
 *     api: { requests: 300, perSeconds: 60 },
 *     search: { requests: 30, perSeconds: 60, within: 'api' },
 *   },
 * });
 * const answer = await limiter.acquire({ appKey: 'my-key', limits: ['api', 'search'], waitMs: 500 });
 * if (answer.ok && answer.permit.consume()) await fetch('https://upstream.example/search?q=limits');
 */
export function createLimiter(options: LimiterOptions): Limiter {
  assertOptions(options);
  const { bucket, store, margins = {}, reserve, report } = options;
  const { clock: ownClock = Date.now, after = afterTimeout, random = Math.random } = options;
  const windows = new Map(
    Object.entries(options.limits).map(([name, one]) => [name, windowOf(one, margins, reserve?.part ?? 0)]),
  );
  const clients = new Map<string, Promise<LimiterClient>>();
  const clock = new StoreClock(store.isOfOneProcess ? monotonicClock(ownClock) : steadyClock(ownClock));
  const startedAt = clock.now();

  async function createClient(appKey: string): Promise<LimiterClient> {
    return new LimiterClient({
      store,
      key: options.keyOf?.(appKey) ?? (await limiterKey(bucket, appKey)),
      windows,
      permitLifeMs: permitLifeOf(margins),
      clock,
      after,
      random,
      fallback: reserve && new FallbackLimiter(windows, reserve, startedAt),
      report: (event) => {
        try {
          report?.(event);
        } catch {
          // A failing metric must not cost a caller its answer.
        }
      },
    });
  }

  function clientOf(appKey: string): Promise<LimiterClient> {
    const client = clients.get(appKey) ?? createClient(appKey);
    clients.set(appKey, client);
    return client;
  }

  return {
    async acquire({ appKey, limits, user, priority = 'interactive', waitMs = defaultWaitMs }) {
      assertNested(limits, options.limits);
      const client = await clientOf(appKey);
      return client.acquire({ limits, user, priority, waitMs });
    },
    async block(appKey, limit, retryAfterMs = defaultBlockMs) {
      const client = await clientOf(appKey);
      await client.block(limit, clock.now() + Math.min(maxBlockMs, Math.max(0, retryAfterMs)));
    },
    async used(appKey, limit) {
      const client = await clientOf(appKey);
      return client.used(limit);
    },
  };
}

function assertOptions({ bucket, limits, reserve }: LimiterOptions): void {
  for (const name of [bucket, ...Object.keys(limits)])
    if (!/^[\w.:-]+$/.test(name)) throw new RangeError(`${name}: a name of letters, digits, - . : _`);
  if (reserve && !(Number.isInteger(reserve.instances) && reserve.instances >= 1))
    throw new RangeError(`${reserve.instances}: not a number of instances`);
}

function assertNested([outer, ...narrower]: PermitCall['limits'], limits: LimiterOptions['limits']): void {
  const isNested =
    Object.hasOwn(limits, outer) &&
    limits[outer]?.within === undefined &&
    narrower.every((name) => limits[name]?.within === outer);
  if (!isNested) throw new RangeError(`${[outer, ...narrower]}: not a limit and limits within it`);
}
