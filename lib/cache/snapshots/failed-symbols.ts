/**
 * Symbols that failed: suspects of a call that the upstream refused, among which bisection finds the invalid one,
 * negative entries of those that proved invalid, and how far the upstream's error messages can be trusted.
 */

import { dropOldest } from '../../kernel/bounded-map.ts';
import type { UpstreamError } from './ports.ts';
import type { NegativeItem } from './store.ts';

/** Negative entries, and suspect symbols, that an instance holds of a category. */
export const maxNegative = 10_000;

/** Symbols that are probed together, and with no other. */
export interface SuspectGroup {
  readonly symbols: readonly string[];
  /** The other half of the call: if this group is valid, that one is not. */
  readonly sibling: readonly string[];
  readonly error: UpstreamError;
  /** The view in which the symbols were asked for, and the caller for whom. */
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
  readonly #exists: (symbol: string) => boolean;
  /** A symbol that exists has its group by symbol and view, any other by symbol alone. */
  readonly #groups = new Map<string, SuspectGroup>();

  constructor(exists: (symbol: string) => boolean) {
    this.#exists = exists;
  }

  find(symbol: string, view: string): SuspectGroup | undefined {
    return this.#groups.get(keyOf(symbol, view)) ?? this.#groups.get(symbol);
  }

  /** The group of a symbol that is not known to exist. */
  findUnproven(symbol: string): SuspectGroup | undefined {
    return this.#groups.get(symbol);
  }

  /** When the call was sent that made the symbol suspect in the view; minus infinity if it is not suspect. */
  since(symbol: string, view: string): number {
    return this.find(symbol, view)?.at ?? Number.NEGATIVE_INFINITY;
  }

  /** Whether a symbol that exists is suspect in the view. */
  hasInView(symbol: string, view: string): boolean {
    return this.#groups.has(keyOf(symbol, view));
  }

  add(symbol: string, group: SuspectGroup): void {
    this.remove(symbol, group.view);
    this.#groups.set(this.#exists(symbol) ? keyOf(symbol, group.view) : symbol, group);
    dropOldest(this.#groups, maxNegative);
  }

  remove(symbol: string, view: string): void {
    this.#groups.delete(keyOf(symbol, view));
    this.#groups.delete(symbol);
  }

  /** Whether the symbol failed alone so lately that its next probe has to wait. */
  isBackedOff(symbol: string, view: string, now: number): boolean {
    return isBackedOff(this.find(symbol, view), now);
  }

  /**
   * Groups to probe now; only the first of two halves.
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

export interface NegativeEntry {
  /** The view in which it was asked for. */
  readonly view: string;
  readonly until: number;
  /** How the upstream refused it; absent when the upstream left it out of its answer. */
  readonly error?: UpstreamError;
  /** A first, short entry of a symbol that still counts as valid; if it fails once more, the next lasts long. */
  readonly isFirst?: true;
}

/** How long a symbol that the upstream does not know is negative-cached; a first entry lasts shorter. */
export const negativeMs = 600_000;
export const firstNegativeMs = 30_000;

export class NegativeCache {
  /** Entries by symbol and view. */
  readonly #entries = new Map<string, Map<string, NegativeEntry>>();

  /** Whether there is an entry in any view, however long ago. */
  hasAny(symbol: string): boolean {
    return this.#entries.has(symbol);
  }

  get(symbol: string, view: string): NegativeEntry | undefined {
    return this.#entries.get(symbol)?.get(view);
  }

  /** The symbol becomes the youngest of all, because the oldest are dropped first. */
  add(symbol: string, entry: NegativeEntry): void {
    const views = this.#entries.get(symbol) ?? new Map<string, NegativeEntry>();
    views.set(entry.view, entry);
    this.#entries.delete(symbol);
    this.#entries.set(symbol, views);
    dropOldest(this.#entries, maxNegative);
  }

  remove(symbol: string, view: string): void {
    const views = this.#entries.get(symbol);
    if (views?.delete(view) && views.size === 0) this.#entries.delete(symbol);
  }

  /** When this instance learnt that the symbol is unknown in the view; minus infinity if never. */
  since(symbol: string, view: string): number {
    const entry = this.get(symbol, view);
    return entry ? entry.until - (entry.isFirst ? firstNegativeMs : negativeMs) : Number.NEGATIVE_INFINITY;
  }

  /** Entries of the `max` youngest symbols. */
  latest(max: number, now: number): readonly NegativeItem[] {
    return [...this.#entries]
      .slice(-max)
      .flatMap(([symbol, views]) =>
        [...views.values()].flatMap(({ view, until, isFirst }) =>
          until > now && !isFirst ? [[view, symbol, until] as const] : [],
        ),
      );
  }
}

export const noMessage: UpstreamError = { status: 417, errorCode: 'INVALID_SYMBOL' };

/** The error for one symbol of a call of many: the message may name another of them. */
export const withoutMessage = ({ message: _, ...error }: UpstreamError): UpstreamError => error;

/** The one of the symbols that the message names; undefined when it names none, or several. */
export function namedBy(message: string | undefined, symbols: readonly string[]): string | undefined {
  const words = new Set((message ?? '').split(/[\s,;:'"()[\]]+/));
  const named = symbols.filter((symbol) => words.has(symbol));
  return named.length === 1 ? named[0] : undefined;
}

/** Named symbols that proved unknown before messages are trusted. */
const rightToTrust = 3;

/** Whether the messages can be trusted to name the symbol that is unknown. */
export class MessageHints {
  /** Symbols that a message named and no call has confirmed or refuted yet. */
  readonly named = new Set<string>();
  #right = 0;
  #wrong = 0;

  get areTrusted(): boolean {
    return this.#right >= rightToTrust && this.#wrong === 0;
  }

  /** Takes over the trust of another instance, which has seen more messages. */
  trust(): void {
    this.#right = Math.max(this.#right, rightToTrust);
  }

  /** Counts the message that named a symbol, if one did, as right or wrong. */
  check(symbol: string, isUnknown: boolean): void {
    if (!this.named.delete(symbol)) return;
    if (isUnknown) this.#right++;
    else this.#wrong++;
  }
}
