/**
 * The limiter of a function: what all functions on the same table send is counted there, and so is whether they keep
 * tighter limits than those that are configured.
 */

import type { LimitName } from '../../lib/catalogue/limits.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { limitsInForceKey, type Tightening } from '../../lib/gateway/limits/in-force.ts';
import { limiterLimits, tighterLimiterLimits } from '../../lib/gateway/limits/operation-limits.ts';
import {
  createLimiter,
  type Limiter,
  type LimiterReport,
  type LimiterWiring,
  type ReserveOptions,
} from '../../lib/limiter/index.ts';
import type { LowPriorityLimiter } from '../../lib/limiter/low-priority.ts';
import { createLimitsInForce } from '../../lib/limiter/tightening.ts';
import { createLimiterMetrics, type LimiterMetrics } from '../log/limiter-metrics.ts';
import { type LimiterSettings, unusedReserve } from '../settings/function-settings.ts';
import type { GatewayPorts } from './ports.ts';

/**
 * Counted in an item of its own: with it, the item of market data would be more than twice as large, and each write to
 * it would cost twice as many units.
 */
const apart: LimitName = 'instruments';

/** Endpoints with a counter that is within no other have an item each: none of their requests needs another's. */
const bucketOf = (wide: string, bucket: string) =>
  wide === apart || wide.startsWith('endpoint.') ? `${bucket}.${wide}` : bucket;

interface ComposedLimiter {
  readonly limiter: Limiter;
  readonly tightening: Tightening;
  readonly metrics: LimiterMetrics;
}

/**
 * @param operations those of the function, with the look-ups that its gateway makes
 * @param lowPriority there when the function's requests can wait for those of others
 */
export function composeLimiter(
  settings: LimiterSettings,
  operations: readonly Operation[],
  ports: Pick<GatewayPorts, 'functionName' | 'log' | 'clock' | 'limiterStore' | 'marketDataLimit'>,
  lowPriority: LowPriorityLimiter | undefined,
): ComposedLimiter {
  const { tableName, bucket, share, reserve, operationLimits, upstreamLimits } = settings;
  const { functionName, log, clock, marketDataLimit: marketData } = ports;
  const store = ports.limiterStore(tableName);
  const inForce = createLimitsInForce({ store, key: limitsInForceKey(bucket, upstreamLimits), clock });
  const metrics = createLimiterMetrics(log, { functionName, tableName, steps: () => inForce.known, clock });
  const report = (one: LimiterReport) => {
    metrics.record(one);
    lowPriority?.observe(one);
  };
  const limiterOf = (limits: Limits, reserved: ReserveOptions | undefined) => {
    const all = marketData
      ? { ...limits, 'market-data': { ...limits['market-data'], ...marketData } }
      : limits;
    const limiter = createItemLimiters(all, { bucket, store, report, clock, reserve: reserved });
    return lowPriority?.wrap(limiter) ?? limiter;
  };
  return {
    metrics,
    limiter: limiterOf(limiterLimits(operationLimits, share, { operations, upstreamLimits }), reserve),
    tightening: {
      inForce,
      share,
      limiterFor: (tighter) =>
        limiterOf(
          tighterLimiterLimits(operationLimits, share, { operations, upstreamLimits: tighter }),
          // M counts the functions that draw on the configured limits.
          unusedReserve(reserve),
        ),
      report: metrics.rateLimited,
    },
  };
}

type Limits = ReturnType<typeof limiterLimits>;

/** One limiter over several items, in each of which the limits are that some request counts against together. */
function createItemLimiters(limits: Limits, { bucket, ...shared }: Omit<LimiterWiring, 'limits'>): Limiter {
  const all = Object.entries(limits);
  const limiters = new Map<string, Limiter>();
  const wideOf = new Map(all.map(([name, { within = name }]) => [name, within]));
  function limiterFor(name: string): Limiter {
    const own = bucketOf(wideOf.get(name) ?? name, bucket);
    const limiter =
      limiters.get(own) ??
      createLimiter({
        ...shared,
        limits: Object.fromEntries(all.filter(([one, { within = one }]) => bucketOf(within, bucket) === own)),
        bucket: own,
      } satisfies LimiterWiring);
    limiters.set(own, limiter);
    return limiter;
  }
  // Made now, because what is reserved of a limit waits for an instance of some age.
  for (const name of wideOf.keys()) limiterFor(name);
  return {
    acquire: (call) => limiterFor(call.limits[0]).acquire(call),
    block: (appKey, limit, retryAfterMs) => limiterFor(limit).block(appKey, limit, retryAfterMs),
    used: (appKey, limit) => limiterFor(limit).used(appKey, limit),
  };
}
