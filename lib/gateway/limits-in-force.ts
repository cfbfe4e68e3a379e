/**
 * The choice of limits that all instances keep: the configured one, or a tighter one after the upstream refused requests
 * within it. The number of steps is in the limiter's store, so that all functions share it, until an operator removes it.
 */

import { limitsText, type UpstreamLimits } from '../catalogue/limits.ts';
import { steadyClock } from '../kernel/age.ts';
import { type After, within } from '../kernel/pauses.ts';
import type { LimiterItem, LimiterStore } from '../limiter/index.ts';

export interface LimitsInForce {
  /** Steps tighter than the configured choice, as far as this instance knows; 0 is the configured choice itself. */
  readonly known: number;
  /** The steps, read from the store again when the last read is older than 30 s. Never rejects. */
  current(): Promise<number>;
  /** Raises the number of steps, never lowers it. Never rejects: a failed write is repeated later. */
  tighten(steps: number): Promise<void>;
  /**
   * The steps of the widest choice under which some instance may have sent requests that are still in the upstream's
   * window. The store shows whether that can be a choice wider than `steps`. Never rejects.
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
 * The key of the store's item. It contains the configured choice, so that another configured choice begins without steps.
 *
 * @example
 * limitsInForceKey('countersign', 'interface'); // 'countersign.limits#interface'
 */
export const limitsInForceKey = (bucket: string, configured: UpstreamLimits): string =>
  `${bucket}.limits#${limitsText(configured)}`;

/**
 * Longest time between two reads of the store. A request that begins with steps of this age ends at most 29 s later, which
 * is before the pause of a minute after each step is over.
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
/** Most tries to write: conflicts are rare, because instances write only after a 429. */
const maxTries = 6;
/** Ten years, as good as until an operator removes the steps. */
const keepMs = 10 * 365 * 86_400_000;

/**
 * One instance's knowledge of the limits in force.
 *
 * @example
 * const key = limitsInForceKey('main', 'interface');
 * const inForce = createLimitsInForce({ store, key });
 * const gateway = createGateway({ …, limiter: limiterFor('interface'), tightening: { inForce, limiterFor } });
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

  /** Reads the item, and raises it to the steps that are not stored yet. */
  async function settle(): Promise<void> {
    for (let tries = 0, item = await bounded(store.read(key)); tries < maxTries; tries++) {
      const stored = stepsOf(item);
      if (stored >= owed) {
        [known, owed] = [stored, 0];
        return;
      }
      const now = clock();
      const answer = await bounded(store.replace(key, item, itemOf(owed, now), now + keepMs));
      item = answer.item;
    }
    throw new Error('The limiter lost every race for the item of its limits.');
  }

  function refresh(): Promise<void> {
    reading ??= settle()
      .then(
        () => {
          readAgainAt = steady() + maxAgeMs;
        },
        () => {
          readAgainAt = steady() + retryMs;
        },
      )
      .finally(() => {
        reading = undefined;
      });
    return reading;
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
