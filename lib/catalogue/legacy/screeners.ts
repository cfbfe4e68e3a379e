/** Older forms of the screeners: paged by page_index, from 1. */

import * as v from 'valibot';
import type { Operation } from '../operation.ts';
import { joinMembers } from '../schemas.ts';
import {
  getMarketSectorDetail,
  listGainersLosers,
  listHighDividendRank,
  listMarketSectors,
  listTopActive,
  listWeek52HighLow,
} from '../screeners.ts';
import { listOf, type OlderForm, olderForm, pagesByIndex, rankPage } from './form.ts';

export const legacyListGainersLosers = paged(listGainersLosers, {
  id: 'legacyListGainersLosers',
  path: '/openapi/market-data/screener/gainers-losers',
  required: ['rank_type', 'category'],
  optional: ['sort_by', 'direction'],
});

export const legacyListTopActive = paged(listTopActive, {
  id: 'legacyListTopActive',
  path: '/openapi/market-data/screener/top-active',
  required: ['category', 'rank_type'],
  optional: ['sort_by', 'direction'],
});

export const legacyListMarketSectors = paged(listMarketSectors, {
  id: 'legacyListMarketSectors',
  path: '/openapi/market-data/screener/market-sectors',
  required: ['category'],
  optional: ['agg_type', 'period', 'direction'],
  response: listOf(listMarketSectors, 'data'),
});

export const legacyGetMarketSectorDetail = paged(getMarketSectorDetail, {
  id: 'legacyGetMarketSectorDetail',
  path: '/openapi/market-data/screener/market-sectors-detail',
  required: ['sector_id', 'category'],
  optional: ['period', 'sort_by', 'direction'],
  response: sectorWithStocks(getMarketSectorDetail),
});

export const legacyListHighDividendRank = paged(listHighDividendRank, {
  id: 'legacyListHighDividendRank',
  path: '/openapi/market-data/screener/high-dividend',
  required: ['category'],
  optional: ['sort_by', 'direction'],
});

export const legacyListWeek52HighLow = paged(listWeek52HighLow, {
  id: 'legacyListWeek52HighLow',
  path: '/openapi/market-data/screener/52whl',
  required: ['rank_type', 'category'],
  optional: ['sort_by', 'direction'],
});

type Paged = Pick<OlderForm, 'id' | 'path' | 'required' | 'optional'> & Partial<Pick<OlderForm, 'response'>>;

/** @param form description of the older form; its response is a ranking by default */
/* @__NO_SIDE_EFFECTS__ */
function paged(current: Operation, { response = rankPage(current), ...form }: Paged): Operation {
  const example = { page_index: '1', page_size: '20' };
  return olderForm(current, { ...form, own: pagesByIndex(), response, example });
}

/** Schema of the current answer without its cursor; `id` and `data` are required. */
/* @__NO_SIDE_EFFECTS__ */
function sectorWithStocks(current: typeof getMarketSectorDetail): v.GenericSchema {
  const { pagination_key: _, ...members } = current.response.entries;
  return v.looseObject(joinMembers(members, { id: v.string(), data: listOf(current, 'data') }));
}
