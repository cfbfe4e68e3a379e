/**
 * The units that one partition key of a DynamoDB table is charged, and its cap a second, above which it
 * throttles. A token bucket of one second; a real key may exceed the cap for a moment, and never for long.
 */

import type { LimiterItem } from '../../../lib/limiter/index.ts';
import type { VirtualTime } from '../../world/virtual-time.ts';

export interface Units {
  readonly read: number;
  readonly write: number;
}

export type UnitKind = keyof Units;

/** DynamoDB's own, of any partition. */
export const keyCap: Units = { read: 3000, write: 1000 };

export class KeyUnits {
  /** Requests that the key refused; they cost nothing. */
  throttled = 0;
  readonly #clock: VirtualTime;
  readonly #cap: Units | undefined;
  readonly #bySecond: Record<UnitKind, Map<number, number>> = { read: new Map(), write: new Map() };
  readonly #left: Record<UnitKind, { tokens: number; at: number }>;

  constructor(clock: VirtualTime, cap?: Units) {
    this.#clock = clock;
    this.#cap = cap;
    this.#left = {
      read: { tokens: cap?.read ?? 0, at: clock.now() },
      write: { tokens: cap?.write ?? 0, at: clock.now() },
    };
  }

  /** False when the key is throttled. */
  take(kind: UnitKind, units: number): boolean {
    const now = this.#clock.now();
    const asked = this.#bySecond[kind];
    const second = Math.floor(now / 1000);
    asked.set(second, (asked.get(second) ?? 0) + units);
    const cap = this.#cap?.[kind];
    if (cap === undefined) return true;
    const left = this.#left[kind];
    left.tokens = Math.min(cap, left.tokens + ((now - left.at) / 1000) * cap);
    left.at = now;
    if (left.tokens < units) {
      this.throttled++;
      return false;
    }
    left.tokens -= units;
    return true;
  }

  /** The most units that were asked for in any second from a time on, throttled ones included. */
  peak(kind: UnitKind, from = 0): number {
    const seconds = [...this.#bySecond[kind]].filter(([second]) => second >= Math.floor(from / 1000));
    return Math.max(0, ...seconds.map(([, units]) => units));
  }

  total(kind: UnitKind, from = 0): number {
    const seconds = [...this.#bySecond[kind]].filter(([second]) => second >= Math.floor(from / 1000));
    return seconds.reduce((sum, [, units]) => sum + units, 0);
  }
}

/** As DynamoDB counts an item: names and values of attributes, a number by its digits, a map by its entries. */
export function bytesOf(item: LimiterItem | undefined): number {
  if (!item) return 0;
  const number = (value: number) => Math.ceil(String(value).length / 2) + 1;
  const counters = Object.entries(item.counters).map(([name, value]) => name.length + number(value) + 1);
  return (
    // pk, revision, counters, text, written_at and expires_at, and the key that a deployment has.
    2 +
    44 +
    8 +
    item.revision.length +
    8 +
    3 +
    counters.reduce((sum, one) => sum + one, 0) +
    4 +
    new TextEncoder().encode(item.text).length +
    10 +
    number(item.writtenAt) +
    10 +
    6
  );
}

export const readUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 4096));
export const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1024));
