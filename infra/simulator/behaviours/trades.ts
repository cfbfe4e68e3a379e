/** Depth of book and single trades of stocks. */

import type { Instrument } from '../market/instrument.ts';
import { type Hours, priceAt } from '../market/prices.ts';
import { sessionFor } from '../market/sessions.ts';
import { lastTradeTime, marketStart, sidesAt, tradeBefore, volumeUpTo } from '../market/tape.ts';
import { millisecondsText, money } from '../numbers-and-times.ts';
import { mix } from '../random.ts';
import { illegalParameter } from '../refusal.ts';
import type { Behaviours } from './behaviour.ts';
import { ofInstrument } from './find.ts';

const participants = ['NSDQ', 'ARCX', 'EDGX', 'BATS', 'IEXG'];

export const trades: Behaviours = {
  getStockQuotes: ofInstrument((found, { query, now }, world) => {
    const depth = Number(query.depth ?? Math.min(10, world.depthLevels));
    if (depth > world.depthLevels) return illegalParameter('depth');
    const overnight = query.overnight_required === 'true';
    const time = lastTradeTime(found, now);
    const { ask, askSize, bid, bidSize } = sidesAt(
      found,
      priceAt(found, time, overnight ? 'overnight' : 'regular'),
      time,
    );
    return {
      symbol: found.symbol,
      instrument_id: found.instrumentId,
      quote_time: time,
      asks: levels(found, depth, time, ask, askSize, 1),
      bids: levels(found, depth, time, bid, bidSize, -1),
      trading_session: overnight ? 'OVN' : 'RTH',
    };
  }),

  listStockTicks: ofInstrument((found, { query, now }) => {
    const { session, nameAt } = sessionFor(query.trading_sessions);
    const result: object[] = [];
    const count = Number(query.count);
    // A session of half a day may have ended half a day ago.
    for (
      let time = lastTradeTime(found, now), looked = 0;
      result.length < count && time >= marketStart && looked < 300_000;
      time = tradeBefore(found, time), looked++
    ) {
      const name = nameAt(time);
      if (name !== undefined) result.push({ ...tick(found, time, session), trading_session: name });
    }
    return { symbol: found.symbol, instrument_id: found.instrumentId, result };
  }),
};

export interface BookLevel {
  readonly price: string;
  readonly size: string;
  readonly order: readonly { readonly mpid: string; readonly size: string }[];
}

/** Lists the best price first, then the prices behind it. */
export function levels(
  { noise }: Instrument,
  depth: number,
  time: number,
  best: number,
  bestSize: number,
  away: 1 | -1,
): readonly BookLevel[] {
  const all: BookLevel[] = [];
  for (let level = 0; level < depth && best + away * level > 0; level++) {
    const chance = mix(mix(noise, away * (level + 1)), Math.floor(time / 1000));
    const size = level === 0 ? bestSize : 100 * (1 + (chance % 20));
    const mpid = participants[chance % participants.length]!;
    all.push({
      price: money(best + away * level),
      size: String(size),
      order: [{ mpid, size: String(size) }],
    });
  }
  return all;
}

/** Describes one trade: the volume since the trade before, but at least one share. */
export function tick(instrument: Instrument, time: number, session: Hours) {
  const before = tradeBefore(instrument, time);
  const price = priceAt(instrument, time, session);
  const move = price - priceAt(instrument, before, session);
  const volume = volumeUpTo(instrument, time, session) - volumeUpTo(instrument, before, session);
  return {
    time: millisecondsText(time),
    price: money(price),
    volume: String(Math.max(1, volume)),
    // A buyer at the ask drives the price up.
    side: move > 0 ? 'S' : move < 0 ? 'B' : 'N',
  };
}
