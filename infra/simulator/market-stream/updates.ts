/**
 * Messages to a session about a symbol after a trade. The figures are those of the HTTP operations at the same moment of
 * the clock, so that a client that merges both never sees them go back.
 */

import { extended, overnight, snapshot } from '../behaviours/market.ts';
import { levels, tick } from '../behaviours/trades.ts';
import type { Instrument } from '../market/instrument.ts';
import { priceAt } from '../market/prices.ts';
import { clockInNewYork } from '../market/sessions.ts';
import { sidesAt } from '../market/tape.ts';
import type { Feed } from '../stream-sessions.ts';
import { type Basic, encodeMembers, encodeQuote, type MessageMembers } from './messages.ts';

/** Form of a tick's time: `clock` as seen live, with the milliseconds in a field that no document names. */
export type TickTime = 'clock' | 'milliseconds';

/** Interval of incomplete messages, which were seen live: a snapshot with its symbol alone, a quote with one side. */
const lackingEvery = 10;

/** Makes the message for the trade at `time`, and notes in the feed what the client knows afterwards. */
export function nextMessage(feed: Feed, time: number, now: number, tickTime: TickTime): Uint8Array {
  const { symbol, instrumentId } = feed.instrument;
  const basic = { symbol, instrumentId, timestamp: String(now), session: 'RTH' };
  feed.messages += 1;
  if (feed.type === 'SNAPSHOT') return nextSnapshot(feed, basic, time);
  if (feed.type === 'TICK') return encodeMembers(basic, tickOf(feed.instrument, time, tickTime));
  return nextQuote(feed, basic, time);
}

/** Makes a snapshot: whole at first, then what changed since the last message, or the symbol alone. */
function nextSnapshot(feed: Feed, basic: Basic, time: number): Uint8Array {
  if (feed.told.size > 0 && feed.messages % lackingEvery === 0)
    return encodeMembers({ symbol: basic.symbol });
  const members = snapshotOf(feed, time);
  const changed = [...members].filter(([field, text]) => feed.told.get(field) !== text);
  feed.told = members;
  return encodeMembers(basic, new Map(changed));
}

const snapshotFields = {
  2: 'last_trade_time',
  3: 'price',
  4: 'open',
  5: 'high',
  6: 'low',
  7: 'pre_close',
  8: 'volume',
  9: 'change',
  10: 'change_ratio',
  11: 'extend_hour_last_trade_time',
  12: 'extend_hour_last_price',
  13: 'extend_hour_high',
  14: 'extend_hour_low',
  15: 'extend_hour_volume',
  16: 'extend_hour_change',
  17: 'extend_hour_change_ratio',
  18: 'ovn_last_trade_time',
  19: 'ovn_price',
  20: 'ovn_high',
  21: 'ovn_low',
  22: 'ovn_volume',
  23: 'ovn_change',
  24: 'ovn_change_ratio',
} as const;

function snapshotOf({ instrument, overnight: withOvernight }: Feed, time: number): MessageMembers {
  const all: Readonly<Record<string, unknown>> = {
    ...snapshot(instrument, time),
    ...extended(instrument, time),
    ...(withOvernight && overnight(instrument, time)),
  };
  return new Map(
    Object.entries(snapshotFields).flatMap(([field, name]) =>
      all[name] === undefined ? [] : [[Number(field), String(all[name])] as const],
    ),
  );
}

function nextQuote({ instrument, depth, messages }: Feed, basic: Basic, time: number): Uint8Array {
  const { ask, askSize, bid, bidSize } = sidesAt(instrument, priceAt(instrument, time), time);
  const asks = levels(instrument, depth, time, ask, askSize, 1);
  const bids = levels(instrument, depth, time, bid, bidSize, -1);
  return encodeQuote(basic, asks, messages % lackingEvery === 0 ? [] : bids);
}

function tickOf(instrument: Instrument, time: number, form: TickTime): MessageMembers {
  const { time: milliseconds, price, volume, side } = tick(instrument, time, 'regular');
  return new Map([
    [2, form === 'clock' ? clockInNewYork(time) : milliseconds],
    [3, price],
    [4, volume],
    [5, side],
    ...(form === 'clock' ? ([[6, milliseconds]] as const) : []),
  ]);
}
