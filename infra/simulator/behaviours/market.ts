/** Snapshots: the latest of each symbol. */

import { money, ratio } from '../decimals.ts';
import type { Instrument } from '../market/instrument.ts';
import type { Prices } from '../market/prices.ts';
import { lastTradeTime, sidesAt, volumeUpTo } from '../market/tape.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { findAll, findInstrument, isRefusal } from './find.ts';
import { snapshotFacts } from './snapshot-facts.ts';

export const market: Behaviours = {
  getStockSnapshots: ({ query, now }, world) => {
    const found = findAll(query.symbols!.split(','), (symbol) =>
      findInstrument(world, symbol, query.category),
    );
    if (isRefusal(found)) return found;
    return answer(
      found.map((instrument) => {
        const time = lastTradeTime(instrument, now);
        return {
          ...snapshot(instrument, world.prices, time),
          ...(query.extend_hour_required === 'true' && extended(instrument, world.prices, time)),
          ...(query.overnight_required === 'true' && overnight(instrument, world.prices, time)),
        };
      }),
    );
  },
};

function snapshot(instrument: Instrument, prices: Prices, time: number) {
  const { open, high, low, price, previousClose } = prices.at(instrument, time);
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
    ...sides('', instrument, price, time),
    turnover: ratio(volume, instrument.sharesOutstanding),
    ...snapshotFacts(instrument, price, time),
  };
}

const extended = (instrument: Instrument, prices: Prices, time: number) =>
  outside('extended', ['extend_hour_', 'last_price'], instrument, prices, time);

const overnight = (instrument: Instrument, prices: Prices, time: number) => ({
  ...outside('overnight', ['ovn_', 'price'], instrument, prices, time),
  ...sides('ovn_', instrument, prices.at(instrument, time, 'overnight').price, time),
});

/** Prices outside of regular hours; the change is that since the last regular one. */
function outside(
  session: 'extended' | 'overnight',
  [prefix, last]: readonly [prefix: string, last: string],
  instrument: Instrument,
  prices: Prices,
  time: number,
) {
  const { high, low, price } = prices.at(instrument, time, session);
  const regular = prices.at(instrument, time).price;
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

function sides<P extends string>(prefix: P, instrument: Instrument, price: number, time: number) {
  const { ask, askSize, bid, bidSize } = sidesAt(instrument, price, time);
  return {
    [`${prefix}ask`]: money(ask),
    [`${prefix}ask_size`]: String(askSize),
    [`${prefix}bid`]: money(bid),
    [`${prefix}bid_size`]: String(bidSize),
  };
}
