/** Members of a stock snapshot that no page names and that were seen live: what the price means for the company. */

import { fixed, money, ratio } from '../decimals.ts';
import { dayOf } from '../market/calendar.ts';
import { publishedQuarters, quarterlyDividend, yearlyEps } from '../market/companies.ts';
import type { Instrument } from '../market/instrument.ts';
import { closeOf } from '../market/prices.ts';
import { marketValueOf } from '../market/ranks.ts';
import { balanceOf } from '../market/statements.ts';

/** What stays for a day; money in cents where it is of one share, in dollars where it is of all. */
interface DailyFacts {
  readonly day: number;
  readonly eps: number;
  readonly equity: number;
  readonly revenue: number;
  readonly closes: readonly number[];
}

/** A snapshot has a hundred symbols and is asked for every second. */
const remembered = new WeakMap<Instrument, DailyFacts>();

/** `price` in cents, at `time`. */
export function snapshotFacts(instrument: Instrument, price: number, time: number) {
  const { eps, equity, revenue, closes } = factsOf(instrument, time);
  const worth = marketValueOf({ price, instrument });
  const shares = String(instrument.sharesOutstanding);
  return {
    quote_time: time,
    pe_ratio: fixed(price / eps, 2),
    pb_ratio: fixed(worth / equity, 2),
    ps_ratio: fixed(worth / revenue, 2),
    yield: ratio(4 * quarterlyDividend(instrument), price),
    market_value: String(worth),
    // All of the invented companies' shares are in free float.
    neg_market_value: String(worth),
    total_shares: shares,
    out_standing_shares: shares,
    fifty_two_wk_high: money(Math.max(price, ...closes)),
    fifty_two_wk_low: money(Math.min(price, ...closes)),
    list_status: 'LISTED',
  };
}

function factsOf(instrument: Instrument, time: number): DailyFacts {
  const day = dayOf(time);
  const known = remembered.get(instrument);
  if (known?.day === day) return known;
  const quarters = publishedQuarters(instrument, time, 4);
  const { total_equity: equity } = balanceOf(instrument, quarters[0]!);
  const facts = {
    day,
    eps: yearlyEps(instrument, time),
    equity: equity!,
    revenue: quarters.reduce((sum, quarter) => sum + quarter.revenue, 0),
    // Their extremes are near enough: the exact ones, which the screener has, take a millisecond for each symbol.
    closes: Array.from({ length: 52 }, (_, week) => closeOf(instrument, day - 1 - 7 * week)),
  };
  remembered.set(instrument, facts);
  return facts;
}
