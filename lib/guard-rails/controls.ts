/**
 * What operators have set: limits and stops, for the stack, for accounts and for users. Port of their store, and the
 * reader that every instance has of it: nothing that is older than five seconds counts.
 */

import { createAges, type Moment } from '../kernel/age.ts';
import { putLatest } from '../kernel/bounded-map.ts';
import { within } from '../kernel/pauses.ts';
import type { TradingLimits } from './limits.ts';

/** What an operator has set for one scope. */
export interface Control {
  /** Of its last change: 1, 2, 3 … */
  readonly version: number;
  /** Of the gateway's scope also with null in place of a value, where the deployment's own limit is not to count. */
  readonly limits: TradingLimits;
  /** Present while placing and replacing are stopped. */
  readonly stopped?: Stop;
}

export interface Stop {
  /** When, in milliseconds since the epoch. */
  readonly at: number;
}

/** Port: the store of controls, as instances read it. */
export interface ControlStore {
  /** Those that are set, by key; a read sees every change that was made before. Rejects when the store is away. */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, Control>>;
}

/** Controls as they were at a moment. */
interface ReadControls {
  readonly controls: ReadonlyMap<string, Control>;
  /** How long ago the oldest of them began to be read, in milliseconds. */
  readonly ageMs: number;
}

export interface Controls {
  /** @throws the store's error when it is away and what is known is too old */
  read(keys: readonly string[]): Promise<ReadControls>;
}

/** Keys of scopes in a store. */
export const stackScope = 'stack';
/** @param name the account's keyed name */
export const accountScope = (name: string): string => `account ${name}`;
/** @param name the user's keyed name */
export const userScope = (name: string): string => `user ${name}`;

/**
 * In place of a scope: what a store finds by itself. A control that is stopped there says that a table was restored to an
 * earlier time, so that it is not known what operators have set, or what was sent.
 */
export const restoredScope = 'restored';
export const restoredControl: Control = { version: 0, limits: {}, stopped: { at: 0 } };

/** So long counts what was read: a stop is effective after that in every instance. */
export const maxControlAgeMs = 5000;
/** From this age on it is read again, beside the request that found it so old. */
const refreshAfterMs = 1500;
/** From this age on a request waits for it, so that it has time left to be sent. */
const waitAfterMs = 3000;
/** A store that does not answer by then counts as away. */
const maxWaitMs = 1000;
/** Of accounts and users that have not been heard of for a while, the oldest are forgotten. */
const maxKnown = 1000;

interface Known {
  readonly control: Control | undefined;
  readonly readAt: Moment;
  /** Which read it was: clocks do not say which of two was later. */
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
    // The moment of asking: what an operator changes while the answer is on its way may not be in it.
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
