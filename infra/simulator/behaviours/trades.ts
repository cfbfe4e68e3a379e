/** Depth of book, single trades and footprints of stocks. */

import { barsOf, stockAsTraded } from '../market/bars.ts';
import type { Timespan } from '../market/calendar.ts';
import type { Instrument } from '../market/instrument.ts';
import { type Hours, priceAt } from '../market/prices.ts';
import { sessionFor } from '../market/sessions.ts';
import { lastTradeTime, marketStart, sidesAt, tradeBefore, volumeUpTo } from '../market/tape.ts';
import { millisecondsText, money } from '../numbers-and-times.ts';
import { mix } from '../random.ts';
import { illegalParameter } from '../refusal.ts';
import type { Behaviours } from './behaviour.ts';
import { ofInstrument, ofInstruments } from './find.ts';

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

  listStockFootprints: ofInstruments((instrument, { query, now }) => ({
    symbol: instrument.symbol,
    instrument_id: instrument.instrumentId,
    result: footprints(instrument, query, now),
  })),
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

function footprints(
  instrument: Instrument,
  query: Readonly<Record<string, string>>,
  now: number,
): readonly object[] {
  const { session, nameAt } = sessionFor(query.trading_sessions);
  const timespan = query.timespan as Timespan;
  const bars = barsOf(stockAsTraded(instrument, session), {
    timespan,
    count: Number(query.count ?? 200),
    forming: query.real_time_required === 'true' && timespan.startsWith('M'),
    now,
    wanted: (time) => nameAt(time) !== undefined,
  });
  return bars.map(({ time, high, low, volume }) => {
    const chance = mix(instrument.noise, Math.floor(time / 5000));
    const bought = Math.floor((volume * (30 + (chance % 41))) / 100);
    return {
      time,
      trading_session: nameAt(time),
      total: String(volume),
      delta: String(2 * bought - volume),
      buy_total: String(bought),
      sell_total: String(volume - bought),
      buy_detail: detail(bought, high, low),
      sell_detail: detail(volume - bought, high, low),
    };
  });
}

/** Spreads a volume over at most five prices of a bar. */
function detail(volume: number, high: number, low: number): Readonly<Record<string, string>> {
  const places = Math.min(5, high - low + 1);
  const each = Math.floor(volume / places);
  return Object.fromEntries(
    Array.from({ length: places }, (_, at) => {
      const price = places === 1 ? low : low + Math.round((at * (high - low)) / (places - 1));
      return [money(price), String(at === 0 ? volume - each * (places - 1) : each)];
    }),
  );
}
