/** Chooses the symbols that sessions carry: those in most demand that the upstream streams, without moving one in and out again. */

import type { CategorySymbol, SubscriptionRefusal, WantedSymbol } from './ports.ts';

/** Symbols that replace others within one assignment: each move costs requests of the shared limit. */
const maxMoves = 20;

/** A symbol replaces one that is carried when its demand is so many times as high. */
const hysteresis = 1.5;

/** A symbol with its category, as one text. */
export const keyOf = ({ category, symbol }: CategorySymbol): string => `${category} ${symbol}`;

export function symbolOf(key: string): CategorySymbol {
  const at = key.indexOf(' ');
  return { category: key.slice(0, at), symbol: key.slice(at + 1) };
}

/**
 * Chooses the symbols to carry next.
 *
 * @param carried keys of the symbols that are carried now
 * @param wanted all that clients ask for, by falling demand
 * @param capacity number of symbols that all sessions together may carry
 * @returns keys
 */
export function assign(
  carried: ReadonlySet<string>,
  wanted: readonly WantedSymbol[],
  capacity: number,
): ReadonlySet<string> {
  const demand = new Map(wanted.map((one) => [keyOf(one), one.demand]));
  // Symbols that clients no longer ask for are given up: each change of one costs a write and reads.
  const next = new Set([...carried].filter((key) => demand.has(key)).slice(0, capacity));
  const weakest = [...next].sort((a, b) => (demand.get(a) ?? 0) - (demand.get(b) ?? 0));
  let moves = 0;
  for (const one of wanted) {
    const key = keyOf(one);
    if (next.has(key)) continue;
    if (next.size >= capacity) {
      const out = moves++ < maxMoves ? weakest.shift() : undefined;
      if (out === undefined || one.demand < hysteresis * (demand.get(out) ?? 0) || one.demand === 0) break;
      next.delete(out);
    }
    next.add(key);
  }
  return next;
}

/** The upstream was seen to refuse symbols for a moment that it streams otherwise. */
const leftOutMs = 600_000;
/** Codes about a category as a whole. */
const aboutCategory = ['MARKET_DATA_NOT_SUBSCRIBED', 'UNSUPPORTED_CATEGORY', 'ILLEGAL_PARAMETER'];

/** Symbols and categories that the upstream refuses to stream: they are left out for a while. */
export class Refusals {
  readonly #until = new Map<string, number>();
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Leaves out the symbols that the upstream names; all where it names none. */
  add({ code, message }: SubscriptionRefusal, symbols: readonly CategorySymbol[]): void {
    const until = this.#clock() + leftOutMs;
    const [first] = symbols;
    if (aboutCategory.includes(code) && first) this.#until.set(first.category, until);
    if (code !== 'INVALID_SYMBOL') return;
    const words = new Set(message.split(/[^\w.-]+/));
    const named = symbols.filter(({ symbol }) => words.has(symbol));
    for (const one of named.length > 0 ? named : symbols) this.#until.set(keyOf(one), until);
  }

  has(one: CategorySymbol): boolean {
    const now = this.#clock();
    return [one.category, keyOf(one)].some((key) => (this.#until.get(key) ?? 0) > now);
  }
}
