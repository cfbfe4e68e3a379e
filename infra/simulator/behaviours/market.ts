/** Snapshots: the latest prices of each symbol. */

import { dayOf } from '../market/calendar.ts';
import type { Instrument } from '../market/instrument.ts';
import { closeOf, dayPricesAt, priceAt } from '../market/prices.ts';
import { lastTradeTime, sidesAt, volumeUpTo } from '../market/tape.ts';
import { money, ratio } from '../numbers-and-times.ts';
import { fraction, mix } from '../random.ts';
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

/** Cache of a day's weekly closes: a snapshot has up to a hundred symbols, and clients ask every second. */
const closesCache = new WeakMap<Instrument, { readonly day: number; readonly closes: readonly number[] }>();

/** Members that were seen live and that no page names: the price in relation to the company. `price` in cents, at `time`. */
function snapshotFacts(instrument: Instrument, price: number, time: number) {
  const closes = closesOf(instrument, dayOf(time));
  const marketValue = String(Math.round((price * instrument.sharesOutstanding) / 100));
  const shares = String(instrument.sharesOutstanding);
  const perBase = price / (100 * instrument.basePrice);
  const trait = (purpose: number, from: number, to: number) =>
    from + (to - from) * fraction(mix(instrument.noise, purpose));
  return {
    quote_time: time,
    pe_ratio: (perBase * trait(30, 9, 38)).toFixed(2),
    pb_ratio: (perBase * trait(31, 1, 8)).toFixed(2),
    ps_ratio: (perBase * trait(32, 1, 8)).toFixed(2),
    yield: (trait(35, 0.002, 0.08) / perBase).toFixed(4),
    market_value: marketValue,
    // All of the invented companies' shares are in free float.
    neg_market_value: marketValue,
    total_shares: shares,
    out_standing_shares: shares,
    fifty_two_wk_high: money(Math.max(price, ...closes)),
    fifty_two_wk_low: money(Math.min(price, ...closes)),
    list_status: 'LISTED',
  };
}

/** Closes of 52 weeks: near enough to the extremes, because exact ones take milliseconds for each symbol. */
function closesOf(instrument: Instrument, day: number): readonly number[] {
  const known = closesCache.get(instrument);
  if (known?.day === day) return known.closes;
  const closes = Array.from({ length: 52 }, (_, week) => closeOf(instrument, day - 1 - 7 * week));
  closesCache.set(instrument, { day, closes });
  return closes;
}
