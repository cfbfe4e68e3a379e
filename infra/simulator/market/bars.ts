/** Bars: what a price did in each minute, hour, day or year, made from the same path as every other price. */

import { startOfBar, startOfNextBar, type Timespan } from './calendar.ts';
import type { Instrument } from './instrument.ts';
import { type HighLow, type Hours, type Minute, momentAt, priceOf, rangeOf } from './prices.ts';
import { lastTradeTime, marketStart, volumeBetween } from './tape.ts';

/** What has a price: a stock in one of its sessions, or an option. */
export interface Traded {
  /** The first moment that it had a price, and the last one. */
  readonly from: number;
  readonly until: number;
  lastTrade(now: number): number;
  /** In cents; of minute 1440 the day's last price. */
  price(at: Minute): number;
  range(from: Minute, to: Minute): HighLow;
  volume(from: Minute, to: Minute): number;
}

export interface Bar extends HighLow {
  /** Its start, Unix time in milliseconds. */
  readonly time: number;
  readonly open: number;
  readonly close: number;
  readonly volume: number;
}

export interface BarsAsked {
  readonly timespan: Timespan;
  readonly count: number;
  /** Include the bar that is still forming. */
  readonly forming: boolean;
  readonly startTime?: number | undefined;
  readonly endTime?: number | undefined;
  readonly now: number;
  /** Leaves out bars by their start. */
  readonly wanted?: (time: number) => boolean;
}

/** The newest bars that begin within the range asked for, oldest first. */
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
    // In the first moments of a bar nothing may have been traded.
    if (lastTrade < start) continue;
    bars.push(
      complete
        ? barFrom(traded, start, lastMoment(end, lastTrade), endOf(end))
        : barFrom(traded, start, momentAt(lastTrade)),
    );
  }
  return bars.reverse();
}

/** A bar ends with its last trade, and where a day ends with it, with the day's last price. */
function lastMoment(end: number, lastTrade: number): Minute {
  const moment = endOf(end);
  return moment.minute === 1440 ? moment : momentAt(lastTrade);
}

/** The end of a time, which at midnight belongs to the day before. */
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

/** A stock or fund in one session. */
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
