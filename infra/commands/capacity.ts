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
 * Milliseconds that a read occupies an instance: a warm one, and one that has to start. Assumed: they cannot be
 * measured on one machine. All of preflight takes them from here.
 */
export const readMs = { warm: 12, start: 400 } as const;

/** What AWS documents for every account; its quotas do not change it. */
export const platform = {
  /** Of synchronous requests. */
  requestsPerInstanceSecond: 10,
  /** Of one function, in ten seconds. */
  startsInTenSeconds: 1000,
  /** Instances that Lambda keeps for functions without a reservation. */
  leftUnreserved: 100,
  keys: 10_000,
  usagePlans: 300,
  /** DynamoDB's units a second: of one partition key, and of a table on demand that is new. */
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
 * Instances of the function for phones that are there already.
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
 * Instances of the function when all phones come at once and none is warm.
 *
 * @returns whole instances
 * @example stormInstances({ phones: 10_000, everySeconds: 5, withinSeconds: 5 })  // 800
 */
export const stormInstances = ({ phones, withinSeconds }: Load): number =>
  Math.ceil((phones * readMs.start) / (1000 * withinSeconds));

/** How many phones something carries: steadily, and all at once from cold. */
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
 * The phones that a plan is made for, with the headroom that the plan of the tier `app` has.
 *
 * @example phonesOf({ ratePerSecond: 2500, burst: 4000 }, 5)  // 10000
 */
export const phonesOf = ({ ratePerSecond }: UsagePlan, everySeconds: number): number =>
  Math.max(1, Math.floor((ratePerSecond * everySeconds) / headroom));

/**
 * The bucket for a load, made as that of the tier `app`: a quarter above the steady rate, because phones do not
 * come evenly, and two seconds' worth at once.
 *
 * @example bucketFor({ phones: 10_000, everySeconds: 5, withinSeconds: 5 })  // { ratePerSecond: 2500, burst: 4000 }
 */
export function bucketFor({ phones, everySeconds, withinSeconds }: Load): UsagePlan {
  const ratePerSecond = Math.ceil((headroom * phones) / everySeconds);
  const burst = Math.ceil(Math.max((2 * phones) / everySeconds, phones - ratePerSecond * withinSeconds));
  return { ratePerSecond, burst };
}

/**
 * The shortest time in which so many phones may come at once while Lambda starts no more instances than it does.
 *
 * @returns whole seconds
 */
export const secondsToSpread = (phones: number): number =>
  Math.ceil((phones * readMs.start) / (1000 * platform.startsInTenSeconds));
