/** Older forms of the screeners: paged by page_index, from 1. */

import * as v from 'valibot';
import { joined } from '../schemas.ts';
import {
  getMarketSectorDetail,
  listGainersLosers,
  listHighDividendRank,
  listMarketSectors,
  listTopActive,
  listWeek52HighLow,
} from '../screeners.ts';
import { listOf, older, pagesByIndex, rankPage } from './form.ts';

const firstPage = { page_index: '1', page_size: '20' } as const;

export const legacyListGainersLosers = older(listGainersLosers, {
  id: 'legacyListGainersLosers',
  path: '/openapi/market-data/screener/gainers-losers',
  required: ['rank_type', 'category'],
  optional: ['sort_by', 'direction'],
  own: pagesByIndex(),
  response: rankPage(listGainersLosers),
  example: firstPage,
});

export const legacyListTopActive = older(listTopActive, {
  id: 'legacyListTopActive',
  path: '/openapi/market-data/screener/top-active',
  required: ['category', 'rank_type'],
  optional: ['sort_by', 'direction'],
  own: pagesByIndex(),
  response: rankPage(listTopActive),
  example: firstPage,
});

export const legacyListMarketSectors = older(listMarketSectors, {
  id: 'legacyListMarketSectors',
  path: '/openapi/market-data/screener/market-sectors',
  required: ['category'],
  optional: ['agg_type', 'period', 'direction'],
  own: pagesByIndex(),
  response: listOf(listMarketSectors, 'data'),
  example: firstPage,
});

export const legacyGetMarketSectorDetail = older(getMarketSectorDetail, {
  id: 'legacyGetMarketSectorDetail',
  path: '/openapi/market-data/screener/market-sectors-detail',
  required: ['sector_id', 'category'],
  optional: ['period', 'sort_by', 'direction'],
  own: pagesByIndex(),
  response: sectorWithStocks(getMarketSectorDetail),
  example: firstPage,
});

export const legacyListHighDividendRank = older(listHighDividendRank, {
  id: 'legacyListHighDividendRank',
  path: '/openapi/market-data/screener/high-dividend',
  required: ['category'],
  optional: ['sort_by', 'direction'],
  own: pagesByIndex(),
  response: rankPage(listHighDividendRank),
  example: firstPage,
});

export const legacyListWeek52HighLow = older(listWeek52HighLow, {
  id: 'legacyListWeek52HighLow',
  path: '/openapi/market-data/screener/52whl',
  required: ['rank_type', 'category'],
  optional: ['sort_by', 'direction'],
  own: pagesByIndex(),
  response: rankPage(listWeek52HighLow),
  example: firstPage,
});

/** The current answer without a cursor; what makes it a sector must be there. */
/* @__NO_SIDE_EFFECTS__ */
function sectorWithStocks(current: typeof getMarketSectorDetail): v.GenericSchema {
  const { pagination_key: _, ...members } = current.response.entries;
  return v.looseObject(joined(members, { id: v.string(), data: listOf(current, 'data') }));
}
