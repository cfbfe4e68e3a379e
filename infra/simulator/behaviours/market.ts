/** Snapshots: the latest prices of each symbol. */

import { dividendsOf, yearOf } from '../market/books.ts';
import { dayOf } from '../market/calendar.ts';
import type { Instrument } from '../market/instrument.ts';
import { closeOf, dayPricesAt, priceAt } from '../market/prices.ts';
import { lastTradeTime, sidesAt, volumeUpTo } from '../market/tape.ts';
import { fixed, money, ratio } from '../numbers-and-times.ts';
import type { Behaviours } from './behaviour.ts';
import { ofInstruments } from './find.ts';

export const market: Behaviours = {
  getStockSnapshots: ofInstruments((instrument, { query, now }) => {
    const time = lastTradeTime(instrument, now);
    return {
      ...snapshot(instrument, time),
      ...(query.extend_hour_required === 'true' && extended(instrument, time)),
      ...(query.overnight_required === 'true' && overnight(instrument, time)),
    };
  }),
};

export function snapshot(instrument: Instrument, time: number) {
  const { open, high, low, price, previousClose } = dayPricesAt(instrument, time);
  const volume = volumeUpTo(instrument, time);
  return {
    symbol: instrument.symbol,
    instrument_id: instrument.instrumentId,
    price: money(price),
    open: money(open),
    high: money(high),
    low: money(low),
    volume: String(volume),
    change: money(price - previousClose),
    change_ratio: ratio(price - previousClose, previousClose),
    pre_close: money(previousClose),
    last_trade_time: time,
    close: money(price),
    ...sidesOf('', instrument, price, time),
    turnover: ratio(volume, instrument.sharesOutstanding),
    ...snapshotFacts(instrument, price, time),
  };
}

export const extended = (instrument: Instrument, time: number) =>
  sessionPrices('extended', ['extend_hour_', 'last_price'], instrument, time);

export const overnight = (instrument: Instrument, time: number) => ({
  ...sessionPrices('overnight', ['ovn_', 'price'], instrument, time),
  ...sidesOf('ovn_', instrument, priceAt(instrument, time, 'overnight'), time),
});

/** Prices outside regular hours, with the change since the last regular price. */
function sessionPrices(
  session: 'extended' | 'overnight',
  [prefix, last]: readonly [prefix: string, last: string],
  instrument: Instrument,
  time: number,
) {
  const { high, low, price } = dayPricesAt(instrument, time, session);
  const regular = priceAt(instrument, time);
  return {
    [`${prefix}${last}`]: money(price),
    [`${prefix}high`]: money(high),
    [`${prefix}low`]: money(low),
    [`${prefix}change`]: money(price - regular),
    [`${prefix}change_ratio`]: ratio(price - regular, regular),
    [`${prefix}volume`]: String(volumeUpTo(instrument, time, session)),
    [`${prefix}last_trade_time`]: time,
  };
}

function sidesOf<P extends string>(prefix: P, instrument: Instrument, price: number, time: number) {
  const { ask, askSize, bid, bidSize } = sidesAt(instrument, price, time);
  return {
    [`${prefix}ask`]: money(ask),
    [`${prefix}ask_size`]: String(askSize),
    [`${prefix}bid`]: money(bid),
    [`${prefix}bid_size`]: String(bidSize),
  };
}

/** Facts that hold for a day; closing prices in cents. */
interface DailyFacts extends ReturnType<typeof yearOf> {
  readonly day: number;
  readonly closes: readonly number[];
  readonly exDay: number;
}

/** Cache of the day's facts: a snapshot has up to a hundred symbols, and clients ask every second. */
const factsCache = new WeakMap<Instrument, DailyFacts>();

/** Members that were seen live and that no page names: the price in relation to the company. `price` in cents, at `time`. */
function snapshotFacts(instrument: Instrument, price: number, time: number) {
  const { eps, equity, revenue, dividend, closes } = factsOf(instrument, time);
  const worth = Math.round((price * instrument.sharesOutstanding) / 100);
  const shares = String(instrument.sharesOutstanding);
  return {
    quote_time: time,
    pe_ratio: fixed(price / eps, 2),
    pb_ratio: fixed(worth / equity, 2),
    ps_ratio: fixed(worth / revenue, 2),
    yield: ratio(dividend, price),
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

export function factsOf(instrument: Instrument, time: number): DailyFacts {
  const day = dayOf(time);
  const known = factsCache.get(instrument);
  if (known?.day === day) return known;
  const facts = {
    day,
    ...yearOf(instrument, time),
    exDay: dividendsOf(instrument, time, 1)[0]!.exDay,
    // Weekly closes are near enough to the extremes: exact ones take a millisecond for each symbol.
    closes: Array.from({ length: 52 }, (_, week) => closeOf(instrument, day - 1 - 7 * week)),
  };
  factsCache.set(instrument, facts);
  return facts;
}
