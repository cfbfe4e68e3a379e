/** Imbalances before the opening and the closing auction: a value every five seconds. */

import type { Instrument } from '../market/instrument.ts';
import { dayMilliseconds, priceAt } from '../market/prices.ts';
import { money } from '../numbers-and-times.ts';
import { mix } from '../random.ts';
import type { Behaviours } from './behaviour.ts';
import { ofInstrument } from './find.ts';

type Auction = 'PRE_OPEN' | 'PRE_CLOSE';

const stepMs = 5000;

/**
 * Start and end in milliseconds of the UTC day, as in the real market, although the simulated one trades on through its
 * auctions.
 */
const auctionWindows: Readonly<Record<Auction, readonly [from: number, to: number]>> = {
  PRE_OPEN: [(13 * 60 + 28) * 60_000, (13 * 60 + 30) * 60_000],
  PRE_CLOSE: [(19 * 60 + 50) * 60_000, 20 * 60 * 60_000],
};

export const auctions: Behaviours = {
  getStockNoiiSnapshot: ofInstrument((found, { query, now }) => {
    const auction = query.imbalance_action_type as Auction;
    const time = timesOf(auction, now).at(-1)!;
    const chance = mix(found.noise, time / stepMs);
    return {
      ...imbalance(found, auction, time),
      paired_shares: String(1000 + (chance % 1_000_000)),
      imbalance_shares: String(chance % 30_000),
      imbalance_side: String(1 + (chance % 2)),
      imbalance_var_indicator: String(1 + (chance % 3)),
    };
  }),

  listStockNoiiBars: ofInstrument((found, { query, now }) => {
    const auction = query.imbalance_action_type as Auction;
    return timesOf(auction, now).map((time) => imbalance(found, auction, time));
  }),
};

/** Times of the running auction's values, or of the last one's. */
function timesOf(auction: Auction, now: number): readonly number[] {
  const [from, to] = auctionWindows[auction];
  const today = Math.floor(now / dayMilliseconds) * dayMilliseconds;
  const start = now >= today + from ? today + from : today + from - dayMilliseconds;
  const end = Math.min(now, start + to - from - stepMs);
  return Array.from({ length: Math.floor((end - start) / stepMs) + 1 }, (_, at) => start + at * stepMs);
}

function imbalance(instrument: Instrument, auction: Auction, time: number) {
  const price = priceAt(instrument, time);
  const lean = (mix(instrument.noise, time / stepMs) % 11) - 5;
  return {
    instrument_id: instrument.instrumentId,
    symbol: instrument.symbol,
    imbalance_ref_price: money(price),
    imbalance_near_price: money(Math.max(1, price + lean)),
    imbalance_far_price: money(Math.max(1, price + 2 * lean)),
    imbalance_action_type: auction,
    imbalance_time: time,
  };
}
