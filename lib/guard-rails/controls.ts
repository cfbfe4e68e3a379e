/**
 * The operators' controls: limits and stops, for the stack, for accounts and for users. Has the port of their store, and
 * each instance's reader, which uses no control that was read more than five seconds ago.
 */

import { createAges, type Moment } from '../kernel/age.ts';
import { putLatest } from '../kernel/bounded-map.ts';
import { within } from '../kernel/pauses.ts';
import type { TradingLimits } from './limits.ts';

/** An operator's limits and stop for one scope. */
export interface Control {
  /** Version of the last change: 1, 2, 3 … */
  readonly version: number;
  /** In the gateway's scope, null in place of a value removes the deployment's own limit. */
  readonly limits: TradingLimits;
  /** Present while placing and replacing are stopped. */
  readonly stopped?: Stop;
}

export interface Stop {
  /** When trading was stopped, in milliseconds since the epoch. */
  readonly at: number;
}

/** Port to the store of controls, for the instances that read it. */
export interface ControlStore {
  /** The controls that are set, by key; a read sees every change made before it. Rejects when the store is away. */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, Control>>;
}

/** Controls, with the age of the read. */
interface ReadControls {
  readonly controls: ReadonlyMap<string, Control>;
  /** How long ago the oldest of them began to be read, in milliseconds. */
  readonly ageMs: number;
}

export interface Controls {
  /** @throws the store's error when it is away and the known controls are too old */
  read(keys: readonly string[]): Promise<ReadControls>;
}

/** Keys of scopes in a store. */
export const stackScope = 'stack';
/** @param name the account's keyed name */
export const accountScope = (name: string): string => `account ${name}`;
/** @param name the user's keyed name */
export const userScope = (name: string): string => `user ${name}`;

/**
 * Key, in place of a scope, of a control that the store itself sets. If it is stopped, a table was restored to an earlier
 * time, so that controls or sent orders may be missing.
 */
export const restoredScope = 'restored';
export const restoredControl: Control = { version: 0, limits: {}, stopped: { at: 0 } };

/** Longest time that a read control counts: after it, a stop is effective in every instance. */
export const maxControlAgeMs = 5000;
/** Age from which a control is read again in the background of a request. */
const refreshAfterMs = 1500;
/** Age from which a request waits for a new read, so that it has time left to be sent. */
const waitAfterMs = 3000;
/** Wait after which the store counts as away. */
const maxWaitMs = 1000;
/** Most scopes that an instance remembers; it forgets those read longest ago. */
const maxKnown = 1000;

interface Known {
  readonly control: Control | undefined;
  readonly readAt: Moment;
  /** Number of the read, because clocks do not show which of two reads was later. */
  readonly read: number;
}

/**
 * @param monotonic see `createAges`
 *
 * @example
 * const controls = createControls(store, Date.now);
 */
export function createControls(store: ControlStore, clock: () => number, monotonic?: () => number): Controls {
  const ages = createAges(clock, monotonic);
  const known = new Map<string, Known>();
  let reads = 0;

  async function refresh(keys: readonly string[]): Promise<void> {
    // The age starts at the request: a change made while the answer is on its way may not be in it.
    const readAt = ages.now();
    const read = ++reads;
    const found = await store.read(keys);
    for (const key of keys) {
      if ((known.get(key)?.read ?? 0) > read) continue;
      putLatest(known, key, { control: found.get(key), readAt, read }, maxKnown);
    }
  }

  const ageOf = (key: string) => {
    const one = known.get(key);
    return one ? ages.since(one.readAt) : Number.POSITIVE_INFINITY;
  };

  return {
    async read(keys) {
      if (keys.some((key) => ageOf(key) > waitAfterMs)) {
        try {
          await within(refresh(keys), maxWaitMs);
        } catch (error) {
          if (keys.some((key) => ageOf(key) > maxControlAgeMs)) throw error;
        }
      } else if (keys.some((key) => ageOf(key) > refreshAfterMs)) refresh(keys).catch(() => {});
      const controls = keys.flatMap((key) => {
        const control = known.get(key)?.control;
        return control ? [[key, control] as const] : [];
      });
      return {
        controls: new Map(controls),
        ageMs: Math.max(...keys.map(ageOf)),
      };
    },
  };
}
