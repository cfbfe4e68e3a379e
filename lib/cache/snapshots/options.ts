/** The options of the snapshot cache, and the times that no option changes; all in milliseconds. */

export interface SnapshotOptions {
  /** The distance of refreshes while all is well: a little less than the limiter's, which has the last word. */
  readonly paceMs: number;
  /** Symbols that one call of the upstream takes. */
  readonly maxSymbols: number;
  /**
   * Symbols that one call probes, until the upstream's error messages have proved to name unknown symbols: at one
   * unknown symbol in a hundred, two of three such calls succeed.
   */
  readonly maxProbed: number;
  /** A caller with at most this many new symbols shares probes with other callers; one with more has its own. */
  readonly maxSharedSymbols: number;
  /** How old an instance's knowledge of the refresh log may be. */
  readonly pollMs: number;
  /** Soft bound: an older entry is served only after a try for a newer one, and the answer says that it is stale. */
  readonly staleAfterMs: number;
  /** Hard bound: an older entry is not served at all. */
  readonly expireAfterMs: number;
  /** How long a client waits for an entry that no instance has, at most. */
  readonly waitMs: number;
  /** For one request to the upstream. */
  readonly upstreamTimeoutMs: number;
  /** A symbol that no client requested for this long is not refreshed any more. */
  readonly forgetMs: number;
  /** How long a symbol that the upstream does not know is negative-cached. */
  readonly negativeMs: number;
  /** Symbols are refreshed as often as demand to this power, relative to each other. */
  readonly demandExponent: number;
  /** No symbol in use counts less than this part of the mean demand. */
  readonly demandFloor: number;
  /** The smallest `max-age` of a client that is honoured. */
  readonly minMaxAgeMs: number;
  /** How many refreshes a minute one caller may cause by `max-age` and `no-cache`. */
  readonly refreshesPerMinute: number;
  /** How many probes may be sent at once, and how many more each minute. */
  readonly probeBurst: number;
  readonly probesPerMinute: number;
  /** How many of a caller's probes may fail at once: after a cold start those of all callers do. */
  readonly failuresPerCaller: number;
  /** How many of them are forgiven a minute. Each is a refresh less for all: 12 of 289 raise the ages by 4 %. */
  readonly forgivenPerMinute: number;
  /** Entries, and negative entries, that an instance holds. */
  readonly maxEntries: number;
  readonly maxNegative: number;
  /**
   * Instances that may serve at the same time. When one in 32 of them begins, or is about to wait, within a second,
   * that is a storm: an instance that begins reads a copy of the checkpoint and nothing else, and no request
   * waits for what it misses.
   */
  readonly instances: number;
  /** A checkpoint is written after this many refreshes at most. */
  readonly refreshesPerCheckpoint: number;
}

export const defaultSnapshotOptions: SnapshotOptions = {
  paceMs: 206,
  maxSymbols: 100,
  maxProbed: 40,
  maxSharedSymbols: 20,
  pollMs: 70,
  staleAfterMs: 30_000,
  expireAfterMs: 300_000,
  waitMs: 4000,
  upstreamTimeoutMs: 3000,
  forgetMs: 300_000,
  negativeMs: 600_000,
  demandExponent: 0.25,
  demandFloor: 0.1,
  minMaxAgeMs: 1000,
  refreshesPerMinute: 20,
  probeBurst: 240,
  probesPerMinute: 24,
  failuresPerCaller: 30,
  forgivenPerMinute: 12,
  maxEntries: 20_000,
  maxNegative: 10_000,
  instances: 1000,
  refreshesPerCheckpoint: 40,
};

/**
 * Between two refreshes that requests wait for: what is missed meanwhile goes along with the second. Short while
 * enough misses are left for a full call, longer for single symbols: after a cold start every call counts.
 */
export const coalesceMs = { many: 20, few: 150 } as const;
/** After this time no request counts on the outcome of a call any more; it may still come. */
export const flightMs = 1500;
/** A record may be this much later than the upstream's answer could be. */
export const recordSlackMs = 1000;
/**
 * After this time without a poll an instance begins again: ten log records, at 206 ms each, cost as much as a
 * checkpoint of a thousand symbols.
 */
export const rejoinMs = 2000;
/** The part of the instances that may begin or wait within a second; each wait is four seconds at most. */
export const calmPart = 1 / 32;
/** A checkpoint at least this often while leases are acquired; in a storm, where many read nothing else, more often. */
export const checkpointMs = { calm: 10_000, storm: 1500 } as const;
/** A copy of the checkpoint that is younger need not be the last one: what it lacks is refreshed within seconds. */
export const copyMs = 8000;
/** How long an instance that began in a storm, or was throttled, keeps requests from waiting in it. */
export const crowdedMs = 2000;
/** What was read less than this ago counts as the store's current state. */
export const currentMs = 15;
export const minuteMs = 60_000;
