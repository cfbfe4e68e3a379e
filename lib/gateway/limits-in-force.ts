/**
 * Which choice of limits all instances keep: the configured one, or one that is tighter by some steps since the upstream
 * refused a request in spite of it. The steps stand in the limiter's store, so that they hold for all functions and
 * outlast them, until an operator takes them away.
 */

import { limitsText, type UpstreamLimits } from '../catalogue/limits.ts';
import { steadyClock } from '../kernel/age.ts';
import { type After, within } from '../kernel/pauses.ts';
import type { LimiterItem, LimiterStore } from '../limiter/index.ts';

export interface LimitsInForce {
  /** Steps from the configured choice, as far as this instance knows; 0 is the choice itself. */
  readonly known: number;
  /** The same, read again when it was read long ago. Never rejects. */
  current(): Promise<number>;
  /** Goes over to so many steps, or stays at more. Never rejects: what cannot be stored is stored later. */
  tighten(steps: number): Promise<void>;
  /**
   * The widest choice under which an instance may have sent something that is still in the upstream's window, as far as
   * the store knows: what was sent under a choice of so many steps cannot be judged by it alone. Never rejects.
   */
  widest(steps: number): Promise<number>;
}

export interface LimitsInForceOptions {
  readonly store: LimiterStore;
  /** As `limitsInForceKey` makes it. */
  readonly key: string;
  /** Now, in milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Default `afterTimeout`. */
  readonly after?: After;
}

/**
 * The key of the item. It has the configured choice, so that another choice begins without steps.
 *
 * @example
 * limitsInForceKey('countersign', 'interface'); // 'countersign.limits#interface'
 */
export const limitsInForceKey = (bucket: string, configured: UpstreamLimits): string =>
  `${bucket}.limits#${limitsText(configured)}`;

/**
 * A request that begins with knowledge of this age ends, at most 29 s later, before the pause that goes with each step is
 * over, which is a window of a minute.
 */
const maxAgeMs = 30_000;
/**
 * Half a minute of knowledge, half a minute that a request takes, a window of a minute, and what clocks add: so long after
 * a step the window may hold what was sent before it.
 */
const mixedMs = 122_000;
/** After a failure of the store. */
const retryMs = 5000;
/** A request does not wait longer for the store. */
const timeoutMs = 300;
/** Others write here only when the upstream refuses. */
const maxTries = 6;
/** Ten years: until an operator says otherwise. */
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
  /** What this instance has decided and not stored yet. */
  let owed = 0;
  let readAgainAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const bounded = <T>(operation: Promise<T>) => within(operation, timeoutMs, after);

  /** Reads the item, and brings it to what is owed. */
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
      // One that is under way may have read already.
      await reading;
      await refresh();
    },
    async widest(steps) {
      if (steps === 0) return 0;
      try {
        const item = await bounded(store.read(key));
        const stored = stepsOf(item);
        // An operator has ended the steps, or has done so and another instance has taken them again.
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

/** How many steps an item stands for; of one that cannot be read none. */
export function stepsOf(item: Pick<LimiterItem, 'text'> | undefined): number {
  try {
    const { version, steps } = JSON.parse(item?.text ?? '{}') as { version?: unknown; steps?: unknown };
    return version === 1 && Number.isSafeInteger(steps) && (steps as number) > 0 ? (steps as number) : 0;
  } catch {
    return 0;
  }
}
