/**
 * Older forms of operations. The records come from the current operation's behaviour; only the pages and the shape of the
 * answer differ.
 */

import type { Operation } from '../../../lib/catalogue/index.ts';
import * as catalogue from '../../../lib/catalogue/index.ts';
import { isDay } from '../../../lib/catalogue/schemas.ts';
import { writeCursor } from '../paging.ts';
import { parameterError, type Rejection } from '../refusal.ts';
import type { World } from '../world.ts';
import { type ApiCall, answer, type Behaviour, type Behaviours } from './behaviour.ts';
import { bySymbol } from './by-symbol.ts';
import { isRefusal } from './find.ts';
import { fromSchema } from './from-schema.ts';
import { optionContracts } from './option-contracts.ts';
import { options } from './options.ts';
import { orderViews } from './order-views.ts';
import { screeners } from './screeners.ts';

type OldQuery = ApiCall['query'];

/** Page size when page_size is absent; no source states it. */
const usualPageSize = 20;
/** Page size of open orders: the shortest page that the live upstream sends. */
const usualOrders = 10;

/** Contracts that are searched for the last one seen: more than any filtered list has. */
const maxContracts = 20_000;

export const legacy: Behaviours = {
  legacyListOpenOrders: orderPages(orderViews.listOpenOrders!),

  legacyListOrderHistory: orderPages(orderViews.listOrderHistory!, inPeriod),

  legacyListOptionContracts: (call, world) => {
    const { option_symbol: symbols, last_instrument_id: last, page_size: size, ...query } = call.query;
    const newForm = { ...query, ...(symbols !== undefined && { option_symbols: symbols }) };
    const records: object[] = [];
    let hasPassed = last === undefined;
    let count = 0;
    for (const page of pagesOf(optionContracts.listOptionContracts!, { ...call, query: newForm }, world)) {
      if (isRefusal(page)) return page;
      for (const record of page.data) {
        if (hasPassed) records.push(record);
        if (records.length === Number(size ?? usualPageSize)) return answer(records);
        hasPassed ||= (record as { instrument_id?: unknown }).instrument_id === last;
        if (++count > maxContracts && !hasPassed) return parameterError('last_instrument_id');
      }
    }
    return hasPassed ? answer(records) : parameterError('last_instrument_id');
  },

  legacyListOptionBars: (call, world) => {
    const reply = options.listOptionBars!(call, world);
    if (!reply.ok) return reply;
    const payload = reply.payload as readonly object[] | { readonly result: readonly object[] };
    return answer('result' in payload ? payload.result : payload);
  },

  legacyGetFundDividends: byIndex(catalogue.getFundDividends, ({ records }) => records),
  legacyListMarketSectors: byIndex(catalogue.listMarketSectors, ({ records }) => records),
  legacyGetMarketSectorDetail: byIndex(catalogue.getMarketSectorDetail, ({ records, rest }) => ({
    ...rest,
    data: records,
  })),
  legacyListGainersLosers: byIndex(catalogue.listGainersLosers, rankPage),
  legacyListTopActive: byIndex(catalogue.listTopActive, rankPage),
  legacyListHighDividendRank: byIndex(catalogue.listHighDividendRank, rankPage),
  legacyListWeek52HighLow: byIndex(catalogue.listWeek52HighLow, rankPage),
};

interface IndexedPage {
  readonly records: readonly object[];
  readonly hasMore: boolean;
  /** Members of the current answer beside its records. */
  readonly rest: object;
}

function rankPage({ records, hasMore }: IndexedPage) {
  return { has_more: hasMore, data: records };
}

/** Sends the page with the number page_index, from 1, of all records that the current operation has now. */
function byIndex(operation: Operation, shown: (page: IndexedPage) => unknown): Behaviour {
  const current = { ...bySymbol, ...screeners }[operation.id] ?? fromSchema;
  return (call, world) => {
    const { page_index: index = '1', page_size: size = usualPageSize, ...query } = call.query;
    const all: object[] = [];
    let rest: object | undefined;
    for (const page of pagesOf(current, { ...call, operation, query }, world)) {
      if (isRefusal(page)) return page;
      all.push(...page.data);
      rest ??= page.rest;
    }
    const end = Number(index) * Number(size);
    const records = all.slice(end - Number(size), end);
    return answer(shown({ records, hasMore: end < all.length, rest: rest! }));
  };
}

/** Sends the groups after the last order seen, whose place counts even if it has left the list meanwhile. */
function orderPages(
  current: Behaviour,
  translated = (query: OldQuery): OldQuery | Rejection => query,
): Behaviour {
  return (call, world) => {
    const { page_size: size = usualOrders, last_client_order_id, last_order_id, ...query } = call.query;
    const after = placeOf(query.account_id!, { last_client_order_id, last_order_id }, call.now, world);
    if (typeof after === 'object') return after;
    const cursor = after !== undefined && {
      pagination_key: writeCursor({ now: call.now, after: String(after) }),
    };
    const newForm = translated(query);
    if (isRefusal(newForm)) return newForm;
    const groups: object[] = [];
    for (const page of pagesOf(current, { ...call, query: { ...newForm, ...cursor } }, world)) {
      if (isRefusal(page)) return page;
      groups.push(...page.data);
      if (groups.length >= Number(size)) break;
    }
    return answer(groups.slice(0, Number(size)));
  };
}

/** Place of an order's group in the account's list; undefined if none is named. */
function placeOf(
  accountId: string,
  named: { readonly last_client_order_id?: string | undefined; readonly last_order_id?: string | undefined },
  now: number,
  { orders: book }: World,
): number | undefined | Rejection {
  const { last_client_order_id: clientOrderId, last_order_id: orderId } = named;
  if (clientOrderId !== undefined)
    return (
      book.findVisible(accountId, clientOrderId, now)?.group.sequence ??
      parameterError('last_client_order_id')
    );
  if (orderId === undefined) return undefined;
  const group = book
    .groupsOf(accountId, now)
    .find((one) => one.orders.some(({ stored }) => stored.orderId === orderId));
  return group?.sequence ?? parameterError('last_order_id');
}

/** Converts the period to the current operation's form; it includes the day that ends it. */
function inPeriod({ start_date, end_date, ...query }: OldQuery): OldQuery | Rejection {
  const period: Record<string, string> = {};
  for (const [name, text, dayIs] of [
    ['start_time', query.start_time ?? start_date, 0],
    ['end_time', query.end_time ?? end_date, 86_400_000 - 1],
  ] as const) {
    if (text === undefined) continue;
    const written = text.replace(compactDay, '$1-$2-$3');
    const time = new Date(timeOf(written) + (isDay(written) ? dayIs : 0));
    if (Number.isNaN(time.getTime())) return parameterError(name);
    period[name] = time.toISOString();
  }
  return { ...query, ...period };
}

/** Days in the form that answers have; read as milliseconds, eight digits would lie in 1970. */
const compactDay = /^(\d{4})(\d\d)(\d\d)$/;

/** Parses a day, a moment or milliseconds to milliseconds, in UTC without a zone; NaN for a day that does not exist. */
function timeOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  const [day = '', clock = '00:00'] = text.split(/[T ]/);
  if (!isDay(day)) return NaN;
  return Date.parse(`${day}T${clock}${/(Z|[+-]\d\d:?\d\d)$/.test(clock) ? '' : 'Z'}`);
}

interface CurrentPage {
  readonly data: readonly object[];
  readonly rest: object;
}

/** Yields the current operation's pages one after the other; a refusal is the last. */
function* pagesOf(current: Behaviour, call: ApiCall, world: World): Generator<CurrentPage | Rejection> {
  let query = call.query;
  for (;;) {
    const reply = current({ ...call, query }, world);
    if (!reply.ok) return yield reply;
    const { payload } = reply as { readonly payload: readonly object[] | WrappedPage };
    const envelope: WrappedPage = 'data' in payload ? payload : { data: payload };
    const { data, pagination_key: cursor, ...rest } = envelope;
    yield { data, rest };
    if (cursor === undefined) return;
    query = { ...query, pagination_key: cursor };
  }
}

interface WrappedPage {
  readonly data: readonly object[];
  readonly pagination_key?: string;
}
