/** Signs in, reads quotes and an account, and places an order: with openapi-fetch over types from openapi-typescript. */

import { randomUUID } from 'node:crypto';
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

type Order = components['schemas']['PlaceOrderBody'];
type Refusal = components['schemas']['Refusal'];

const env = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
};

/** In an app its library for OpenID Connect does this, with the user in front of it. */
async function signIn(): Promise<string> {
  const response = await fetch(`${env('ISSUER_URL')}/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'password', username: 'ada' }),
  });
  if (!response.ok) throw new Error(await response.text());
  const { access_token } = (await response.json()) as { access_token: string };
  return access_token;
}

const token = await signIn();
console.log('sign-in ok');
// The key says which app calls, the token who.
const client = createClient<paths>({
  baseUrl: env('GATEWAY_URL'),
  headers: { 'x-api-key': env('API_KEY'), authorization: `Bearer ${token}` },
});

/** A time as the upstream writes it: milliseconds, the same in digits, or ISO 8601 text with +0000. */
function instant(time: unknown): Date {
  if (typeof time === 'number' || /^\d+$/.test(String(time))) return new Date(Number(time));
  return new Date(String(time).replace('+0000', 'Z'));
}

/** `code` is for programs, `detail` for people. */
function must<T>({ data, error }: { data?: T; error?: Refusal }): T {
  if (data !== undefined) return data;
  throw new Error(error ? `${error.code}: ${error.detail}` : 'an answer without a body');
}

const quotes = (header: { 'if-none-match'?: string } = {}) =>
  client.GET('/openapi/market-data/stock/snapshot', {
    params: { query: { symbols: ['AAPL', 'MSFT'], category: 'US_STOCK' }, header },
  });
const first = await quotes();
const [apple] = must(first);
const pollAfter = Number(first.response.headers.get('x-poll-after'));
console.log(`snapshots ok ${apple?.symbol} ${apple?.price}, ask again after ${pollAfter} s`);

const { response } = await quotes({ 'if-none-match': first.response.headers.get('etag') ?? '' });
if (response.status !== 304) throw new Error(`${response.status} in place of 304: the quotes have changed`);
console.log('not-modified ok');
// Nothing new is there before: an app waits as long as it is told.
await new Promise((resolve) => setTimeout(resolve, pollAfter * 1000));
must(await quotes());

const accounts = must(await client.GET('/trading/accounts/list'));
const account_id = accounts[0]?.account_id;
if (account_id === undefined) throw new Error('no account is granted to this user');
console.log(`accounts ok ${accounts.map(({ account_label }) => account_label).join(', ')}`);

const balance = must(await client.GET('/trading/assets/balances/get', { params: { query: { account_id } } }));
console.log(`balance ok ${balance.total_cash_balance} ${balance.total_asset_currency}`);

const client_order_id = randomUUID();
const getOrder = async () =>
  must(await client.GET('/trading/orders/get', { params: { query: { account_id, client_order_id } } }));
// A decimal is text from the user's input to the wire: no digit is lost.
const order: Order = {
  account_id,
  new_orders: [
    {
      client_order_id,
      combo_type: 'NORMAL',
      instrument_type: 'EQUITY',
      entrust_type: 'QTY',
      symbol: 'AAPL',
      market: 'US',
      side: 'BUY',
      order_type: 'LIMIT',
      limit_price: '20.50',
      quantity: '1.50',
      time_in_force: 'GTC',
      support_trading_session: 'CORE',
    },
  ],
};
const placed = await client.POST('/trade/place_order', { body: order });
if (placed.error?.code === 'outcome_unknown') {
  // The order may have been placed: it is read, and never sent again unless it is not there.
  console.log(`The answer was lost. ${placed.error.find_out}`);
  await getOrder();
} else must(placed);
console.log(`order ok ${client_order_id}`);

const shown = (await getOrder()).orders[0];
console.log(
  `get-order ok ${shown?.status}, ${shown?.total_quantity} shares, ${instant(shown?.place_time).toISOString()}`,
);

const { result } = must(
  await client.POST('/market-data/stocks/bars/list', {
    body: { symbols: ['AAPL'], category: 'US_STOCK', timespan: 'D', count: 2 },
  }),
);
const bars = result[0]?.result ?? [];
console.log(
  `bars ok ${bars.map(({ time, close }) => `${instant(time).toISOString().slice(0, 10)} ${close}`).join(', ')}`,
);

// Another user's account, or one that there is not: the answer is the same.
const wrong = await client.GET('/trading/assets/balances/get', {
  params: { query: { account_id: 'NOT-OF-THIS-USER' } },
});
if (!wrong.error) throw new Error('the balance of another account was shown');
console.log(`refusal ok ${wrong.error.code}: ${wrong.error.detail}`);
