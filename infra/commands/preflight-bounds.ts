/** Bounds on the phones of one stage in one account, each with how to raise it. */

import { appPlan, limits, listStockBars, type UsagePlan } from '../../lib/catalogue/index.ts';
import { maxRecordsOf } from '../../lib/gateway/validate.ts';
import { maxAnswerBytes } from '../../lib/upstream/channel-bound.ts';
import { takesKey } from '../access-modes.ts';
import { dearestOf } from '../cost/cost.ts';
import { dollars } from '../cost/cost-tables.ts';
import type { ResolvedConfig } from '../stack/config.ts';
import { massCancelConcurrency } from '../stack/functions-config.ts';
import { marketDataUsePage } from '../stack/market-data-use.ts';
import type { ResolvedPlan } from '../stack/plans-config.ts';
import type { AwsAccount, Concurrency } from './account.ts';
import {
  bucketFor,
  carriedByBucket,
  carriedByInstances,
  type Load,
  type PhonesCarried,
  platform,
  readMs,
  secondsToSpread,
  steadyInstances,
  stormInstances,
} from './capacity.ts';

export interface Bound extends PhonesCarried {
  /** Completes "bound by". */
  readonly name: string;
  /** Sentence on how the bound comes about. */
  readonly facts: string;
  /** Says in sentences for the operator how a larger load would fit. */
  readonly raise: (load: Load) => readonly string[];
}

type BoundTimes = Pick<Load, 'everySeconds' | 'withinSeconds'>;

export const number = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 3 });

/** Finds the usage plan that carries most; undefined if reads need no key. */
export const largestPlan = ({ access, plans }: ResolvedConfig): ResolvedPlan | undefined =>
  access['market-data'] && takesKey(access['market-data'])
    ? plans.reduce((best, plan) => (plan.ratePerSecond > best.ratePerSecond ? plan : best))
    : undefined;

/** Instances that the stage reserves for its functions. */
export const reservedBy = (config: ResolvedConfig): number =>
  reservations(config).reduce((sum, [, count]) => sum + count, 0);

const reservations = (config: ResolvedConfig): [string, number][] => {
  const { functions, authorizerConcurrency, tradeEvents, stopOnAlarms } = config;
  const others: readonly [string, number | undefined][] = [
    ['mass cancels', massCancelConcurrency(config)],
    ['the authorizer', authorizerConcurrency],
    ['trade events', tradeEvents?.reservedConcurrency],
    ['stops by alarms', stopOnAlarms?.reservedConcurrency],
  ];
  return [
    ...Object.entries(functions.reservedConcurrency),
    ...others.flatMap(([name, count]): [string, number][] => (count ? [[name, count]] : [])),
  ];
};

/**
 * Says why Lambda would refuse the stage's reservations, even if the account has no other functions.
 *
 * @param instances all that the account may run at once
 * @returns undefined when Lambda would accept them
 * @example reservationFault(resolveConfig({ upstream, groups: { orders: 'iam' } }), 10)  // 'The stage reserves 10 …'
 */
export function reservationFault(config: ResolvedConfig, instances: number): string | undefined {
  const reservedCount = reservedBy(config);
  if (reservedCount === 0 || reservedCount <= instances - platform.leftUnreserved) return undefined;
  return `The stage reserves ${number(reservedCount)} instances (${groupsOf(config)}), but the account has ${number(instances)} and Lambda leaves at least ${platform.leftUnreserved} unreserved, so the deployment would fail: put functions: { reservedConcurrency: 'none' } into the stage${config.live ? ' and take live out of it' : ''}, or ask AWS for a higher quota “Concurrent executions” of Lambda.`;
}

const groupsOf = (config: ResolvedConfig) =>
  reservations(config)
    .map(([group, count]) => `${group} ${number(count)}`)
    .join(', ');

/**
 * Lists the known bounds, for phones that all read market data under one key.
 *
 * @example boundsOf(config, account, { everySeconds: 5, withinSeconds: 5 }).map(({ name, steady }) => [name, steady])
 */
export function boundsOf(config: ResolvedConfig, account: AwsAccount, times: BoundTimes): readonly Bound[] {
  const { lambda, apiGateway } = account;
  const plan = largestPlan(config);
  return [
    ...(plan ? [planBound(plan, times)] : []),
    ...(apiGateway ? [accountBound(apiGateway, times)] : []),
    ...(lambda ? [instancesBound(config, account, lambda, times)] : []),
    ...(config.cache === 'off' ? [upstreamBound(config, times)] : []),
  ];
}

const planBound = (plan: ResolvedPlan, times: BoundTimes): Bound => ({
  name: `the usage plan ${plan.name} (${bucketInWords(plan)} for each key)`,
  facts: `The largest usage plan, ${plan.name}, gives each key ${bucketInWords(plan)}${plan.ratePerSecond < appPlan.ratePerSecond ? '; an app takes one of the tier app' : ''}.`,
  ...carriedByBucket(plan, times),
  raise: (load) => [
    `Give the app a plan that is large enough, in infra/stack/stages.ts: plans: { app: { ${planFor(load)}, keys: ['ios', 'android'] } }.`,
  ],
});

function planFor(load: Load): string {
  const { steady, storm } = carriedByBucket(appPlan, load);
  if (Math.min(steady, storm) >= load.phones) return "tier: 'app'";
  const { ratePerSecond, burst } = bucketFor(load);
  return `ratePerSecond: ${ratePerSecond}, burst: ${burst}`;
}

const accountBound = (bucket: UsagePlan, times: BoundTimes): Bound => ({
  name: `API Gateway’s rate for the account (${bucketInWords(bucket)})`,
  facts: `API Gateway gives all APIs of the account in this Region ${bucketInWords(bucket)}.`,
  ...carriedByBucket(bucket, times),
  raise: (load) => [
    `Ask AWS for API Gateway’s quota “Throttle rate” (L-8A5B8E43): at least ${number(bucketFor(load).ratePerSecond)} requests a second, now ${number(bucket.ratePerSecond)}. The burst follows it; AWS sets that itself.`,
  ],
});

const bucketInWords = ({ ratePerSecond, burst }: UsagePlan) =>
  `${number(ratePerSecond)} requests a second and ${number(burst)} at once`;

function instancesBound(
  config: ResolvedConfig,
  account: AwsAccount,
  lambda: Concurrency,
  times: BoundTimes,
): Bound {
  const own = config.functions.reservedConcurrency['market-data'];
  const isReserved = own !== undefined && !reservationFault(config, lambda.all);
  const { count, facts } = isReserved
    ? { count: own, facts: `Lambda has ${number(own)} instances reserved for market data.` }
    : sharedInstances(config, account, lambda);
  return {
    name: `Lambda’s ${number(count)} concurrent instances`,
    facts: `${facts} Each takes ${platform.requestsPerInstanceSecond} requests a second; one that starts is busy for ${readMs.start} ms.`,
    ...carriedByInstances(count, times),
    raise(load) {
      const needs = instancesFor(load);
      const reserve = `Give market data ${number(needs)} instances: functions: { reservedConcurrency: { 'market-data': ${needs} } }.`;
      return [
        ...(needs > count && isReserved ? [reserve] : []),
        ...(needs > count ? moreQuota(lambda, needs - count, isReserved) : []),
        ...spreadAdvice(load),
      ];
    },
  };
}

/** Counts the instances that are left for market data when none are reserved for it. */
function sharedInstances(config: ResolvedConfig, { deployed }: AwsAccount, { all, unreserved }: Concurrency) {
  const reservedElsewhere = all - unreserved - (deployed?.reserved ?? 0);
  // Reservations that AWS would refuse count as none: the report advises to drop them.
  const reserved = reservationFault(config, all) ? 0 : reservedBy(config);
  const events = config.events?.concurrency ?? 0;
  const less = [
    ...(reservedElsewhere > 0 ? [`${number(reservedElsewhere)} that other functions have reserved`] : []),
    ...(reserved > 0 ? [`${number(reserved)} that this stage reserves (${groupsOf(config)})`] : []),
    ...(events > 0 ? [`${number(events)} for lookups by event`] : []),
  ];
  const count = Math.max(0, all - reservedElsewhere - reserved - events);
  const sum = less.length > 0 ? `: ${[number(all), ...less].join(', less ')}` : '';
  return {
    count,
    facts: `Lambda has ${number(count)} instances for market data and whatever else runs in the account${sum}.`,
  };
}

/** Instances that a load needs at once: no more than can start in time. */
const instancesFor = (load: Load) =>
  Math.max(steadyInstances(load), Math.min(stormInstances(load), platform.startsInTenSeconds));

/** @param more number of further instances that a load needs; reserved ones may come from the account's unreserved ones */
function moreQuota({ all, unreserved }: Concurrency, more: number, isReserved: boolean): readonly string[] {
  const lacking = isReserved ? more - Math.max(0, unreserved - platform.leftUnreserved) : more;
  if (lacking <= 0) return [];
  // AWS raises a new account to its own default on request, so less is not worth asking for.
  const quota = Math.max(1000, 100 * Math.ceil((all + lacking) / 100));
  return [
    `Ask AWS for Lambda’s quota “Concurrent executions” (L-B99A9384): ${number(quota)}, now ${number(all)}.`,
  ];
}

function spreadAdvice(load: Load): readonly string[] {
  if (stormInstances(load) <= platform.startsInTenSeconds) return [];
  const seconds = secondsToSpread(load.phones);
  return [
    `Let the app spread the first requests of ${number(load.phones)} phones over ${seconds} s, by a random wait: no quota makes Lambda start more than ${number(platform.startsInTenSeconds)} instances of a function in 10 s. Then run this again with --within ${seconds}.`,
  ];
}

/** Says what a key's dearest request and worst day cost; empty if no group takes keys. */
export function keysInWords({ access, plans, cache }: ResolvedConfig): readonly string[] {
  const isShared = cache !== 'off';
  const read = access['market-data']
    ? `${listStockBars.id} for ${maxRecordsOf(listStockBars)} records`
    : 'a read';
  const keyed = Object.values(access).some(takesKey) ? plans : [];
  return keyed.map((plan) => {
    const { requests, miss, others, day } = dearestOf(plan, isShared);
    return `A key of the plan ${plan.name} can cost ${dollars(day)} a day, for ${number(requests)} requests. The dearest is ${read}, ${number(maxAnswerBytes / 1024)} KiB: a million cost ${dollars(miss)} from the upstream, ${dollars(others)} ${isShared ? 'from the cache' : 'beyond its limit'}.${plan.quota ? '' : ' A quota would bound it.'}`;
  });
}

function upstreamBound({ limiter }: ResolvedConfig, times: BoundTimes): Bound {
  const { requests, perSeconds } = limits['market-data'];
  const burst = Math.floor(requests * limiter.share);
  return {
    name: `the upstream’s limit of ${number(burst)} requests in ${perSeconds} s, because the cache is off`,
    facts: `Each read is a request to the upstream, because the cache is off: ${number(burst)} in ${perSeconds} s.`,
    ...carriedByBucket({ ratePerSecond: burst / perSeconds, burst: 0 }, times),
    raise: () => [
      `Share answers: put marketDataUse into the stage in place of cache: 'off' (${marketDataUsePage}).`,
    ],
  };
}
