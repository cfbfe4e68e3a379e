/** Rankings of actively traded instruments and of sectors, at the prices that snapshots show at the same moment. */

import { trait } from '../market/books.ts';
import { dayText } from '../market/calendar.ts';
import type { Instrument } from '../market/instrument.ts';
import { dayMilliseconds, dayPricesAt, priceAt } from '../market/prices.ts';
import { findSector, type Sector, sectors } from '../market/sectors.ts';
import { lastTradeTime, marketStart } from '../market/tape.ts';
import { money, ratio } from '../numbers-and-times.ts';
import { pageOf } from '../paging.ts';
import { illegalParameter } from '../refusal.ts';
import type { World } from '../world.ts';
import { type ApiCall, type ApiReply, answer, type Behaviours } from './behaviour.ts';
import { isRefusal } from './find.ts';
import { type AnswerFacts, factualAnswer } from './from-schema.ts';
import { factsOf, snapshot } from './market.ts';

const shownRows = 200;

/** Lengths of the windows in sectors and rankings, by name; without one the change is the day's. */
const minute = 60_000;
const windows: Readonly<Record<string, number>> = {
  MIN_3: 3 * minute,
  MIN_5: 5 * minute,
  DAY_5: 5 * dayMilliseconds,
  D5: 5 * dayMilliseconds,
  MONTH_1: 30 * dayMilliseconds,
  MO1: 30 * dayMilliseconds,
  MONTH_3: 91 * dayMilliseconds,
  MO3: 91 * dayMilliseconds,
  WEEK_52: 364 * dayMilliseconds,
};

type Direction = 'ASC' | 'DESC';

export const screeners: Behaviours = {
  listGainersLosers: (call, world) => ranking(call, rowsOf(call, world), 'CHANGE_RATIO'),

  /** Ranks the 200 most active, in the requested order. */
  listTopActive: (call, world) => {
    const all = sortBy(rowsOf(call, world), call.query.rank_type ?? 'VOLUME', 'DESC');
    return ranking(call, all.slice(0, shownRows), 'VOLUME');
  },

  listHighDividendRank: (call, world) => ranking(call, rowsOf(call, world), 'YIELD'),

  /** Lists instruments at the highest or lowest price of 52 weeks, or within three percent of it. */
  listWeek52HighLow: (call, world) => {
    const rank = call.query.rank_type ?? 'NEW_HIGH';
    const name = rank.endsWith('HIGH') ? 'fifty_two_wk_high' : 'fifty_two_wk_low';
    const near = rowsOf(call, world).flatMap((row) => {
      const [price, price_52w] = [Number(row.price), Number(row[name])];
      const isIn = Math.abs(price - price_52w) <= (rank.startsWith('NEW') ? 0 : 0.03) * price_52w;
      const change_ratio_52w = ratio(price - price_52w, price_52w);
      return isIn ? [{ ...row, price_52w: row[name], change_ratio_52w }] : [];
    });
    return ranking(call, near, 'CHANGE_RATIO_52W', 'ASC');
  },

  listMarketSectors: (call, world) =>
    sortedPage(call, 20, call.query.agg_type ?? 'MARKET_VALUE', (moment) => {
      const rows = rowsOf({ ...call, now: moment }, world);
      return {
        records: sectors.map((sector) => ({ ...summaryOf(sector, rows), data: leadersOf(sector, rows) })),
      };
    }),

  getMarketSectorDetail: (call, world) => {
    const sector = findSector(call.query.sector_id!);
    if (!sector) return illegalParameter('sector_id');
    return sortedPage(call, 50, call.query.sort_by ?? 'CHANGE_RATIO', (moment) => {
      const rows = rowsOf({ ...call, now: moment }, world, sector.id);
      return { facts: summaryOf(sector, rows), records: rows };
    });
  },
};

/** Facts of every ranked instrument; only active ones rank, because a rarely traded one's price means little. */
function rowsOf(
  { query, now }: Pick<ApiCall, 'query' | 'now'>,
  world: World,
  sector?: string,
): readonly AnswerFacts[] {
  return world.universe
    .active()
    .filter((one) => one.category === query.category && one.sectorId === (sector ?? one.sectorId))
    .map((instrument) => rowOf(instrument, windowOf(query), now));
}

const windowOf = ({ rank_type, period }: ApiCall['query']) => rank_type ?? period ?? 'DAY_1';

function rowOf(instrument: Instrument, window: string, now: number): AnswerFacts {
  const time = lastTradeTime(instrument, now);
  const figures = snapshot(instrument, time);
  const day = dayPricesAt(instrument, time);
  const length = windows[window];
  const base =
    length === undefined ? day.previousClose : priceAt(instrument, Math.max(marketStart, time - length));
  const volume = Number(figures.volume);
  const { dividend, exDay } = factsOf(instrument, time);
  return {
    name: instrument.name,
    // Comes second, because V8 makes the object several times faster then.
    ...figures,
    category: instrument.category,
    sector: instrument.sectorId,
    exchange_code: instrument.exchangeCode,
    currency: 'USD',
    currency_code: 'USD',
    ticker_symbol: instrument.symbol,
    // As in snapshots, the other sessions are compared with regular trading.
    ...(window.endsWith('_MARKET')
      ? changeOf(priceAt(instrument, time, 'extended'), day.price)
      : changeOf(day.price, base)),
    turnover: String(Math.round((volume * (day.high + day.low)) / 200)),
    turnover_rate: ratio(volume, instrument.sharesOutstanding),
    amplitude: ratio(day.high - day.low, day.previousClose),
    relative_volume_10d: trait(instrument, Math.floor(now / dayMilliseconds), 0.5, 2).toFixed(2),
    pe_ttm: figures.pe_ratio,
    price_1w: money(priceAt(instrument, time - 7 * dayMilliseconds)),
    dividend: money(dividend),
    ex_date: dayText(exDay),
  };
}

const changeOf = (price: number, base: number) => ({
  change: money(price - base),
  change_ratio: ratio(price - base, base),
});

/** Summarises a sector, whose change is the average of its members'. */
function summaryOf({ id, name }: Sector, all: readonly AnswerFacts[]): AnswerFacts {
  const rows = all.filter(({ sector }) => sector === id);
  const sum = (member: string) => rows.reduce((total, row) => total + Number(row[member]), 0);
  const count = (sign: number) =>
    String(rows.filter(({ change }) => Math.sign(Number(change)) === sign).length);
  return {
    id,
    name,
    change_ratio: ratio(sum('change_ratio'), rows.length || 1),
    volume: String(sum('volume')),
    market_value: String(sum('market_value')),
    declined: count(-1),
    advanced: count(1),
    flat: count(0),
  };
}

const leadersOf = ({ id }: Sector, rows: readonly AnswerFacts[]) =>
  sortBy(
    rows.filter(({ sector }) => sector === id),
    'MARKET_VALUE',
    'DESC',
  )
    .slice(0, 3)
    .map(({ instrument_id, name, symbol }) => ({ instrument_id, name, symbol }));

/** Sorts by a measure, whose name in lower case is the member's; equal records keep their order. */
function sortBy(records: readonly AnswerFacts[], measure: string, direction: string): readonly AnswerFacts[] {
  const sign = direction === 'ASC' ? 1 : -1;
  const name = measure.toLowerCase();
  const keyed = records.map((record) => ({ record, amount: sign * Number(record[name]) }));
  return keyed.sort((a, b) => a.amount - b.amount).map(({ record }) => record);
}

function ranking(
  call: ApiCall,
  rows: readonly AnswerFacts[],
  measure: string,
  direction: Direction = 'DESC',
): ApiReply {
  const all = sortBy(rows, call.query.sort_by ?? measure, call.query.direction ?? direction);
  return answer(factualAnswer(call, 0, {}, all.slice(0, shownRows)));
}

function sortedPage(
  call: ApiCall,
  size: number,
  measure: string,
  at: (moment: number) => { readonly facts?: AnswerFacts; readonly records: readonly AnswerFacts[] },
): ApiReply {
  const page = pageOf(call, size, (moment) => {
    const { records, ...rest } = at(moment);
    return { ...rest, records: sortBy(records, measure, call.query.direction ?? 'ASC') };
  });
  if (isRefusal(page)) return page;
  const { records, facts, pagination_key } = page;
  return answer(factualAnswer(call, 0, { ...facts, pagination_key }, records));
}
