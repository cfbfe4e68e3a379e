/** Snapshots: the latest prices of each symbol. */

import type { Instrument } from '../market/instrument.ts';
import { farthest } from '../market/price-path.ts';
import { dayPricesAt, priceAt } from '../market/prices.ts';
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

/** Members that were seen live and that no page names. `price` in cents, at `time`. */
function snapshotFacts(instrument: Instrument, price: number, time: number) {
  const marketValue = String(Math.round((price * instrument.sharesOutstanding) / 100));
  const shares = String(instrument.sharesOutstanding);
  const extremes = farthest(instrument);
  // Different for each company, because stores of snapshots compress what is alike.
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
    fifty_two_wk_high: money(Math.ceil(100 * instrument.basePrice * extremes)),
    fifty_two_wk_low: money(Math.floor((100 * instrument.basePrice) / extremes)),
    list_status: 'LISTED',
  };
}
