/**
 * Tightens limits by steps when the upstream refuses a request although the limiter kept its limits. The number of steps is
 * in the limiter's store, so that all instances share it, until an operator removes it.
 */

import { steadyClock } from '../kernel/age.ts';
import { type After, within } from '../kernel/pauses.ts';
import type { Limiter } from './limiter.ts';
import type { LimiterItem, LimiterStore } from './store.ts';

export interface LimitsInForce {
  /** Steps tighter than the configured limits, as far as this instance knows; 0 are the configured limits themselves. */
  readonly known: number;
  /** The steps, read from the store again when the last read is older than 30 s. Never rejects. */
  current(): Promise<number>;
  /** Raises the number of steps, never lowers it. Never rejects: a failed write is repeated later. */
  tighten(steps: number): Promise<void>;
  /**
   * The steps of the widest limits under which some instance may have sent requests that are still in the upstream's
   * window. The store shows whether those can be wider than the limits after `steps`. Never rejects.
   */
  widest(steps: number): Promise<number>;
}

interface LimitsInForceOptions {
  readonly store: LimiterStore;
  /** Key of the store's item, made by `limitsInForceKey`. */
  readonly key: string;
  /** Now, in milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Timer for the store's time limit. Default `afterTimeout`. */
  readonly after?: After;
}

/**
 * Longest time between two reads of the store. A request that begins with steps of this age ends at most 29 s later, which
 * is before the pause after each step, `minStepPauseMs`, is over.
 */
const maxAgeMs = 30_000;
/**
 * How long after a step the upstream's window may hold requests sent before it: 30 s until an instance reads the step, 30 s
 * for a request, a window of a minute, and 2 s for clocks.
 */
const mixedMs = 122_000;
/** Wait after a failure of the store. */
const retryMs = 5000;
/** Longest wait of a request for one operation of the store. */
const timeoutMs = 300;
/** Most tries to write: conflicts are rare, because instances write only after a refusal. */
const maxTries = 6;
/** Ten years, as good as until an operator removes the steps. */
const keepMs = 10 * 365 * 86_400_000;

/**
 * One instance's knowledge of the limits in force.
 *
 * @example
 * const inForce = createLimitsInForce({ store, key: limitsInForceKey('main', 'interface') });
 * await inForce.tighten(1);
 * await inForce.current(); // 1, and in every other instance within 30 s
 */
export function createLimitsInForce({
  store,
  key,
  clock = Date.now,
  after,
}: LimitsInForceOptions): LimitsInForce {
  const steady = steadyClock(clock);
  let known = 0;
  /** Steps that this instance has decided and not stored yet. */
  let owed = 0;
  let readAgainAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const bounded = <T>(operation: Promise<T>) => within(operation, timeoutMs, after);

  /** Reads the item, raises it to the steps that are not stored yet, and returns the time until the next read. */
  async function settle(): Promise<number> {
    try {
      let item = await bounded(store.read(key));
      for (let tries = 0; tries < maxTries; tries++) {
        const stored = stepsOf(item);
        if (stored >= owed) {
          [known, owed] = [stored, 0];
          return maxAgeMs;
        }
        const now = clock();
        ({ item } = await bounded(store.replace(key, item, itemOf(owed, now), now + keepMs)));
      }
    } catch {
      // A store that fails is asked again as soon as one in which other instances were faster each time.
    }
    return retryMs;
  }

  async function refresh(): Promise<void> {
    reading ??= settle().then((ms) => {
      readAgainAt = steady() + ms;
      reading = undefined;
    });
    await reading;
  }

  return {
    get known() {
      return known;
    },
    async current() {
      if (steady() >= readAgainAt) await refresh();
      return known;
    },
    async tighten(steps) {
      known = Math.max(known, steps);
      owed = Math.max(owed, steps);
      // A refresh that is under way may have read the old steps.
      await reading;
      await refresh();
    },
    async widest(steps) {
      if (steps === 0) return 0;
      try {
        const item = await bounded(store.read(key));
        const stored = stepsOf(item);
        // An operator has removed the steps, and another instance may have taken some again.
        if (stored < steps) return stored;
        return clock() - item!.writtenAt < mixedMs ? 0 : steps;
      } catch {
        return steps;
      }
    },
  };
}

const itemOf = (steps: number, now: number): LimiterItem => ({
  revision: `${steps}-${now.toString(36)}`,
  counters: {},
  text: JSON.stringify({ version: 1, steps }),
  writtenAt: now,
});

/** The number of steps in an item; 0 for an item that cannot be read. */
export function stepsOf(item: Pick<LimiterItem, 'text'> | undefined): number {
  try {
    const { version, steps } = JSON.parse(item?.text ?? '{}') as { version?: unknown; steps?: unknown };
    return version === 1 && Number.isSafeInteger(steps) && (steps as number) > 0 ? (steps as number) : 0;
  } catch {
    return 0;
  }
}

/** Limits that one kind of request counts against after a number of steps. */
interface StepLimits {
  /** Name of the widest; undefined where there is none. */
  readonly outer: string | undefined;
  /** Those that count all that the upstream counts with such a request, the narrowest last. */
  readonly counters: readonly {
    readonly name: string;
    readonly requests: number;
    readonly perSeconds: number;
  }[];
}

/** A request that the upstream refused although a limiter had permitted it. */
interface RefusedRequest {
  readonly appKey: string;
  /** The steps after which it was sent. */
  readonly steps: number;
  /** The time for which the upstream asked to send nothing; undefined when it named none. */
  readonly retryAfterMs: number | undefined;
  /** The limits of such requests: the configured ones, and those after each step. */
  readonly limits: readonly StepLimits[];
}

interface TighteningOptions {
  readonly inForce: LimitsInForce;
  /** Returns the limiter after a number of steps; all are over one store. */
  readonly limiterAt: (steps: number) => Limiter | undefined;
  /** The part of each limit that the limiters may use. */
  readonly share: number;
}

/**
 * `tightened`: from now on, all instances keep tighter limits. `not_ours`: within the window they sent no more than the
 * tightest limits allow, so that no step would have helped: others use the app key, or the upstream blocks the address.
 * `none_tighter`: no step has smaller figures for such requests.
 */
export type Verdict = 'tightened' | 'not_ours' | 'none_tighter';

/** Time that clocks and the network may add to a window. */
const marginMs = 2000;
/** Shortest pause after a step: outlasts any request begun before other instances know of the step; see `maxAgeMs`. */
const minStepPauseMs = 62_000;
const minPauseMs = 10_000;

/** Pauses the refused kind of request, and if a step would have sent less, all instances take it. */
export async function tightenAfter(
  { appKey, steps, retryAfterMs, limits }: RefusedRequest,
  { inForce, limiterAt, share }: TighteningOptions,
): Promise<Verdict> {
  const windowMsAt = (at: number) => 1000 * (limits[at]!.counters.at(-1)?.perSeconds ?? 0) + marginMs;
  const pause = async (at: number, ms: number, name = limits[at]!.outer) => {
    if (name !== undefined) await limiterAt(at)?.block(appKey, name, ms);
  };
  const narrowest = limits[steps]!.counters.at(-1);
  await pause(steps, retryAfterMs ?? Math.max(minPauseMs, windowMsAt(steps)), narrowest?.name);
  // Other instances may keep wider limits, and the counters of these steps do not include their requests.
  const widest = await inForce.widest(steps);
  const next = await nextSteps(limits, widest, share, async (name) => limiterAt(widest)?.used(appKey, name));
  if (typeof next === 'string') return next;
  // The next limits' counters lack earlier requests, which must first leave the window.
  const stepMs = Math.max(minStepPauseMs, windowMsAt(next), retryAfterMs ?? 0);
  await pause(steps, stepMs);
  await pause(next, stepMs);
  await inForce.tighten(next);
  return 'tightened';
}

/**
 * Finds the first steps beyond `steps` that would have sent less.
 *
 * @param usedOf number of requests in the window of a limit after `steps`; undefined when it is unknown
 */
async function nextSteps(
  limits: readonly StepLimits[],
  steps: number,
  share: number,
  usedOf: (name: string) => Promise<number | undefined>,
): Promise<number | Exclude<Verdict, 'tightened'>> {
  const { counters } = limits[steps]!;
  const before = counters.at(-1);
  const tighter = limits.flatMap(({ counters: later }, next) => {
    const counter = later.at(-1);
    const isSame = counter?.requests === before?.requests && counter?.perSeconds === before?.perSeconds;
    return next > steps && counter && !isSame ? [{ ...counter, next }] : [];
  });
  if (tighter.length === 0) return 'none_tighter';
  const used = await Promise.all(
    counters.map(async ({ name, perSeconds }) => ({
      count: (await usedOf(name)) ?? Number.POSITIVE_INFINITY,
      perSeconds,
    })),
  );
  const found = tighter.find(({ requests, perSeconds }) => {
    // A count over a shorter window says too little: more may have been sent in the longer one.
    const counts = used.filter((one) => one.perSeconds >= perSeconds).map(({ count }) => count);
    return Math.min(...counts) > Math.floor(requests * share);
  });
  return found?.next ?? 'not_ours';
}
