/** Symbols of calls that the upstream refused: at least one of each group is invalid, and bisection finds which. */

import { dropOldest } from '../../kernel/bounded-map.ts';
import type { UpstreamError } from './upstream-error.ts';

/** They are probed together, and with no other symbol. */
export interface SuspectGroup {
  readonly symbols: readonly string[];
  /** The other half of the call: if this group is valid, that one is not. */
  readonly sibling: readonly string[];
  readonly error: UpstreamError;
  /** In which view the symbols were asked for, and for whom. */
  readonly view: string;
  readonly caller: string;
  /** When the call was sent. */
  readonly at: number;
  /** When a symbol that is served failed alone for the first time. */
  readonly failedAt?: number;
}

/** How long after a symbol that is served failed alone it is probed again. */
export const retryAloneMs = 10_000;

/** No symbol contains it. */
const separator = '\n';
const keyOf = (symbol: string, view: string) => `${view}${separator}${symbol}`;

export class SuspectGroups {
  readonly #max: number;
  readonly #exists: (symbol: string) => boolean;
  /** Of a symbol that exists by symbol and view, of others by symbol alone. */
  readonly #groups = new Map<string, SuspectGroup>();

  constructor(max: number, exists: (symbol: string) => boolean) {
    this.#max = max;
    this.#exists = exists;
  }

  find(symbol: string, view: string): SuspectGroup | undefined {
    return this.#groups.get(keyOf(symbol, view)) ?? this.#groups.get(symbol);
  }

  /** Of a symbol that is not known to exist. */
  findUnproven(symbol: string): SuspectGroup | undefined {
    return this.#groups.get(symbol);
  }

  /** Whether a symbol that exists is suspect in the view. */
  hasInView(symbol: string, view: string): boolean {
    return this.#groups.has(keyOf(symbol, view));
  }

  add(symbol: string, group: SuspectGroup): void {
    this.remove(symbol, group.view);
    this.#groups.set(this.#exists(symbol) ? keyOf(symbol, group.view) : symbol, group);
    dropOldest(this.#groups, this.#max);
  }

  remove(symbol: string, view: string): void {
    this.#groups.delete(keyOf(symbol, view));
    this.#groups.delete(symbol);
  }

  /** Whether it failed alone so lately that its next probe has to wait. */
  isBackedOff(symbol: string, view: string, now: number): boolean {
    return isBackedOff(this.find(symbol, view), now);
  }

  /**
   * Groups to probe now; of two halves the first.
   *
   * @param isDecided whether the directory says of a symbol that was suspect before whether it exists
   */
  pending(now: number, isDecided: (symbol: string) => boolean): readonly SuspectGroup[] {
    const found = new Set<SuspectGroup>();
    for (const [key, group] of this.#groups) {
      if (!key.includes(separator) && isDecided(key)) {
        this.#groups.delete(key);
        continue;
      }
      if (isBackedOff(group, now)) continue;
      const isSecondHalf = group.sibling.some((symbol) => found.has(this.find(symbol, group.view)!));
      if (!isSecondHalf) found.add(group);
    }
    return [...found];
  }
}

const isBackedOff = (group: SuspectGroup | undefined, now: number) =>
  group?.failedAt !== undefined && now >= group.failedAt && now < group.failedAt + retryAloneMs;
