/** Which symbols the sessions carry: those in demand most that the upstream streams, without moving one in and out again. */

import type { CategorySymbol, SubscriptionAnswer, WantedSymbol } from './ports.ts';

interface AssignOptions {
  /** Symbols that all sessions together may carry. */
  readonly capacity: number;
  /** Symbols that take the place of others at once, at most: each move is paid for with requests of the shared limit. */
  readonly maxMoves: number;
}

/** What is not carried moves in when its demand is so many times that of one that is carried. */
const hysteresis = 1.5;

/** A symbol with its category, as one text. */
export const keyOf = ({ category, symbol }: CategorySymbol): string => `${category} ${symbol}`;

export function symbolOf(key: string): CategorySymbol {
  const at = key.indexOf(' ');
  return { category: key.slice(0, at), symbol: key.slice(at + 1) };
}

/**
 * What is to be carried next.
 *
 * @param carried keys of the symbols that are carried now
 * @param wanted all that clients ask for, in demand most first
 * @returns keys
 */
export function assign(
  carried: ReadonlySet<string>,
  wanted: readonly WantedSymbol[],
  { capacity, maxMoves }: AssignOptions,
): ReadonlySet<string> {
  const demand = new Map(wanted.map((one) => [keyOf(one), one.demand]));
  // What clients no longer ask for is given up: each change of it costs a write and reads.
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

export type Refused = Extract<SubscriptionAnswer, { ok: false }>;

/** The upstream was seen to refuse symbols for a moment that it streams otherwise. */
const forMs = 600_000;
/** Codes about a category as a whole. */
const aboutCategory = ['MARKET_DATA_NOT_SUBSCRIBED', 'UNSUPPORTED_CATEGORY', 'ILLEGAL_PARAMETER'];

/** Symbols and categories that the upstream refuses to stream: they are left out for a while. */
export class Refusals {
  readonly #until = new Map<string, number>();
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Of symbols that the upstream names, those alone; where it names none, all. */
  add({ code, message }: Refused, symbols: readonly CategorySymbol[]): void {
    const until = this.#clock() + forMs;
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
