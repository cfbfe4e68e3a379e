/**
 * What is listed: the universe of a seed, and what was listed and delisted since by who runs the simulator.
 * A cursor asks what there was at the moment of its first page.
 */

import type { Category, Instrument } from './instrument.ts';
import { isActive, newInstrument } from './make-instrument.ts';
import { createActive, createUniverse, type Universe } from './universe.ts';

interface Change {
  /** Unix time in milliseconds. */
  readonly time: number;
  readonly symbol: string;
  /** What the symbol meant before; undefined where it was listed. */
  readonly before: Instrument | undefined;
}

export class Listings implements Universe {
  readonly #seed: number;
  readonly #active: Map<string, Instrument>;
  /** Made when a request first asks for an instrument that is not active. */
  #all: Map<string, Instrument> | undefined;
  readonly #changes: Change[] = [];
  /** How many instruments there ever were. */
  #count = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#active = new Map(createActive(seed));
  }

  get(symbol: string): Instrument | undefined {
    return this.#active.get(symbol) ?? this.#whole().get(symbol);
  }

  /** In the order of their identifiers. */
  values(): MapIterator<Instrument> {
    return this.#whole().values();
  }

  /** What was listed at a moment. */
  at(time: number): Universe {
    const later = this.#changes.filter((change) => change.time > time);
    if (later.length === 0) return this;
    const then = new Map(this.#whole());
    for (const { symbol, before } of later.toReversed()) {
      if (before) then.set(symbol, before);
      else then.delete(symbol);
    }
    const ordered = [...then.values()].sort((a, b) => Number(a.instrumentId) - Number(b.instrumentId));
    return new Map(ordered.map((one) => [one.symbol, one]));
  }

  /** What was listed at a moment and is traded actively. */
  active(time: number): readonly Instrument[] {
    const then = this.at(time);
    return then === this ? [...this.#active.values()] : [...then.values()].filter(isActive);
  }

  /** @throws when the symbol is listed, or is none */
  list(symbol: string, category: Category, now: number): void {
    if (!/^[A-Z]{1,5}$/.test(symbol)) throw new Error(`${symbol} is no symbol: one to five capital letters`);
    if (this.get(symbol)) throw new Error(`${symbol} is listed already`);
    const whole = this.#whole();
    const instrument = newInstrument(this.#seed, symbol, category, this.#count++);
    whole.set(symbol, instrument);
    this.#active.set(symbol, instrument);
    this.#changes.push({ time: now, symbol, before: undefined });
  }

  /** @throws when the symbol is not listed */
  delist(symbol: string, now: number): void {
    const before = this.get(symbol);
    if (!before) throw new Error(`${symbol} is not listed`);
    this.#whole().delete(symbol);
    this.#active.delete(symbol);
    this.#changes.push({ time: now, symbol, before });
  }

  #whole(): Map<string, Instrument> {
    if (!this.#all) {
      this.#all = new Map(createUniverse(this.#seed));
      this.#count = this.#all.size;
    }
    return this.#all;
  }
}
