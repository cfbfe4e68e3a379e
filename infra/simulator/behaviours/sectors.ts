/** Sectors: the list, and the members of one, of what is actively traded. */

import type { Category } from '../market/instrument.ts';
import {
  type Direction,
  marketValueOf,
  type Ranks,
  type Row,
  sortBy,
  sortRows,
  type Window,
} from '../market/ranks.ts';
import { sectors as allSectors, findSector, type Sector } from '../market/sectors.ts';
import { ratio } from '../numbers-and-times.ts';
import { pageByCount, readCursor } from '../paging.ts';
import { illegalParameter } from '../refusal.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { isRefusal } from './find.ts';
import { listed } from './screeners.ts';

const sectorsOnPage = 20;
const membersOnPage = 50;

const windows: Readonly<Record<string, Window>> = {
  D1: 'DAY_1',
  D5: 'DAY_5',
  MO1: 'MONTH_1',
  MO3: 'MONTH_3',
};

export const sectors: Behaviours = {
  listMarketSectors: ({ operation, query, now }, { ranks }) => {
    const cursor = readCursor(operation, query, now);
    if (cursor && isRefusal(cursor)) return cursor;
    const moment = cursor?.now ?? now;
    const all = summaries(ranks, query, moment);
    const measure = query.agg_type === 'VOLUME' ? 'volume' : 'marketValue';
    const sorted = sortBy(all, (one) => one[measure], (query.direction ?? 'ASC') as Direction);
    const page = pageByCount(sorted, sectorsOnPage, moment, cursor);
    if (isRefusal(page)) return page;
    const { records, ...more } = page;
    return answer({
      data: records.map((summary) => ({
        ...shown(summary),
        volume: String(summary.volume),
        market_value: String(summary.marketValue),
        data: sortRows(summary.rows, 'MARKET_VALUE', 'DESC')
          .slice(0, 3)
          .map(({ instrument: { instrumentId, name, symbol } }) => ({
            instrument_id: instrumentId,
            name,
            symbol,
          })),
      })),
      ...more,
    });
  },

  getMarketSectorDetail: ({ operation, query, now }, { ranks }) => {
    const sector = findSector(query.sector_id!);
    if (!sector) return illegalParameter('sector_id');
    const cursor = readCursor(operation, query, now);
    if (cursor && isRefusal(cursor)) return cursor;
    const moment = cursor?.now ?? now;
    const rows = ranks.rows(query.category as Category, moment, windowOf(query), sector.id);
    const sorted = sortRows(rows, query.sort_by, (query.direction ?? 'ASC') as Direction);
    const page = pageByCount(sorted, membersOnPage, moment, cursor);
    if (isRefusal(page)) return page;
    const { records, ...more } = page;
    return answer({ ...shown(summaryOf(sector, rows)), data: records.map(shownStock), ...more });
  },
};

/** A sector's stocks have fewer members than the rankings. */
function shownStock(row: Row) {
  const {
    change: _change,
    turnover: _turnover,
    pe_ttm: _ratio,
    ticker_symbol: _ticker,
    ...same
  } = listed(row);
  return same;
}

interface Summary {
  readonly sector: Sector;
  readonly rows: readonly Row[];
  /** Whole dollars, now and at the window's start. */
  readonly marketValue: number;
  readonly valueBefore: number;
  readonly volume: number;
}

const windowOf = ({ period }: Readonly<Record<string, string>>) => windows[period ?? 'D1']!;

function summaries(ranks: Ranks, query: Readonly<Record<string, string>>, now: number): readonly Summary[] {
  const bySector = new Map<string, Row[]>(allSectors.map(({ id }) => [id, []]));
  for (const row of ranks.rows(query.category as Category, now, windowOf(query)))
    bySector.get(row.instrument.sectorId)!.push(row);
  return allSectors.map((sector) => summaryOf(sector, bySector.get(sector.id)!));
}

function summaryOf(sector: Sector, rows: readonly Row[]): Summary {
  let [marketValue, valueBefore, volume] = [0, 0, 0];
  for (const row of rows) {
    marketValue += marketValueOf(row);
    valueBefore += marketValueOf({ price: row.base, instrument: row.instrument });
    volume += row.volume;
  }
  return { sector, rows, marketValue, valueBefore, volume };
}

/** A sector changes as all of it together is worth more or less. */
function shown({ sector, rows, marketValue, valueBefore }: Summary) {
  const count = (sign: number) => String(rows.filter(({ change }) => Math.sign(change) === sign).length);
  return {
    id: sector.id,
    name: sector.name,
    change_ratio: ratio(marketValue - valueBefore, valueBefore || 1),
    declined: count(-1),
    advanced: count(1),
    flat: count(0),
  };
}
