/**
 * What compiles and what does not: `npm run check` is the test. Every line under an expected error must be one,
 * and every `same` must hold exactly.
 */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { test } from 'vitest';
import * as catalogue from '../../../lib/catalogue/index.ts';
import {
  type Answer,
  type ClientError,
  createClient,
  type ItemOf,
  isClientError,
  type ResultOf,
  recordsIn,
  type reported,
  viaGateway,
} from '../../../lib/client/index.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._: Same<A, B> extends true ? [] : ['these types differ']) => {};

const connection = viaGateway({ baseUrl: 'https://example.com' });

/** Compiled, never called. */
async function compiled() {
  const client = createClient(catalogue, connection, { paths: { placeOrder: '/trading/orders/place' } });
  const { getStockSnapshots, listAccounts, placeOrder, listOrderHistory, getStockBars } = client;

  // Parameters: required, enumerated, of several forms.
  await getStockSnapshots({ symbols: ['AAPL'], category: 'US_STOCK' });
  await getStockSnapshots({ symbols: ['AAPL'] as const, category: 'US_ETF', extend_hour_required: true });
  await getStockSnapshots({ symbols: 'AAPL,MSFT', category: 'US_STOCK', overnight_required: undefined });
  same<
    Parameters<typeof getStockSnapshots>[0],
    {
      readonly symbols: string | readonly string[];
      readonly category: 'US_STOCK' | 'US_ETF';
      readonly extend_hour_required?: boolean | 'true' | 'false' | 'True' | 'False' | undefined;
      readonly overnight_required?: boolean | 'true' | 'false' | 'True' | 'False' | undefined;
    }
  >();
  // @ts-expect-error category is missing
  await getStockSnapshots({ symbols: ['AAPL'] });
  // @ts-expect-error not a category
  await getStockSnapshots({ symbols: ['AAPL'], category: 'US_STOCKS' });
  // @ts-expect-error no such parameter
  await getStockSnapshots({ symbols: ['AAPL'], category: 'US_STOCK', symbol: 'AAPL' });
  // @ts-expect-error parameters are required
  await getStockSnapshots();
  // @ts-expect-error not a list of texts
  await getStockSnapshots({ symbols: [1], category: 'US_STOCK' });
  const bars = { symbol: 'AAPL', category: 'US_STOCK', timespan: 'D' } as const;
  await getStockBars({ ...bars, count: 5, start_time: new Date(0), end_time: 1, trading_sessions: ['PRE'] });
  // @ts-expect-error not a session
  await getStockBars({ ...bars, trading_sessions: ['NOON'] });

  // Nothing required, nothing to give.
  await listAccounts();
  await listAccounts({}, { signal: new AbortController().signal });
  // @ts-expect-error there are no parameters
  await listAccounts({ account_id: '1' });
  await client.createToken();
  // @ts-expect-error a token is required
  await client.checkToken();

  // Bodies.
  const order = {
    client_order_id: 'order-0001',
    combo_type: 'NORMAL',
    instrument_type: 'EQUITY',
    entrust_type: 'QTY',
    symbol: 'AAPL',
    market: 'US',
    side: 'BUY',
    order_type: 'LIMIT',
    limit_price: '1.10',
    time_in_force: 'DAY',
    support_trading_session: 'CORE',
    quantity: '1',
  } as const;
  await placeOrder({ account_id: '1', new_orders: [order] } as const);
  // @ts-expect-error an order needs its side
  await placeOrder({ account_id: '1', new_orders: [{ ...order, side: undefined }] });
  // @ts-expect-error a price is text
  await placeOrder({ account_id: '1', new_orders: [{ ...order, limit_price: 1.1 }] });
  // @ts-expect-error misspelt, though the schema is open
  await placeOrder({ account_id: '1', new_orders: [{ ...order, limit_prize: '1.10' }] });
  // A stock order says its session, one of options need not.
  const { support_trading_session: _, ...withoutSession } = order;
  // @ts-expect-error the session is missing
  await placeOrder({ account_id: '1', new_orders: [withoutSession] });
  // @ts-expect-error null is no session
  await placeOrder({ account_id: '1', new_orders: [{ ...order, support_trading_session: null }] });
  // @ts-expect-error nor is this one
  await placeOrder({ account_id: '1', new_orders: [{ ...order, support_trading_session: 'NOON' }] });
  const option = { ...withoutSession, instrument_type: 'OPTION' } as const;
  await placeOrder({ account_id: '1', new_orders: [option, order] });
  await client.previewOrder({ account_id: '1', new_orders: [{ ...option, support_trading_session: null }] });
  // @ts-expect-error misspelt, in an order of options too
  await placeOrder({ account_id: '1', new_orders: [{ ...option, limit_prize: '1.10' }] });
  // What may be left out may be null.
  await placeOrder({
    account_id: '1',
    client_combo_order_id: null,
    new_orders: [{ ...order, stop_price: null, legs: null, option_strategy: null }],
  });
  // @ts-expect-error what is required may not
  await placeOrder({ account_id: null, new_orders: [order] });
  // @ts-expect-error misspelt in the body itself
  await placeOrder({ acount_id: '1', account_id: '1', new_orders: [order] });

  // Options: query only where it is open, headers only where the entry names them.
  await placeOrder(
    { account_id: '1', new_orders: [order] },
    { query: { account_id: '1', n: 1 }, headers: { category: 'US_STOCK' }, timeoutMs: 1 },
  );
  // @ts-expect-error not a header of this operation
  await placeOrder({ account_id: '1', new_orders: [order] }, { headers: { host: 'x' } });
  // @ts-expect-error a read of the catalogue takes no further query
  await client.checkToken({ token: '1' }, { query: { a: '1' } });
  // @ts-expect-error nor headers
  await getStockSnapshots({ symbols: ['A'], category: 'US_ETF' }, { headers: { category: 'x' } });

  // Results: what the catalogue knows, and no misspelling.
  const [snapshot] = await getStockSnapshots({ symbols: ['AAPL'], category: 'US_STOCK' });
  same<typeof snapshot, ResultOf<typeof catalogue.getStockSnapshots>[number] | undefined>();
  same<NonNullable<typeof snapshot>['symbol'], string>();
  same<NonNullable<typeof snapshot>['open'], string | null | undefined>();
  same<NonNullable<typeof snapshot>['last_trade_time'], number | undefined>();
  // What the interface text promises is never null; what it does not name may be.
  same<NonNullable<typeof snapshot>['price'], string | undefined>();
  same<NonNullable<typeof snapshot>['pe_ratio'], string | null | undefined>();
  same<ReturnType<typeof reported<string | null | undefined>>, string | undefined>();
  // Answers of two forms.
  const options = { symbols: 'A', category: 'US_OPTION', timespan: 'D' } as const;
  const [ofOption] = recordsIn(await client.listOptionBars(options));
  same<NonNullable<typeof ofOption>['result'][number]['time'], string | number>();
  const changed = await client.deleteWatchlist({ watchlist_id: '1' });
  same<typeof changed, boolean | { success?: boolean | undefined }>();
  // @ts-expect-error no such member
  snapshot?.prise;
  const [account] = await listAccounts();
  same<NonNullable<typeof account>['account_type'], 'MARGIN' | 'CASH' | (string & {})>();
  // The upstream may send a value that the catalogue does not name.
  if (account?.account_type === 'PRIME') return;
  const [footprint] = await client.listStockFootprints({ symbols: 'A', category: 'US_ETF', timespan: 'S5' });
  // A record keeps its signature.
  same<
    NonNullable<NonNullable<NonNullable<typeof footprint>['result']>[number]['buy_detail']>,
    { [price: string]: string }
  >();
  same<Awaited<ReturnType<typeof listAccounts.answer>>, Answer<ResultOf<typeof catalogue.listAccounts>>>();

  // Paging: typed records, and only where there are pages.
  for await (const item of listOrderHistory.items({ account_id: '1', start_time: new Date() })) {
    same<typeof item, ItemOf<typeof catalogue.listOrderHistory>>();
    same<(typeof item)['orders'][number]['order_id'], string>();
  }
  for await (const value of client.getFundNetValues.items({ symbol: 'QQQ', category: 'US_ETF' }))
    same<(typeof value)['net_value'], string | null | undefined>();
  for await (const page of client.listStockInstruments.pages({ category: 'US_STOCK' }))
    same<NonNullable<(typeof page)['data']>[number]['symbol'], string>();
  // @ts-expect-error these are not paged
  getStockSnapshots.pages;
  // @ts-expect-error these are not paged
  listAccounts.items;

  // One method for each entry, and for nothing else of a module.
  same<(typeof client)['cancelOrder'], ReturnType<typeof ofCancel>['cancelOrder']>();
  // @ts-expect-error no operation
  client.findRoute;
  // @ts-expect-error no operation of this client
  createClient({ getOrder: catalogue.getOrder }, connection, { paths: { placeOrder: '/a' } });

  // An operation that no catalogue has: query and body at once.
  const made = createClient({ made: madeUp }, connection).made;
  await made({ list: [1] }, { query: { day: '2026-01-01' } });
  same<Awaited<ReturnType<typeof made>>, { answer: 'yes' | 'no' | (string & {}) }>();
  // @ts-expect-error the query is required
  await made({ list: [1] });
  // @ts-expect-error so is its day
  await made({ list: [1] }, { query: {} });
}

const ofCancel = () => createClient({ cancelOrder: catalogue.cancelOrder }, connection);

const madeUp = {
  ...catalogue.getOrder,
  id: 'made',
  method: 'POST',
  query: { day: { ...catalogue.getFundNetValues.query.last_date, required: true } },
  body: v.looseObject({ list: v.array(v.number()) }),
  response: v.looseObject({ answer: v.picklist(['yes', 'no']) }),
} as const satisfies catalogue.Operation;

/** A `switch` over the kinds is exhaustive, and narrows. */
function describeError(error: ClientError): string {
  switch (error.kind) {
    case 'invalid_request':
      return error.faults.map(({ name }) => name).join();
    case 'refused':
      return `${error.status} ${error.code satisfies string | undefined}`;
    case 'timed_out':
      return `${error.timeoutMs satisfies number}`;
    case 'outcome_unknown':
      return error.findOut;
    case 'broken_answer':
      return error.text;
    case 'unreachable':
      return error.message;
  }
}

test('types are what they should be: this file compiles', () => {
  assert.equal(typeof compiled, 'function');
  const unknown: unknown = new Error('no');
  assert.equal(isClientError(unknown) ? describeError(unknown) : 'another', 'another');
});
