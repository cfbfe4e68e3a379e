/** Rankings of all that is actively traded, at the prices that snapshots show at the same moment. */

import { dayText } from '../market/calendar.ts';
import type { Category } from '../market/instrument.ts';
import {
  type Direction,
  marketValueOf,
  type Row,
  sortBy,
  sortRows,
  turnoverOf,
  type Window,
  yearRangeOf,
} from '../market/ranks.ts';
import { money, ratio } from '../numbers-and-times.ts';
import { answer, type Behaviours } from './behaviour.ts';

const shownRows = 200;

export const screeners: Behaviours = {
  listGainersLosers: ({ query, now }, { ranks }) => {
    const rows = ranks.rows(query.category as Category, now, query.rank_type as Window);
    const sorted = sortRows(rows, query.sort_by, (query.direction ?? 'DESC') as Direction);
    return answer(sorted.slice(0, shownRows).map(ranked));
  },

  /** The 200 that lead by the measure of activity, in the order asked for. */
  listTopActive: ({ query, now }, { ranks }) => {
    const rows = ranks.rows(query.category as Category, now);
    const most = sortRows(rows, query.rank_type ?? 'VOLUME', 'DESC').slice(0, shownRows);
    const sorted = sortRows(most, query.sort_by ?? 'VOLUME', (query.direction ?? 'DESC') as Direction);
    return answer(sorted.map(ranked));
  },

  listHighDividendRank: ({ query, now }, { ranks }) => {
    const rows = ranks.rows(query.category as Category, now);
    const sorted = sortRows(rows, query.sort_by ?? 'YIELD', (query.direction ?? 'DESC') as Direction);
    return answer(
      sorted.slice(0, shownRows).map((row) => ({
        ...listed(row),
        yield: ratio(row.yearlyDividend, row.price),
        dividend: money(row.yearlyDividend),
        ex_date: dayText(row.exDay),
      })),
    );
  },

  listWeek52HighLow: ({ query, now }, { ranks }) => {
    const rank = query.rank_type ?? 'NEW_HIGH';
    const highs = rank.endsWith('HIGH');
    const rows = ranks.rows(query.category as Category, now).flatMap((row) => {
      const year = yearRangeOf(row.instrument, now);
      const [today, before] = highs ? [row.high, year.high] : [row.low, year.low];
      const isNew = highs ? today >= before : today <= before;
      const extreme = isNew ? today : before;
      const near = Math.abs(row.price - extreme) <= extreme * nearness;
      return (rank.startsWith('NEW') ? isNew : near) ? [{ ...row, extreme }] : [];
    });
    const direction = (query.direction ?? 'ASC') as Direction;
    const field = query.sort_by ?? 'CHANGE_RATIO_52W';
    const sorted =
      field === 'CHANGE_RATIO_52W'
        ? sortBy(rows, ({ price, extreme }) => (price - extreme) / extreme, direction)
        : (sortRows(rows, field, direction) as typeof rows);
    return answer(
      sorted.slice(0, shownRows).map((row) => ({
        ...listed(row),
        // The highest or lowest price of 52 weeks, today's included, and how far the price is from it.
        price_52w: money(row.extreme),
        change_ratio_52w: ratio(row.price - row.extreme, row.extreme),
      })),
    );
  },
};

/** Within three percent. */
const nearness = 0.03;

function ranked(row: Row) {
  const { instrument, previousClose, open, high, low, price, volume } = row;
  return {
    instrument_id: instrument.instrumentId,
    symbol: instrument.symbol,
    name: instrument.name,
    exchange_code: instrument.exchangeCode,
    currency_code: 'USD',
    pre_close: money(previousClose),
    open: money(open),
    high: money(high),
    low: money(low),
    close: money(price),
    price: money(price),
    change: money(row.change),
    change_ratio: ratio(row.change, row.base),
    volume: String(volume),
    turnover: String(turnoverOf(row)),
    turnover_rate: ratio(volume, instrument.sharesOutstanding),
    market_value: String(marketValueOf(row)),
    amplitude: ratio(high - low, previousClose),
    relative_volume_10d: row.relativeVolume.toFixed(2),
    pe_ttm: (price / row.eps).toFixed(2),
  };
}

/** The form of the newer rankings, which name the category. */
export function listed(row: Row) {
  const { instrument } = row;
  const {
    currency_code,
    pre_close: _preClose,
    open: _open,
    relative_volume_10d: _volume,
    ...same
  } = ranked(row);
  return {
    ...same,
    category: instrument.category,
    currency: currency_code,
    ticker_symbol: instrument.symbol,
  };
}
