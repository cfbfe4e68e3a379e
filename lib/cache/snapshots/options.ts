/** The figures by which quotes are kept; all times in milliseconds. */

export interface SnapshotOptions {
  /** The distance of refreshes while all is well: a little less than the budget's, which has the last word. */
  readonly paceMs: number;
  /** Symbols that one call of the upstream takes. */
  readonly mostSymbols: number;
  /**
   * Symbols that are tested together, as long as the upstream's words have not proved to name those that are
   * unknown: at one unknown in a hundred, two of three such calls succeed.
   */
  readonly mostTested: number;
  /** A caller who brings so many new symbols shares tests with others; one who brings more has his own. */
  readonly fewSymbols: number;
  /** How old what an instance knows of the journal may be. */
  readonly pollMs: number;
  /** Beyond this age a quote is not served without trying for a newer one, and the answer says that it is stale. */
  readonly staleAfterMs: number;
  /** Beyond this age a quote is not served at all. */
  readonly expireAfterMs: number;
  /** How long a client waits for a quote that nobody has, at most. */
  readonly waitMs: number;
  /** For one request to the upstream. */
  readonly upstreamTimeoutMs: number;
  /** A symbol that nobody asked for so long is not refreshed any more. */
  readonly forgetMs: number;
  /** How long a symbol that the upstream does not know counts as unknown. */
  readonly unknownMs: number;
  /** Symbols are refreshed as often as demand to this power, relative to each other. */
  readonly demandExponent: number;
  /** No symbol in use counts less than this part of the mean demand. */
  readonly demandFloor: number;
  /** The least `max-age` of a client that is honoured. */
  readonly minMaxAgeMs: number;
  /** How many turns a minute one caller may cause by `max-age` and `no-cache`. */
  readonly refreshesPerMinute: number;
  /** How many tests of unproven symbols may come at once, and how many a minute come back. */
  readonly testBurst: number;
  readonly testsPerMinute: number;
  /** How many of a caller's tests may fail at once: after a cold start everybody's do. */
  readonly failuresPerCaller: number;
  /** How many of them are forgiven a minute. Each is a refresh less for all: 12 of 289 cost their ages 4 %. */
  readonly forgivenPerMinute: number;
  /** Quotes, and unknown symbols, that an instance keeps. */
  readonly mostLines: number;
  readonly mostUnknown: number;
  /**
   * Instances that may serve at the same time. Where one in 32 of them begins, or is about to wait, within a second,
   * that is a storm: an instance that begins reads a copy of the checkpoint and nothing else, and no request
   * waits for what it misses.
   */
  readonly instances: number;
  /** A checkpoint is written after so many turns at most. */
  readonly checkpointTurns: number;
}

export const defaultSnapshotOptions: SnapshotOptions = {
  paceMs: 206,
  mostSymbols: 100,
  mostTested: 40,
  fewSymbols: 20,
  pollMs: 70,
  staleAfterMs: 30_000,
  expireAfterMs: 300_000,
  waitMs: 4000,
  upstreamTimeoutMs: 3000,
  forgetMs: 300_000,
  unknownMs: 600_000,
  demandExponent: 0.25,
  demandFloor: 0.1,
  minMaxAgeMs: 1000,
  refreshesPerMinute: 20,
  testBurst: 240,
  testsPerMinute: 24,
  failuresPerCaller: 30,
  forgivenPerMinute: 12,
  mostLines: 20_000,
  mostUnknown: 10_000,
  instances: 1000,
  checkpointTurns: 40,
};

/**
 * Between two turns that somebody waits for: what is wanted meanwhile goes along with the second. Short while
 * enough is left for a good call, longer for single symbols: after a cold start every call counts.
 */
export const coalesceMs = { many: 20, few: 150 } as const;
/** After so long nobody counts on a turn's outcome any more; it may still come. */
export const flightMs = 1500;
/** An entry may be so much later than the upstream's answer could be. */
export const entrySlackMs = 1000;
/**
 * After so long without a look an instance begins again: ten entries of the journal, at 206 ms each, cost as much
 * as a checkpoint of a thousand symbols.
 */
export const rejoinMs = 2000;
/** The part of the instances that may begin or wait within a second; each wait is four seconds at most. */
export const calmPart = 1 / 32;
/** A checkpoint at least so often while turns are taken; in a storm, where many read it and nothing else, more often. */
export const checkpointMs = { calm: 10_000, storm: 1500 } as const;
/** A copy of the checkpoint that is so young need not be the last one: what it lacks comes again within seconds. */
export const copyMs = 8000;
/** How long an instance that began in a storm, or was throttled, keeps requests from waiting in it. */
export const crowdedMs = 2000;
/** What was read less than this ago is what the store says now. */
export const currentMs = 15;
export const minuteMs = 60_000;
