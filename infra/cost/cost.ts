/** Computes the cost of reads and of a key's worst day from cost-figures.ts and from the bounds that the gateway keeps. */

import { memoryOf, type WorkerName } from '../../functions/rows.ts';
import { maxStoredBytes } from '../../lib/cache/responses/index.ts';
import { limits } from '../../lib/catalogue/index.ts';
import { maxAnswerBytes } from '../../lib/upstream/channel-bound.ts';
import type { ResolvedPlan } from '../stack/plans-config.ts';
import {
  answerBytes,
  canary,
  deployed,
  hoursPerDay,
  type LookupSituation,
  largeAnswers,
  logBytesPerRequest,
  lookupWrites,
  marketStream,
  orderAudit,
  ownKey,
  prices,
  resting,
  type Situation,
  type StreamFigures,
  situations,
  tradeEvents,
  type Units,
  type UserSituation,
  user,
  users,
} from './cost-figures.ts';

const million = 1_000_000;
const gigabyte = 2 ** 30;

/** Units and dollars are both per million, so a unit for each read is its price. */
export const unitsCost = ({ readUnits, writeUnits }: Units) =>
  readUnits * prices.readUnitsPerMillion + writeUnits * prices.writeUnitsPerMillion;

export const transferCost = (bytes: number): number => (million * bytes * prices.transferOutPerGb) / gigabyte;

/** Dollars of a million calls. */
export const lambdaTime = (billedMs: number, memoryMiB: number = deployed.memoryMiB) =>
  ((million * (billedMs / 1000) * memoryMiB) / 1024) * prices.lambdaPerGbSecond[deployed.architecture];

/** Dollars of an hour of a stream of quotes. */
export const streamHourCost = ({ memoryMiB, logReadsPerSecond, readUnits }: StreamFigures): number =>
  (lambdaTime(3_600_000, memoryMiB) + 3600 * logReadsPerSecond * unitsCost({ readUnits, writeUnits: 0 })) /
  million;

/** Dollars of a million calls. */
export const logs = (million * logBytesPerRequest * prices.logsPerGb) / gigabyte;

/**
 * Cost of a million answered reads.
 *
 * A refused request counts as a whole read of API Gateway, Lambda, transfer and logs. That is an upper bound: a refusal
 * is shorter, and Lambda charges nothing for one that found no instance. DynamoDB's units are not multiplied, because
 * the study counted them over all requests, refused ones too.
 *
 * @returns dollars per million reads
 * @example totalOf(costOf(situations[0]))  // 4.24…
 */
export function costOf(situation: Situation) {
  const { snapshots, limiter, billedMs, upstreamPerSecond, readsPerSecond, repeated = 0 } = situation;
  const sent = 1 + repeated;
  return {
    apiGateway: sent * prices.apiGatewayPerMillion,
    lambdaRequests: sent * prices.lambdaPerMillion,
    lambdaTime: sent * lambdaTime(billedMs),
    snapshots: unitsCost(snapshots),
    limiter: (upstreamPerSecond / readsPerSecond) * unitsCost(limiter),
    transfer: sent * transferCost(answerBytes.gzip + answerBytes.headers),
    logs: sent * logs,
  };
}

/** Dollars per million lookups by event: each is put once on the bus, answered by one event, and never waits. */
export function lookupCostOf({ lookupsPerBatch, billedMs }: LookupSituation) {
  const batches = 1 / lookupsPerBatch;
  const receives = 1 / Math.min(10, lookupsPerBatch);
  const writes = Object.values(lookupWrites).reduce((sum, units) => sum + units, 0);
  return {
    events: 2 * prices.eventsPerMillion,
    // The rule sends each lookup by itself; Lambda receives and deletes several at once.
    queue: (1 + 2 * receives) * prices.queuePerMillion,
    lambdaRequests: batches * prices.lambdaPerMillion,
    lambdaTime: batches * lambdaTime(billedMs),
    table: writes * prices.writeUnitsPerMillion,
    logs: batches * logs,
  };
}

/**
 * Dollars per million requests about accounts, on top of a read's cost. Each user has an access token, and sends
 * requests as often as readers do.
 */
export function userCostOf({ directoryReads }: UserSituation) {
  const authorizerShare = user.everySeconds / users.authorizerKeptSeconds;
  return {
    authorizerRequests: authorizerShare * prices.lambdaPerMillion,
    authorizerTime: authorizerShare * lambdaTime(users.authorizerMs, memoryOf('authorizer')),
    directory: directoryReads * users.readUnits * prices.readUnitsPerMillion,
    logs: authorizerShare * logs,
  };
}

/**
 * Dollars of one key whose answers have the maximal size: for a million misses, for a million `others`, and for its worst
 * day. Others are hits; without the cache, the upstream's limit refuses them, most of them at once.
 */
export function dearestOf(
  { ratePerSecond, burst, quota }: Omit<ResolvedPlan, 'name' | 'keys'>,
  isShared = true,
) {
  const each = (billedMs: number, upstreamPerSecond: number, bytes: number, snapshots: Units) =>
    totalOf({
      ...costOf({ ...situations.at(-1)!, readsPerSecond: 1, upstreamPerSecond, billedMs, snapshots }),
      transfer: transferCost(bytes + answerBytes.headers),
    });
  const { hitMs, missMs } = largeAnswers;
  // One unit writes a kilobyte or reads eight; two more write the lease.
  const kept = maxStoredBytes / 1024;
  const read = { readUnits: isShared ? kept / 8 : 0, writeUnits: 0 };
  const miss = each(missMs, 1, maxAnswerBytes, isShared ? { readUnits: 1, writeUnits: kept + 2 } : read);
  const others = isShared ? each(hitMs, 0, maxAnswerBytes, read) : each(hitMs, 1, 0, read);
  const requests = Math.min(quota?.requests ?? Number.POSITIVE_INFINITY, burst + 86_400 * ratePerSecond);
  const misses = Math.min(
    requests,
    (86_400 * limits['market-data'].requests) / limits['market-data'].perSeconds,
  );
  return { requests, miss, others, day: (misses * miss + (requests - misses) * others) / million };
}

/** Dollars a month of the canary, mostly for its secret and its alarm. Each of its requests is a read, too. */
const canaryMonth = () =>
  prices.secretPerMonth +
  prices.alarmPerMonth +
  ((30 * 24 * 60) / canary.everyMinutes / million) *
    (lambdaTime(canary.billedMs, memoryOf('canary')) +
      prices.lambdaPerMillion +
      logs +
      totalOf(costOf(situations.at(-1)!)));

/** Dollars a month of the options that use the account's own resources, on top of a stage without them. */
export function optionCostOf({ readsPerSecond }: { readonly readsPerSecond: number }) {
  const seconds = user.daysPerMonth * hoursPerDay.usual * 3600;
  const reads = readsPerSecond * seconds;
  const instances = (readsPerSecond * situations[0]!.billedMs) / 1000;
  const keyReads = (instances * (ownKey.tables + ownKey.secrets) * seconds) / (ownKey.heldMinutes * 60);
  return {
    webAcl:
      prices.webAclPerMonth +
      ownKey.webAclRules * prices.webAclRulePerMonth +
      (reads * prices.webAclPerMillion) / million,
    key: prices.keyPerMonth + (keyReads * prices.keyRequestsPer10000) / 10_000,
    firehose: (reads * logBytesPerRequest * prices.firehosePerGb) / gigabyte,
    canary: canaryMonth(),
    rollout: 0,
  };
}

/** Dollars a month for trade events: one listener, all day and every day. */
export function tradeEventCostOf({ eventsPerDay }: { readonly eventsPerDay: number }) {
  const { unitsPerEvent, logBytes, ...listener } = tradeEvents;
  const { minutes, lambdaTime, lambdaRequests, lease, secretReads } = listenerCost('trade-events');
  const events = listener.daysPerMonth * eventsPerDay;
  const reads = (minutes / listener.compareEveryMinutes) * listener.readsPerComparison;
  return {
    lambdaTime,
    lambdaRequests,
    table: lease + units(reads, { readUnits: 1, writeUnits: 0 }) + units(events, unitsPerEvent),
    limiter: units(reads, { readUnits: 1, writeUnits: 2 }),
    events: (events * prices.eventsPerMillion) / million,
    secrets: prices.secretPerMonth + secretReads,
    metrics: watchCost(listener),
    logs: ((events * logBytes.perEvent + minutes * logBytes.perMinute) * prices.logsPerGb) / gigabyte,
  };
}

const units = (count: number, each: Units) => (count * unitsCost(each)) / million;

/** Dollars a month of a function that always runs once: for starts that are not needed, for hand-overs, and for the lease. */
function listenerCost(name: WorkerName) {
  const { daysPerMonth, runMinutes, startMs, waitSeconds, looks, ...every } = tradeEvents;
  const minutes = daysPerMonth * 24 * 60;
  const handOvers = minutes / runMinutes;
  const billedMs = minutes * (60_000 + startMs) + handOvers * waitSeconds * 1000;
  const renewals = (minutes * 60) / every.renewEverySeconds;
  const lookUps = minutes * looks.perStart + handOvers * looks.perHandOver;
  return {
    minutes,
    lambdaTime: lambdaTime(billedMs, memoryOf(name)) / million,
    lambdaRequests: (minutes * prices.lambdaPerMillion) / million,
    lease: units(renewals + lookUps, { readUnits: 0, writeUnits: 1 }),
    secretReads:
      (((minutes * 60) / every.readSecretEverySeconds + minutes) * prices.secretReadsPer10000) / 10_000,
  };
}

/** Dollars a month for the upstream's real-time channel: one listener, all day and every day. */
export function marketStreamCostOf({ tradingHours }: { readonly tradingHours: number }) {
  const { atRest, trading, logBytesPerMinute } = marketStream;
  const { minutes, lease, secretReads, ...lambda } = listenerCost('market-stream');
  return {
    ...lambda,
    lease,
    log: units(minutes * 60, atRest) + units(tradingHours * 3600, trading),
    secrets: secretReads,
    metrics: watchCost(marketStream),
    logs: (minutes * logBytesPerMinute * prices.logsPerGb) / gigabyte,
  };
}

/** Dollars for the audit of a million orders, without batching. */
export function orderAuditCost(): number {
  const { lines, writeUnits, calls, billedMs } = orderAudit;
  const call = prices.lambdaPerMillion + lambdaTime(billedMs, memoryOf('order-audit')) + logs;
  return lines * writeUnits * prices.writeUnitsPerMillion + calls * call;
}

const watchCost = ({ metrics, alarms }: Readonly<Record<'metrics' | 'alarms', number>>): number =>
  metrics * prices.metricPerMonth + alarms * prices.alarmPerMonth;

/** Dollars a month of a worker that finds nothing to do. */
export function restingCost(name: keyof typeof resting): number {
  const { runsPerMonth, billedMs, readUnits, logBytes, ...watched } = resting[name];
  const millionRuns =
    prices.lambdaPerMillion +
    lambdaTime(billedMs, memoryOf(name)) +
    readUnits * prices.readUnitsPerMillion +
    (million * logBytes * prices.logsPerGb) / gigabyte;
  return (runsPerMonth * millionRuns) / million + watchCost(watched);
}

export const totalOf = (cost: Readonly<Record<string, number>>): number =>
  Object.values(cost).reduce((sum, part) => sum + part, 0);

/**
 * The reads of one active user.
 *
 * @param hours of activity on each trading day
 * @example readsPerUserMonth(1)  // 15120
 */
export const readsPerUserMonth = (hours: number): number =>
  ((hours * 3600) / user.everySeconds) * user.daysPerMonth;

/**
 * @param perMillion dollars per million reads
 * @param hours of activity on each trading day
 * @returns dollars a month
 */
export const perUserMonth = (perMillion: number, hours: number = hoursPerDay.usual): number =>
  (perMillion * readsPerUserMonth(hours)) / million;
