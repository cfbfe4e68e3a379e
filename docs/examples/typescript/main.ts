/** Signs in, reads quotes and an account, and places an order: with this project's own client, without a generator. */

import { randomUUID } from 'node:crypto';
import {
  getAccountBalance,
  getOrder,
  getStockSnapshots,
  listAccounts,
  listStockBars,
  placeOrder,
} from 'countersign/catalogue';
import { createClient, isClientError, toDate, viaGateway } from 'countersign/client';

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

const known = new Map<string, { readonly etag: string; readonly text: string }>();
let notModified = 0;

/** Asks whether the last answer is still the same; in a browser its HTTP cache does this. */
const revalidatingFetch: typeof fetch = async (url, init) => {
  const last = known.get(String(url));
  const headers = new Headers(init?.headers);
  if (last) headers.set('if-none-match', last.etag);
  const response = await fetch(url, { ...init, headers });
  if (response.status === 304 && last) {
    notModified += 1;
    return new Response(last.text, { headers: response.headers });
  }
  const etag = response.headers.get('etag');
  if (etag && response.ok) known.set(String(url), { etag, text: await response.clone().text() });
  return response;
};

let token = await signIn();
console.log('sign-in ok');
const client = createClient(
  { getAccountBalance, getOrder, getStockSnapshots, listAccounts, listStockBars, placeOrder },
  // The key says which app calls, the token who.
  viaGateway({
    baseUrl: env('GATEWAY_URL'),
    apiKey: env('API_KEY'),
    token: async ({ renew }) => {
      if (renew) token = await signIn();
      return token;
    },
    fetch: revalidatingFetch,
  }),
  { timeoutMs: 30_000 },
);

const quotes = { symbols: ['AAPL', 'MSFT'], category: 'US_STOCK' } as const;
const first = await client.getStockSnapshots.answer(quotes);
const [apple] = first.data;
const pollAfter = Number(first.headers.get('x-poll-after'));
console.log(`snapshots ok ${apple?.symbol} ${apple?.price}, ask again after ${pollAfter} s`);

await client.getStockSnapshots(quotes);
if (notModified !== 1) throw new Error('no 304: the quotes have changed');
console.log('not-modified ok');
// Nothing new is there before: an app waits as long as it is told.
await new Promise((resolve) => setTimeout(resolve, pollAfter * 1000));
await client.getStockSnapshots(quotes);

const accounts = await client.listAccounts();
const account_id = accounts[0]?.account_id;
if (account_id === undefined) throw new Error('no account is granted to this user');
console.log(`accounts ok ${accounts.map(({ account_label }) => account_label).join(', ')}`);

const balance = await client.getAccountBalance({ account_id });
console.log(`balance ok ${balance.total_cash_balance} ${balance.total_asset_currency}`);

const client_order_id = randomUUID();
try {
  await client.placeOrder({
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
        // A decimal is text from the user's input to the wire: no digit is lost.
        limit_price: '20.50',
        quantity: '1.50',
        time_in_force: 'GTC',
        support_trading_session: 'CORE',
      },
    ],
  });
} catch (error) {
  if (!isClientError(error) || error.kind !== 'outcome_unknown') throw error;
  // The order may have been placed: it is read, and never sent again unless it is not there.
  console.log(`The answer was lost. ${error.findOut}`);
  await client.getOrder({ account_id, client_order_id });
}
console.log(`order ok ${client_order_id}`);

const [shown] = (await client.getOrder({ account_id, client_order_id })).orders;
const placedAt = toDate(shown?.place_time_at ?? '').toISOString();
console.log(`get-order ok ${shown?.status}, ${shown?.total_quantity} shares, ${placedAt}`);

const { result } = await client.listStockBars({
  symbols: ['AAPL'],
  category: 'US_STOCK',
  timespan: 'D',
  count: 2,
});
const bars = result[0]?.result ?? [];
console.log(
  `bars ok ${bars.map(({ time, close }) => `${toDate(time).toISOString().slice(0, 10)} ${close}`).join(', ')}`,
);

try {
  // Another user's account, or one that there is not: the answer is the same.
  await client.getAccountBalance({ account_id: 'NOT-OF-THIS-USER' });
  throw new Error('the balance of another account was shown');
} catch (error) {
  if (!isClientError(error) || error.kind !== 'refused') throw error;
  console.log(`refusal ok ${error.code}: ${error.message}`);
}
