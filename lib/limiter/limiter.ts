/**
 * The limiter: ensures that no window of the upstream's limits ever holds more requests of all instances together than
 * the limit allows. Every request that leaves, even a repeated one, needs a permit of its own.
 */

import { monotonicClock, steadyClock } from '../kernel/age.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import { type After, afterTimeout } from '../kernel/pauses.ts';
import { LimiterClient } from './client.ts';
import { FallbackLimiter, type ReserveOptions } from './fallback.ts';
import { type Limit, type Margins, permitLifeOf, priorities, windowOf } from './limits.ts';
import type { LimiterReport, PermitAnswer, PermitCall } from './permit.ts';
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
