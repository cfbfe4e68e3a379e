/**
 * The budget: what all instances together may send to the upstream, so that no window of its limits ever
 * holds more than it allows. Every request that leaves, a repeated one too, has its own permission.
 *
 *     const answer = await budget.ask({ appKey, limits: ['market-data'] });
 *     if (!answer.ok) …                       // refused: answer.retryAfterMs
 *     const signed = await signer.sign(…);    // after the wait: a signature has a time
 *     if (!answer.permission.use()) …         // too late: ask again, or give up
 *     send(signed);
 */

import { createLimiterClient, type LimiterClient, type PermitAnswer } from './client.ts';
import { createFallbackLimiter, type ReserveOptions } from './fallback.ts';
import { limiterKey } from './key.ts';
import { type Limit, type Margins, permitLifeOf, windowOf } from './options.ts';
import { type Priority, priorities } from './priorities.ts';
import type { LimiterReport } from './report.ts';
import type { LimiterStore } from './store.ts';
import { type After, afterTimeout, createStoreClock } from './store-clock.ts';

export interface LimiterOptions {
  readonly store: LimiterStore;
  /** By name. */
  readonly limits: Readonly<Record<string, Limit>>;
  /** Those who share a limit have the same bucket name, store, limits and margins. */
  readonly bucket: string;
  readonly margins?: Margins;
  /** What each instance has when the store is unavailable. Default nothing. */
  readonly reserve?: ReserveOptions | undefined;
  /** For one operation of the store. Default 500 ms. */
  readonly storeTimeoutMs?: number;
  /** Now, in milliseconds since the epoch; a clock that goes on while the instance is frozen. */
  readonly clock?: () => number;
  readonly after?: After;
  /** From 0 to below 1. */
  readonly random?: () => number;
  /** In place of `budgetKey(bucket, appKey)`, for tests. */
  readonly keyOf?: (appKey: string) => string;
  readonly report?: (report: LimiterReport) => void;
}

export interface PermitCall {
  readonly appKey: string;
  /** What the request counts against: a limit that is within no other, then those within it. */
  readonly limits: readonly [string, ...string[]];
  /** Default interactive. */
  readonly priority?: Priority;
  /**
   * How long the request can wait for its permission. Default 2 s. An answer of the store that is under way
   * at the end is waited for, at most `storeTimeoutMs`.
   */
  readonly waitMs?: number;
}

export interface Limiter {
  /** @throws RangeError for a limit that was not configured */
  acquire(call: PermitCall): Promise<PermitAnswer>;
  /**
   * The upstream refused a request with 429: others on the same app key have used its limit. Nothing more
   * is given of it for `retryAfterMs` (default 10 s, at most 5 minutes), by any instance. Never rejects.
   */
  block(appKey: string, limit: string, retryAfterMs?: number): Promise<void>;
}

const defaultWaitMs = priorities.interactive.aheadMs;
const closedMs = 10_000;
const longestClosedMs = 300_000;

/** @throws RangeError when a limit leaves no permission to give, a name is not plain or no instance may have a share */
export function createLimiter(options: LimiterOptions): Limiter {
  const { bucket, margins = {}, reserve, storeTimeoutMs = 500, report } = options;
  const { clock = Date.now, after = afterTimeout, random = Math.random } = options;
  const limits = Object.entries(options.limits);
  for (const name of [bucket, ...limits.map(([one]) => one)])
    if (!/^[\w.:-]+$/.test(name)) throw new RangeError(`${name}: a name of letters, digits, - . : _`);
  if (reserve && !(Number.isInteger(reserve.instances) && reserve.instances >= 1))
    throw new RangeError(`${reserve.instances}: not a number of instances`);
  const figures = new Map(limits.map(([name, one]) => [name, windowOf(one, margins, reserve?.part ?? 0)]));
  const accounts = new Map<string, Promise<LimiterClient>>();
  const time = createStoreClock(clock);
  const startedAt = time.now();

  async function createFor(appKey: string): Promise<LimiterClient> {
    return createLimiterClient({
      store: options.store,
      key: options.keyOf?.(appKey) ?? (await limiterKey(bucket, appKey)),
      figures,
      lifeMs: permitLifeOf(margins),
      timeoutMs: storeTimeoutMs,
      time,
      after,
      random,
      reserve: reserve && createFallbackLimiter(figures, reserve, startedAt),
      report: (said) => {
        try {
          report?.(said);
        } catch {
          // A metric that fails must not cost the client his answer.
        }
      },
    });
  }

  function accountOf(appKey: string): Promise<LimiterClient> {
    const account = accounts.get(appKey) ?? createFor(appKey);
    accounts.set(appKey, account);
    return account;
  }

  function mustBeNested([outer, ...narrower]: PermitCall['limits']): void {
    const isNested =
      options.limits[outer]?.within === undefined &&
      figures.has(outer) &&
      narrower.every((name) => options.limits[name]?.within === outer);
    if (!isNested) throw new RangeError(`${[outer, ...narrower]}: not a limit and limits within it`);
  }

  return {
    async acquire({ appKey, limits: names, priority = 'interactive', waitMs = defaultWaitMs }) {
      mustBeNested(names);
      const account = await accountOf(appKey);
      return account.ask({ limits: names, priority, waitMs });
    },
    async block(appKey, limit, retryAfterMs = closedMs) {
      const account = await accountOf(appKey);
      await account.close(limit, time.now() + Math.min(longestClosedMs, Math.max(0, retryAfterMs)));
    },
  };
}
