/** Symbols and categories that the upstream refuses to stream: they are left out for a while. */

import { keyOf } from './assign.ts';
import type { WantedSymbol } from './ports.ts';
import type { Refused } from './session.ts';

/** The upstream was seen to refuse symbols for a moment that it streams otherwise. */
const forMs = 600_000;
/** Codes about a category as a whole. */
const aboutCategory = ['MARKET_DATA_NOT_SUBSCRIBED', 'UNSUPPORTED_CATEGORY', 'ILLEGAL_PARAMETER'];

export class Refusals {
  readonly #until = new Map<string, number>();
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Of symbols that the upstream names, those alone; where it names none, all. */
  add({ code, message }: Refused, symbols: readonly WantedSymbol[]): void {
    const until = this.#clock() + forMs;
    const [first] = symbols;
    if (aboutCategory.includes(code) && first) this.#until.set(first.category, until);
    if (code !== 'INVALID_SYMBOL') return;
    const words = new Set(message.split(/[^\w.-]+/));
    const named = symbols.filter(({ symbol }) => words.has(symbol));
    for (const one of named.length > 0 ? named : symbols) this.#until.set(keyOf(one), until);
  }

  has(one: WantedSymbol): boolean {
    const now = this.#clock();
    return [one.category, keyOf(one)].some((key) => (this.#until.get(key) ?? 0) > now);
  }
}
