/** Historical bars of stocks: of several symbols by a body, and of one by a query. */

import type { listStockBars } from '../../../lib/catalogue/index.ts';
import { type Bar, type BarsAsked, barsOf, stockAsTraded } from '../market/bars.ts';
import type { Timespan } from '../market/calendar.ts';
import type { Instrument } from '../market/instrument.ts';
import { sessionFor } from '../market/sessions.ts';
import { money, offsetText } from '../numbers-and-times.ts';
import type { BodyIn } from '../parameters.ts';
import { illegalParameter } from '../refusal.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { findAll, findInstrument, isRefusal, ofInstrument } from './find.ts';

type BarsBody = BodyIn<typeof listStockBars>;

const usualCount = 200;
const maxBars = 1650;

export const bars: Behaviours = {
  listStockBars: ({ body, now }, world) => {
    const request = body as BarsBody;
    const count = Number(request.count ?? usualCount);
    // The schema accepts any text of digits as a count.
    if (count < 1 || count > maxBars) return illegalParameter('count');
    const found = findAll(request.symbols, (symbol) => findInstrument(world, symbol, request.category));
    if (isRefusal(found)) return found;
    const which: AskedSessions = {
      timespan: request.timespan,
      count,
      forming: request.real_time_required !== false,
      startTime: request.start_time,
      endTime: request.end_time,
      now,
      sessions: request.trading_sessions,
    };
    return answer({
      result: found.map((instrument) => ({
        symbol: instrument.symbol,
        instrument_id: instrument.instrumentId,
        result: stockBars(instrument, which),
      })),
    });
  },

  getStockBars: ofInstrument((found, { query, now }) =>
    stockBars(found, { ...queryAsked(query, now, true), sessions: query.trading_sessions }),
  ),
};

/** Reads the parameters that the query forms share. */
export function queryAsked(
  query: Readonly<Record<string, string>>,
  now: number,
  formingByDefault: boolean,
): BarsAsked {
  return {
    timespan: query.timespan as Timespan,
    count: Number(query.count ?? usualCount),
    forming: (query.real_time_required ?? String(formingByDefault)) === 'true',
    startTime: query.start_time === undefined ? undefined : Number(query.start_time),
    endTime: query.end_time === undefined ? undefined : Number(query.end_time),
    now,
  };
}

interface AskedSessions extends BarsAsked {
  readonly sessions: string | undefined;
}

function stockBars(instrument: Instrument, asked: AskedSessions): readonly object[] {
  const { session, nameAt } = sessionFor(asked.sessions);
  // A bar of a day or longer contains all sessions.
  const intraday = !['D', 'W', 'M', 'Y'].includes(asked.timespan);
  const traded = stockAsTraded(instrument, session);
  const isWanted = (time: number) => !intraday || nameAt(time) !== undefined;
  return barsOf(traded, { ...asked, wanted: isWanted }).map((bar) => ({
    ...shownBar(bar),
    ...(intraday && { trading_session: nameAt(bar.time) }),
  }));
}

export function shownBar({ time, open, close, high, low, volume }: Bar) {
  return {
    time: offsetText(time),
    open: money(open),
    close: money(close),
    high: money(high),
    low: money(low),
    volume: String(volume),
  };
}
