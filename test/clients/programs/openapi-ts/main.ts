/** The steps of docs/examples with a client of @hey-api/openapi-ts. */

import { randomUUID } from 'node:crypto';
import { client } from './client/client.gen.js';
import {
  getAccountBalance,
  getOrder,
  getStockSnapshots,
  listAccounts,
  listStockBars,
  type PlaceOrderBody,
  placeOrder,
  type Refusal,
} from './client/index.js';

const env = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
};

async function signIn(): Promise<string> {
  const response = await fetch(`${env('ISSUER_URL')}/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'password', username: 'ada' }),
  });
  if (!response.ok) throw new Error(await response.text());
  const { access_token } = (await response.json()) as { access_token: string };
  return access_token;
}

function instant(time: unknown): Date {
  if (typeof time === 'number' || /^\d+$/.test(String(time))) return new Date(Number(time));
  return new Date(String(time).replace('+0000', 'Z'));
}

function must<T>({ data, error }: { data?: T; error?: Refusal }): T {
  if (data !== undefined) return data;
  throw new Error(error ? `${error.code}: ${error.detail}` : 'an answer without a body');
}

const token = await signIn();
console.log('sign-in ok');
client.setConfig({
  baseUrl: env('GATEWAY_URL'),
  auth: ({ scheme }) => (scheme === 'bearer' ? token : env('API_KEY')),
});

const quotes = (headers: { 'if-none-match'?: string } = {}) =>
  getStockSnapshots({ query: { symbols: ['AAPL', 'MSFT'], category: 'US_STOCK' }, headers });
const first = await quotes();
const [apple] = must(first);
const pollAfter = Number(first.response.headers.get('x-poll-after'));
console.log(`snapshots ok ${apple?.symbol} ${apple?.price}, ask again after ${pollAfter} s`);

const { response } = await quotes({ 'if-none-match': first.response.headers.get('etag') ?? '' });
if (response.status !== 304) throw new Error(`${response.status} in place of 304`);
console.log('not-modified ok');
await new Promise((resolve) => setTimeout(resolve, pollAfter * 1000));
must(await quotes());

const accounts = must(await listAccounts());
const account_id = accounts[0]?.account_id;
if (account_id === undefined) throw new Error('no account is granted to this user');
console.log(`accounts ok ${accounts.map(({ account_label }) => account_label).join(', ')}`);

const balance = must(await getAccountBalance({ query: { account_id } }));
console.log(`balance ok ${balance.total_cash_balance} ${balance.total_asset_currency}`);

const client_order_id = randomUUID();
const readOrder = async () => must(await getOrder({ query: { account_id, client_order_id } }));
const body: PlaceOrderBody = {
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
const placed = await placeOrder({ body });
if (placed.error?.code === 'outcome_unknown') await readOrder();
else must(placed);
console.log(`order ok ${client_order_id}`);

const shown = (await readOrder()).orders[0];
console.log(`get-order ok ${shown?.total_quantity} shares, ${instant(shown?.place_time).toISOString()}`);

const { result } = must(
  await listStockBars({ body: { symbols: ['AAPL'], category: 'US_STOCK', timespan: 'D', count: 2 } }),
);
const bars = result[0]?.result ?? [];
console.log(`bars ok ${bars.map(({ time, close }) => `${instant(time).toISOString()} ${close}`).join(', ')}`);

const wrong = await getAccountBalance({ query: { account_id: 'NOT-OF-THIS-USER' } });
if (!wrong.error) throw new Error('the balance of another account was shown');
console.log(`refusal ok ${wrong.error.code}: ${wrong.error.detail}`);
