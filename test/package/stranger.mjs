/** A stranger's test of an app: it signs, gets a quote, places an order and loses an answer. It has the package alone. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createSignedFetch, createSigner } from 'countersign/signer';
import { loseFirstAnswers, startSimulator } from 'countersign/simulator';

const upstream = await startSimulator({ marketHours: 'open', deposits: { CASH: '300.00' } });
after(() => upstream.close());
const signedFetch = createSignedFetch({ signer: createSigner(upstream) });
const cash = upstream.accounts.find(({ account_type }) => account_type === 'CASH');

/** The app under test: buys a share, and looks before it says that it failed. */
async function buy(client_order_id, quantity = '1') {
  const order = {
    client_order_id,
    symbol: 'AAPL',
    instrument_type: 'EQUITY',
    market: 'US',
    side: 'BUY',
    quantity,
  };
  const terms = { combo_type: 'NORMAL', entrust_type: 'QTY', order_type: 'MARKET', time_in_force: 'DAY' };
  const new_orders = [{ ...order, ...terms, support_trading_session: 'CORE' }];
  const sent = signedFetch(`${upstream.url}/openapi/trade/order/place`, {
    method: 'POST',
    body: { account_id: cash.account_id, new_orders },
  });
  const answer = await sent.then((response) => response.json()).catch(() => undefined);
  if (answer) return answer.error_code ?? 'taken';
  const query = new URLSearchParams({ account_id: cash.account_id, client_order_id });
  return (await signedFetch(`${upstream.url}/openapi/trade/order/detail?${query}`)).ok ? 'taken' : 'lost';
}

test('a quote', async () => {
  const query = 'symbols=AAPL&category=US_STOCK';
  const [quote] = await (
    await signedFetch(`${upstream.url}/openapi/market-data/stock/snapshot?${query}`)
  ).json();
  assert.ok(Number(quote.price) > 0);
});

test('an order, and one that is too large', async () => {
  assert.equal(await buy('stranger-0001'), 'taken');
  assert.equal(await buy('stranger-0002', '100'), 'DAY_BUYING_POWER_INSUFFICIENT');
});

test('a lost answer', async () => {
  upstream.bring(loseFirstAnswers());
  assert.equal(await buy('stranger-0003', '0.01'), 'taken');
  assert.equal(upstream.orders.at(-1).clientOrderId, 'stranger-0003');
  assert.deepEqual(
    upstream.received.slice(-2).map(({ fault, outcome }) => fault ?? outcome),
    ['drop-after', 'ok'],
  );
});
