/** Market data. */

import { money, ratio } from '../decimals.ts';
import { dayMilliseconds, type Prices } from '../prices.ts';
import { fraction, mix } from '../random.ts';
import { refuse } from '../refusal.ts';
import type { Instrument } from '../universe.ts';
import { answer, type Behaviours } from './behaviour.ts';

export const market: Behaviours = {
  getStockSnapshots: ({ query, now }, { universe, prices }) => {
    const found: Instrument[] = [];
    for (const symbol of query.symbols!.split(',')) {
      const instrument = universe.get(symbol);
      if (!instrument || instrument.category !== query.category) {
        return refuse(417, 'INVALID_SYMBOL', `Symbol not known, ${symbol}`);
      }
      found.push(instrument);
    }
    return answer(
      found.map((instrument) => {
        const time = lastTradeTime(instrument, now);
        return {
          ...snapshot(instrument, prices, time),
          ...(query.extend_hour_required === 'true' && extended(instrument, prices, time)),
          ...(query.overnight_required === 'true' && overnight(instrument, prices, time)),
        };
      }),
    );
  },
};

/** Each instrument trades at its own steady pace, every 0.2 to 3 seconds, first at the day's start. */
function lastTradeTime({ noise }: Instrument, now: number): number {
  const dayStart = Math.floor(now / dayMilliseconds) * dayMilliseconds;
  const pace = 200 + Math.floor(2800 * fraction(mix(noise, 4)));
  return dayStart + Math.floor((now - dayStart) / pace) * pace;
}

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
  };
}

function extended(instrument: Instrument, prices: Prices, time: number) {
  const { high, low, price } = prices.at(instrument, time, 'extended');
  const regular = prices.at(instrument, time).price;
  return {
    extend_hour_last_price: money(price),
    extend_hour_high: money(high),
    extend_hour_low: money(low),
    extend_hour_change: money(price - regular),
    extend_hour_change_ratio: ratio(price - regular, regular),
    extend_hour_volume: String(Math.floor(volumeUpTo(instrument, time) / 50)),
    extend_hour_last_trade_time: time,
  };
}

function overnight(instrument: Instrument, prices: Prices, time: number) {
  const { high, low, price } = prices.at(instrument, time, 'overnight');
  const regular = prices.at(instrument, time).price;
  return {
    ovn_price: money(price),
    ovn_high: money(high),
    ovn_low: money(low),
    ovn_change: money(price - regular),
    ovn_change_ratio: ratio(price - regular, regular),
    ovn_volume: String(Math.floor(volumeUpTo(instrument, time) / 200)),
    ovn_last_trade_time: time,
    ...sides('ovn_', instrument, price, time),
  };
}

/** Best bid and ask, one basis point (at least a cent) below and above the price. */
function sides<P extends string>(prefix: P, { noise }: Instrument, price: number, time: number) {
  const half = Math.max(1, Math.round(price / 10_000));
  const lots = (side: number) => String(100 * (1 + (mix(mix(noise, side), Math.floor(time / 1000)) % 9)));
  return {
    [`${prefix}ask`]: money(price + half),
    [`${prefix}ask_size`]: lots(5),
    [`${prefix}bid`]: money(price - half),
    [`${prefix}bid_size`]: lots(6),
  };
}

/** Shares traded since the day's start: never fewer than before, fastest near the day's two ends. */
function volumeUpTo({ noise, dailyVolume }: Instrument, time: number): number {
  const day = Math.floor(time / dayMilliseconds);
  const part = time / dayMilliseconds - day;
  const ofDay = dailyVolume * (0.6 + 0.8 * fraction(mix(mix(noise, 7), day)));
  return Math.floor(ofDay * (0.5 * part + 0.25 * ((2 * part - 1) ** 3 + 1)));
}
