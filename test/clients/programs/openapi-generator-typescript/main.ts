/** The steps of docs/examples with a client of openapi-generator's `typescript-fetch`. */

import { randomUUID } from 'node:crypto';
import {
  AccountsApi,
  Category,
  Configuration,
  MarketDataApi,
  OrdersApi,
  type PlaceOrderBody,
  RefusalFromJSON,
  ResponseError,
} from './client';

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

const token = await signIn();
console.log('sign-in ok');
const configuration = new Configuration({
  basePath: env('GATEWAY_URL'),
  apiKey: env('API_KEY'),
  accessToken: token,
});
const marketData = new MarketDataApi(configuration);
const accountsApi = new AccountsApi(configuration);
const orders = new OrdersApi(configuration);

/** What the call throws where it is refused. */
async function refusalOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ResponseError) return RefusalFromJSON(await error.response.json());
  if (error) throw error;
  return undefined;
}

const quotes = { symbols: ['AAPL', 'MSFT'], category: Category.UsStock };
const first = await marketData.getStockSnapshotsRaw(quotes);
const [apple] = await first.value();
const pollAfter = Number(first.raw.headers.get('x-poll-after'));
console.log(`snapshots ok ${apple?.symbol} ${apple?.price}, ask again after ${pollAfter} s`);

const ifNoneMatch = first.raw.headers.get('etag') ?? '';
const status = await marketData.getStockSnapshotsRaw({ ...quotes, ifNoneMatch }).then(
  ({ raw }) => raw.status,
  (error: unknown) => (error instanceof ResponseError ? error.response.status : 0),
);
if (status !== 304) throw new Error(`${status} in place of 304`);
console.log('not-modified ok');
await new Promise((resolve) => setTimeout(resolve, pollAfter * 1000));
await marketData.getStockSnapshots(quotes);

const accounts = await accountsApi.listAccounts();
const accountId = accounts[0]?.accountId;
if (accountId === undefined) throw new Error('no account is granted to this user');
console.log(`accounts ok ${accounts.map(({ accountLabel }) => accountLabel).join(', ')}`);

const balance = await accountsApi.getAccountBalance({ accountId });
console.log(`balance ok ${balance.totalCashBalance} ${balance.totalAssetCurrency}`);

const clientOrderId = randomUUID();
const readOrder = () => orders.getOrder({ accountId, clientOrderId });
const placeOrderBody: PlaceOrderBody = {
  accountId,
  newOrders: [
    {
      clientOrderId,
      comboType: 'NORMAL',
      instrumentType: 'EQUITY',
      entrustType: 'QTY',
      symbol: 'AAPL',
      market: 'US',
      side: 'BUY',
      orderType: 'LIMIT',
      limitPrice: '20.50',
      quantity: '1.50',
      timeInForce: 'GTC',
      supportTradingSession: 'CORE',
    },
  ],
};
const refusal = await refusalOf(orders.placeOrder({ placeOrderBody }));
if (refusal?.code === 'outcome_unknown') await readOrder();
else if (refusal) throw new Error(`${refusal.code}: ${refusal.detail}`);
console.log(`order ok ${clientOrderId}`);

const shown = (await readOrder()).orders[0];
console.log(`get-order ok ${shown?.totalQuantity} shares, ${instant(shown?.placeTime).toISOString()}`);

const { result } = await marketData.listStockBars({
  listStockBarsBody: { symbols: ['AAPL'], category: 'US_STOCK', timespan: 'D', count: 2 },
});
const bars = result[0]?.result ?? [];
console.log(`bars ok ${bars.map(({ time, close }) => `${instant(time).toISOString()} ${close}`).join(', ')}`);

const wrong = await refusalOf(accountsApi.getAccountBalance({ accountId: 'NOT-OF-THIS-USER' }));
if (!wrong) throw new Error('the balance of another account was shown');
console.log(`refusal ok ${wrong.code}: ${wrong.detail}`);
