/**
 * Last prices for one instance: out of its memory, else of what all instances share, else by one call of the upstream.
 * Concurrent questions for one symbol share one look and one call.
 */

import { type Ages, createAges, type Moment } from '../kernel/age.ts';
import { putLatest } from '../kernel/bounded-map.ts';
import { type After, endOf } from '../kernel/pauses.ts';
import type { LastPrice, LastPrices } from './last-price.ts';

export interface SharedLastPricesOptions {
  /** What other instances have fetched. Default nothing. */
  readonly store?: SharedPrices;
  readonly upstreamRead: UpstreamRead;
  /** Now, in milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** See `createAges`. */
  readonly monotonic?: () => number;
  /** Default the platform's timer. */
  readonly after?: After | undefined;
  /** Called when a price could not be read. An error that it throws is ignored. */
  readonly reportFailure?: ((failure: LastPriceFailure) => void) | undefined;
}

/**
 * Port: what other instances have fetched of a symbol, and not before `since`. Rejects when that cannot be read, and ends
 * by itself.
 */
export type SharedPrices = (symbol: string, since: number) => Promise<LastPrice | undefined>;

/** Port: asks the upstream for one symbol, on behalf of a user where one is known, and gives up at `endBy`. */
export type UpstreamRead = (
  symbol: string,
  endBy: number,
  user: string | undefined,
) => Promise<UpstreamPrice>;

export type UpstreamPrice =
  | { readonly kind: 'found'; readonly found: LastPrice }
  /** The upstream has no such symbol, or no price of it. */
  | { readonly kind: 'unknown' }
  /** @property code of the refusal */
  | { readonly kind: 'failed'; readonly code: string };

export type LastPriceFailure =
  | { readonly step: 'shared' | 'upstream'; readonly cause: unknown }
  | { readonly step: 'upstream'; readonly code: string };

/** A call serves later questions, too: it does not end with the question that began it. An order can wait no longer. */
const upstreamMs = 3000;
/** So long a symbol without a price is not asked for again: each question would cost a permit that quotes need. */
const unknownMs = 10_000;
/** Clocks of instances differ by less. A price of a later time was dated by a wrong clock, and would seem fresh for long. */
export const maxAheadMs = 1000;
const isAhead = (passedMs: number): boolean => passedMs < -maxAheadMs;

interface Known {
  readonly price: LastPrice;
  readonly keptAt: Moment;
  /** How old it was then. */
  readonly ageMs: number;
}

/** Of a call that got no permit: whom it was for. */
type Unpermitted = { readonly user: string | undefined } | undefined;

/** Symbols that an instance remembers: a record of each is some hundred bytes. */
const maxKnown = 1000;
/** A question that never ends is bounded by the look and by the call. A timer takes no longer time than this. */
const maxTimerMs = 60_000;

/** Printable ASCII without the comma, which separates symbols. */
const oneSymbol = /^[!-+\--~]{1,64}$/;

/**
 * @example
 * const prices = createSharedLastPrices({ upstreamRead });
 * await prices.lastPrice('AAPL', 15_000, Date.now() + 2000); // { price: '227.10', at: 1795239000000 }
 */
export const createSharedLastPrices = (options: SharedLastPricesOptions): LastPrices =>
  new SharedLastPrices(options);

class SharedLastPrices implements LastPrices {
  readonly #options: SharedLastPricesOptions;
  readonly #clock: () => number;
  readonly #ages: Ages;
  readonly #known = new Map<string, Known>();
  readonly #unknownSince = new Map<string, Moment>();
  readonly #looks = new Map<string, Promise<void>>();
  readonly #calls = new Map<string, Promise<Unpermitted>>();

  constructor(options: SharedLastPricesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    this.#ages = createAges(this.#clock, options.monotonic);
  }

  async lastPrice(
    symbol: string,
    maxAgeMs: number,
    endBy: number,
    user?: string,
  ): Promise<LastPrice | undefined> {
    if (!oneSymbol.test(symbol)) return undefined;
    const known = this.#fresh(symbol, maxAgeMs);
    if (known || this.#clock() >= endBy) return known;
    const { store } = this.#options;
    if (store) {
      const since = this.#clock() - maxAgeMs;
      await this.#until(
        endBy,
        share(this.#looks, symbol, () => this.#look(store, symbol, since)),
      );
      const shared = this.#fresh(symbol, maxAgeMs);
      if (shared || this.#clock() >= endBy) return shared;
    }
    const unknownSince = this.#unknownSince.get(symbol);
    if (unknownSince && this.#ages.since(unknownSince) < unknownMs) return undefined;
    await this.#until(endBy, this.#ask(symbol, endBy, user));
    return this.#fresh(symbol, maxAgeMs);
  }

  /** Who waited for the call of another user, whose share may be used up, makes a call if that one got no permit. */
  async #ask(symbol: string, endBy: number, user: string | undefined): Promise<void> {
    const call = (key: string) => share(this.#calls, key, () => this.#call(symbol, user));
    const unpermitted = await call(symbol);
    if (unpermitted && unpermitted.user !== user && this.#clock() < endBy) await call(`${symbol} ${user}`);
  }

  #fresh(symbol: string, maxAgeMs: number): LastPrice | undefined {
    const known = this.#known.get(symbol);
    return known && this.#ageOf(known) <= maxAgeMs ? known.price : undefined;
  }

  /** By the time that it has, which another instance may have written, and by how long it is known here. */
  #ageOf({ price, keptAt, ageMs }: Known): number {
    const passed = this.#clock() - price.at;
    return isAhead(passed) ? Number.POSITIVE_INFINITY : Math.max(passed, ageMs + this.#ages.since(keptAt));
  }

  /** Never rejects. */
  async #look(store: SharedPrices, symbol: string, since: number): Promise<void> {
    try {
      const found = await store(symbol, since);
      if (found) this.#keep(symbol, found);
    } catch (cause) {
      this.#report({ step: 'shared', cause });
    }
  }

  /** Never rejects. */
  async #call(symbol: string, user: string | undefined): Promise<Unpermitted> {
    try {
      const answer = await this.#options.upstreamRead(symbol, this.#clock() + upstreamMs, user);
      if (answer.kind === 'found') this.#keep(symbol, answer.found);
      else if (answer.kind === 'unknown') putLatest(this.#unknownSince, symbol, this.#ages.now(), maxKnown);
      else this.#report({ step: 'upstream', code: answer.code });
      return answer.kind === 'failed' && answer.code === 'budget_used_up' ? { user } : undefined;
    } catch (cause) {
      this.#report({ step: 'upstream', cause });
      return undefined;
    }
  }

  #keep(symbol: string, found: LastPrice): void {
    const passed = this.#clock() - found.at;
    const known = this.#known.get(symbol);
    // What a clock dated that was ahead, and was put right, must not outlive what is read since.
    const isOlder = known && Number.isFinite(this.#ageOf(known)) && found.at < known.price.at;
    if (isAhead(passed) || isOlder) return;
    const kept = { price: found, keptAt: this.#ages.now(), ageMs: Math.max(0, passed) };
    putLatest(this.#known, symbol, kept, maxKnown);
  }

  /** Resolves with the work, or at `endBy`: the work goes on for other questions. */
  #until(endBy: number, work: Promise<void>): Promise<void> {
    return endOf(work, Math.min(maxTimerMs, endBy - this.#clock()), this.#options.after);
  }

  #report(failure: LastPriceFailure): void {
    try {
      this.#options.reportFailure?.(failure);
    } catch {
      // A log that fails must not fail a check.
    }
  }
}

/** Of those that wait for the same symbol, the first one begins the work. */
function share<T>(underWay: Map<string, Promise<T>>, symbol: string, begin: () => Promise<T>): Promise<T> {
  const other = underWay.get(symbol);
  if (other) return other;
  const work = begin().finally(() => underWay.delete(symbol));
  underWay.set(symbol, work);
  return work;
}
