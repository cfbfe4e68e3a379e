/**
 * Last prices for one instance: from its memory, else from the store that instances share, else by one call of the
 * upstream. Concurrent questions for the same symbol share one read of the store and one call.
 */

import { type Ages, createAges, type Moment } from '../kernel/age.ts';
import { putLatest } from '../kernel/bounded-map.ts';
import { type After, endOf } from '../kernel/pauses.ts';
import type { LastPrice, LastPrices } from './last-price.ts';

export interface SharedLastPricesOptions {
  /** Prices that other instances have fetched. Default none. */
  readonly store?: SharedPrices;
  readonly upstreamRead: UpstreamRead;
  /** Now, in milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Monotonic clock for ages, see `createAges`. */
  readonly monotonic?: () => number;
  /** Timer for time limits. Default the platform's. */
  readonly after?: After | undefined;
  /** Called when a price could not be read. An error that it throws is ignored. */
  readonly reportFailure?: ((failure: LastPriceFailure) => void) | undefined;
}

/**
 * Port to the price of a symbol that another instance has fetched at or after `since`. Rejects when it cannot be read, and
 * has a time limit of its own.
 */
export type SharedPrices = (symbol: string, since: number) => Promise<LastPrice | undefined>;

/** Port to the upstream: reads one symbol, on behalf of a user where one is known, and gives up at `endBy`. */
export type UpstreamRead = (
  symbol: string,
  endBy: number,
  user: string | undefined,
) => Promise<UpstreamPrice>;

export type UpstreamPrice =
  | { readonly kind: 'found'; readonly found: LastPrice }
  /** The upstream has no such symbol, or no price for it. */
  | { readonly kind: 'unknown' }
  /** @property code of the refusal */
  | { readonly kind: 'failed'; readonly code: string };

export type LastPriceFailure =
  | { readonly step: 'shared' | 'upstream'; readonly cause: unknown }
  | { readonly step: 'upstream'; readonly code: string };

/** Time limit of a call. The call outlives its first question, because it serves later ones; no order can wait longer. */
const upstreamMs = 3000;
/** Wait before a symbol without a price is read again: each read would cost a permit that quotes need. */
const unknownMs = 10_000;
/** Largest difference of instances' clocks. A price dated later comes from a wrong clock, and would seem fresh for too long. */
export const maxAheadMs = 1000;
const isAhead = (passedMs: number): boolean => passedMs < -maxAheadMs;

interface Known {
  readonly price: LastPrice;
  readonly keptAt: Moment;
  /** Age of the price at `keptAt`, in milliseconds. */
  readonly ageMs: number;
}

/** The user of a call that got no permit. */
type CallWithoutPermit = { readonly user: string | undefined } | undefined;

/** Symbols that an instance remembers: a record of each is some hundred bytes. */
const maxKnown = 1000;
/** Longest timer. A question without an end is bounded by the read of the store and the call anyway. */
const maxTimerMs = 60_000;

/** One symbol: printable ASCII without the comma, which separates symbols. */
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
  readonly #calls = new Map<string, Promise<CallWithoutPermit>>();

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

  /** Shares a call with other questions. If another user's call got no permit, makes a call for its own user. */
  async #ask(symbol: string, endBy: number, user: string | undefined): Promise<void> {
    const call = (key: string) => share(this.#calls, key, () => this.#call(symbol, user));
    const unpermitted = await call(symbol);
    if (unpermitted && unpermitted.user !== user && this.#clock() < endBy) await call(`${symbol} ${user}`);
  }

  #fresh(symbol: string, maxAgeMs: number): LastPrice | undefined {
    const known = this.#known.get(symbol);
    return known && this.#ageOf(known) <= maxAgeMs ? known.price : undefined;
  }

  /** The price's age, by its date, which another instance may have written, and by the time it has been known here. */
  #ageOf({ price, keptAt, ageMs }: Known): number {
    const passed = this.#clock() - price.at;
    return isAhead(passed) ? Number.POSITIVE_INFINITY : Math.max(passed, ageMs + this.#ages.since(keptAt));
  }

  /** Reads the shared store. Never rejects. */
  async #look(store: SharedPrices, symbol: string, since: number): Promise<void> {
    try {
      const found = await store(symbol, since);
      if (found) this.#keep(symbol, found);
    } catch (cause) {
      this.#report({ step: 'shared', cause });
    }
  }

  /** Calls the upstream. Never rejects. */
  async #call(symbol: string, user: string | undefined): Promise<CallWithoutPermit> {
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
    // A price dated by a clock that was ahead must not displace prices read after the clock was corrected.
    const isOlder = known && Number.isFinite(this.#ageOf(known)) && found.at < known.price.at;
    if (isAhead(passed) || isOlder) return;
    const kept = { price: found, keptAt: this.#ages.now(), ageMs: Math.max(0, passed) };
    putLatest(this.#known, symbol, kept, maxKnown);
  }

  /** Resolves when the work ends, or at `endBy`; the work then continues for other questions. */
  #until(endBy: number, work: Promise<void>): Promise<void> {
    return endOf(work, Math.min(maxTimerMs, endBy - this.#clock()), this.#options.after);
  }

  #report(failure: LastPriceFailure): void {
    try {
      this.#options.reportFailure?.(failure);
    } catch {
      // A failing log must not make a check fail.
    }
  }
}

/** Single flight: the first question for a symbol begins the work, and the others wait for it. */
function share<T>(underWay: Map<string, Promise<T>>, symbol: string, begin: () => Promise<T>): Promise<T> {
  const other = underWay.get(symbol);
  if (other) return other;
  const work = begin().finally(() => underWay.delete(symbol));
  underWay.set(symbol, work);
  return work;
}
