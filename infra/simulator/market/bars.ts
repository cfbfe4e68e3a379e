/** Bars: opening, extremes and close of a price in each minute, hour, day or year, from the same path as every other price. */

import { startOfBar, startOfNextBar, type Timespan } from './calendar.ts';
import type { Instrument } from './instrument.ts';
import { type HighLow, type Hours, type Minute, momentAt, priceOf, rangeOf } from './prices.ts';
import { lastTradeTime, marketStart, volumeBetween } from './tape.ts';

/** Price history of a stock in one of its sessions, or of an option. */
export interface Traded {
  /** Moments between which it has a price. */
  readonly from: number;
  readonly until: number;
  lastTrade(now: number): number;
  /** Price in cents; minute 1440 gives the day's last price. */
  price(at: Minute): number;
  range(from: Minute, to: Minute): HighLow;
  volume(from: Minute, to: Minute): number;
}

export interface Bar extends HighLow {
  /** Start of the bar, Unix time in milliseconds. */
  readonly time: number;
  readonly open: number;
  readonly close: number;
  readonly volume: number;
}

export interface BarsAsked {
  readonly timespan: Timespan;
  readonly count: number;
  /** Whether to include the bar that is still forming. */
  readonly forming: boolean;
  readonly startTime?: number | undefined;
  readonly endTime?: number | undefined;
  readonly now: number;
  /** Selects bars by their start. */
  readonly wanted?: (time: number) => boolean;
}

/** Lists the newest bars that begin within the requested range, oldest first. */
export function barsOf(traded: Traded, asked: BarsAsked): readonly Bar[] {
  const { timespan, count, forming, wanted = () => true } = asked;
  const now = Math.min(asked.now, traded.until);
  const earliest = Math.max(traded.from, asked.startTime ?? 0);
  const bars: Bar[] = [];
  let start = startOfBar(timespan, Math.min(now, asked.endTime ?? now));
  for (; start >= earliest && bars.length < count; start = startOfBar(timespan, start - 1)) {
    if (!wanted(start)) continue;
    const end = startOfNextBar(timespan, start);
    const complete = end <= now;
    if (!complete && !forming) continue;
    const lastTrade = traded.lastTrade(complete ? end - 1 : now);
    // There may be no trade yet in the first moments of a bar.
    if (lastTrade < start) continue;
    bars.push(
      complete
        ? barFrom(traded, start, lastMoment(end, lastTrade), endOf(end))
        : barFrom(traded, start, momentAt(lastTrade)),
    );
  }
  return bars.reverse();
}

/** Last moment of a bar: its last trade, or, if a day ends with it, the day's last price. */
function lastMoment(end: number, lastTrade: number): Minute {
  const moment = endOf(end);
  return moment.minute === 1440 ? moment : momentAt(lastTrade);
}

/** End of a period; midnight belongs to the day before. */
function endOf(time: number): Minute {
  const moment = momentAt(time);
  return moment.minute === 0 ? { day: moment.day - 1, minute: 1440 } : moment;
}

function barFrom(traded: Traded, start: number, last: Minute, end = last): Bar {
  const first = momentAt(start);
  return {
    time: start,
    open: traded.price(first),
    close: traded.price(last),
    ...traded.range(first, last),
    volume: traded.volume(first, end),
  };
}

/** Price history of a stock or fund in one session. */
export function stockAsTraded(instrument: Instrument, session: Hours): Traded {
  return {
    from: marketStart,
    until: Infinity,
    lastTrade: (now) => lastTradeTime(instrument, now),
    price: (moment) => priceOf(instrument, moment, session),
    range: (from, to) => rangeOf(instrument, from, to, session),
    volume: (from, to) => volumeBetween(instrument, from, to, session),
  };
}
