/**
 * How many phones an account carries: a model, computed from quotas and from two assumed times.
 *
 *     requests a second  = phones / seconds between two reads of one phone
 *     instances, steady  = the larger one of  requests a second × warm time,  and
 *                          requests a second / 10, because Lambda gives no instance more than 10 a second
 *     instances, storm   = requests a second × start time, because during the first start every request meets
 *                          no warm instance; those that have started are warm for all who come later
 *     a token bucket     = rate × seconds + burst  requests within so many seconds
 *
 * Steady use stays far below the first figure (10 a second of 12 ms each are an eighth of an instance's time), so
 * requests that meet at random find an instance.
 */

import { headroom, type UsagePlan } from '../../lib/catalogue/plans.ts';

/**
 * Milliseconds that a read occupies an instance, when warm and when it has to start. Both are assumed, because one
 * machine cannot measure them; all of preflight uses these.
 */
export const readMs = { warm: 12, start: 400 } as const;

/** Limits that AWS documents for every account, independent of its quotas. */
export const platform = {
  /** Synchronous requests that Lambda gives one instance in a second. */
  requestsPerInstanceSecond: 10,
  /** Instances that Lambda starts for one function in ten seconds. */
  startsInTenSeconds: 1000,
  /** Instances that Lambda keeps for functions without a reservation. */
  leftUnreserved: 100,
  keys: 10_000,
  usagePlans: 300,
  /** DynamoDB's units a second: for one partition key, and for a new table on demand. */
  partitionKey: { readUnits: 3000, writeUnits: 1000 },
  newTable: { readUnits: 12_000, writeUnits: 4000 },
} as const;

/** Phones that read on a fixed period. */
export interface Load {
  readonly phones: number;
  /** Seconds between two reads of one phone. */
  readonly everySeconds: number;
  /** Seconds within which all of them may come at once, from cold: the market opens, a push message is read. */
  readonly withinSeconds: number;
}

/**
 * Counts the instances that a steady load occupies.
 *
 * @returns whole instances
 * @example steadyInstances({ phones: 10_000, everySeconds: 5, withinSeconds: 5 })  // 200
 */
export function steadyInstances({ phones, everySeconds }: Load): number {
  const perSecond = phones / everySeconds;
  const busy = (perSecond * readMs.warm) / 1000;
  return Math.ceil(Math.max(busy, perSecond / platform.requestsPerInstanceSecond));
}

/**
 * Counts the instances that start when all phones come at once and none is warm.
 *
 * @returns whole instances
 * @example stormInstances({ phones: 10_000, everySeconds: 5, withinSeconds: 5 })  // 800
 */
export const stormInstances = ({ phones, withinSeconds }: Load): number =>
  Math.ceil((phones * readMs.start) / (1000 * withinSeconds));

/** Number of phones that a resource carries: reading steadily, and all at once from cold. */
export interface PhonesCarried {
  readonly steady: number;
  readonly storm: number;
}

type LoadTimes = Pick<Load, 'everySeconds' | 'withinSeconds'>;

/**
 * @param instances that the function may have
 * @example carriedByInstances(10, { everySeconds: 5, withinSeconds: 5 })  // { steady: 500, storm: 125 }
 */
export function carriedByInstances(
  instances: number,
  { everySeconds, withinSeconds }: LoadTimes,
): PhonesCarried {
  const perSecond = Math.min(
    (instances * 1000) / readMs.warm,
    instances * platform.requestsPerInstanceSecond,
  );
  const starting = Math.min(instances, platform.startsInTenSeconds);
  return {
    steady: Math.floor(perSecond * everySeconds),
    storm: Math.floor((starting * 1000 * withinSeconds) / readMs.start),
  };
}

/**
 * @param bucket a usage plan's or the account's
 * @example carriedByBucket({ ratePerSecond: 4, burst: 60 }, { everySeconds: 5, withinSeconds: 5 })  // { steady: 20, storm: 80 }
 */
export const carriedByBucket = (
  { ratePerSecond, burst }: UsagePlan,
  { everySeconds, withinSeconds }: LoadTimes,
): PhonesCarried => ({
  steady: Math.floor(ratePerSecond * everySeconds),
  storm: Math.floor(burst + ratePerSecond * withinSeconds),
});

/**
 * Counts the phones that a usage plan serves, with the same headroom as the tier `app`.
 *
 * @example phonesOf({ ratePerSecond: 2500, burst: 4000 }, 5)  // 10000
 */
export const phonesOf = ({ ratePerSecond }: UsagePlan, everySeconds: number): number =>
  Math.max(1, Math.floor((ratePerSecond * everySeconds) / headroom));

/**
 * Sizes a usage plan for a load as the tier `app` is sized: a quarter above the steady rate, because phones do not
 * come evenly, and a burst of two seconds' worth.
 *
 * @example bucketFor({ phones: 10_000, everySeconds: 5, withinSeconds: 5 })  // { ratePerSecond: 2500, burst: 4000 }
 */
export function bucketFor({ phones, everySeconds, withinSeconds }: Load): UsagePlan {
  const ratePerSecond = Math.ceil((headroom * phones) / everySeconds);
  const burst = Math.ceil(Math.max((2 * phones) / everySeconds, phones - ratePerSecond * withinSeconds));
  return { ratePerSecond, burst };
}

/**
 * Computes the shortest time in which so many phones may come at once without more starts than Lambda allows.
 *
 * @returns whole seconds
 */
export const secondsToSpread = (phones: number): number =>
  Math.ceil((phones * readMs.start) / (1000 * platform.startsInTenSeconds));
