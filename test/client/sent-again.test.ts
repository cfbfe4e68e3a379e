/** What a client that sends a change again is told, through gateways with a journal and without. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import * as catalogue from '../../lib/catalogue/index.ts';
import { createClient, viaGateway } from '../../lib/client/index.ts';
import type { Gateway } from '../../lib/gateway/index.ts';
import { accountId } from '../support/core.ts';
import { startInstances } from '../support/instances.ts';
import { orderOf as anOrder, directly, failure } from './support.ts';

/** Takes the gateway for a server. */
const fetchOf =
  (gateway: Gateway): typeof fetch =>
  async (input, init) => {
    const { method, url, headers, body } = new Request(input, init);
    const { pathname, searchParams } = new URL(url);
    const answer = await gateway.handle({
      method,
      path: pathname,
      query: [...searchParams],
      headers: Object.fromEntries(headers),
      requestId: 'request-1',
      ...(body && { body: new Uint8Array(await new Response(body).arrayBuffer()) }),
    });
    return new Response(answer.body as Uint8Array<ArrayBuffer>, answer);
  };

async function clientFor(t: TestContext, given: Parameters<typeof startInstances>[2] = {}) {
  const { gateway, simulator } = await startInstances(t, 1, given);
  const connection = viaGateway({ baseUrl: 'https://gateway.example', fetch: fetchOf(gateway) });
  return { client: createClient(catalogue, connection), simulator };
}

/** It stays open. */
const orderOf = (change = {}) =>
  anOrder({ client_order_id: 'sent-again-order', order_type: 'LIMIT', limit_price: '1.10', ...change });

describe('an order that is sent again', () => {
  test('is answered as replayed, and placed once', async (t) => {
    const { client, simulator } = await clientFor(t);
    const first = await client.placeOrder.answer(orderOf());
    const second = await client.placeOrder.answer(orderOf());
    assert.deepEqual([first.isReplayed, second.isReplayed], [false, true]);
    assert.equal(second.text, first.text);
    assert.equal(simulator.orders.length, 1);
  });

  test('with other contents is refused, while the earlier one is live', async (t) => {
    const { client, simulator } = await clientFor(t);
    await client.placeOrder(orderOf());
    const error = await failure('refused', client.placeOrder(orderOf({ quantity: '11' })));
    assert.deepEqual([error.status, error.code], [409, 'idempotency_conflict']);
    assert.equal(simulator.orders.length, 1);
    const { state } = await client.getOrderOutcome({
      account_id: accountId,
      client_order_id: 'sent-again-order',
    });
    assert.equal(state, 'accepted');
  });

  test('after an unknown outcome tells the outcome', async (t) => {
    let loses = true;
    const { client, simulator } = await clientFor(t, {
      simulated: { fault: ({ method }) => (loses ? (method === 'POST' ? lost : away) : undefined) },
      sleep: async () => {},
    });
    await failure('outcome_unknown', client.placeOrder(orderOf()));
    loses = false;
    const { data, isReplayed } = await client.placeOrder.answer(orderOf());
    assert.deepEqual([data.client_order_id, isReplayed], ['sent-again-order', true]);
    assert.equal(simulator.orders.length, 1);
  });
});

/** What a look-up meets meanwhile. It says that the upstream is there, so that reads go on. */
const away = { kind: 'status', status: 503, body: { error_code: 'SERVICE_NOT_AVAILABLE' } } as const;
const lost = { kind: 'drop-after' } as const;

describe('an idempotencyKey', () => {
  test('names a change: it is executed once', async (t) => {
    const { client, simulator } = await clientFor(t);
    await client.placeOrder(orderOf());
    const cancel = () =>
      client.cancelOrder.answer(
        { account_id: accountId, client_order_id: 'sent-again-order' },
        { idempotencyKey: 'cancel of this test' },
      );
    const [first, second] = [await cancel(), await cancel()];
    assert.deepEqual([first.isReplayed, second.isReplayed], [false, true]);
    assert.equal(second.text, first.text);
    const cancels = simulator.received.filter(({ target }) => target === catalogue.cancelOrder.path);
    assert.equal(cancels.length, 1);
  });

  test('that is no plain text is refused before anything is sent', async (t) => {
    const { client, simulator } = await clientFor(t);
    for (const idempotencyKey of ['', ' a', 'a ', 'é', 'a\nb', 'x'.repeat(256)]) {
      const call = client.deleteWatchlist({ watchlist_id: '1' }, { idempotencyKey });
      const error = await failure('invalid_request', call);
      assert.deepEqual(
        error.faults.map(({ in: where, name }) => [where, name]),
        [['header', 'idempotency-key']],
      );
    }
    assert.equal(simulator.received.length, 0);
  });

  test('is not for orders, whose ids are their keys, nor for reads', async (t) => {
    const { client, simulator } = await clientFor(t);
    const options = { idempotencyKey: 'a-key' } as object;
    for (const call of [client.placeOrder(orderOf(), options), client.listAccounts(undefined, options)])
      await failure('invalid_request', call);
    assert.equal(simulator.received.length, 0);
  });

  test('is refused without a gateway: the interface would not keep it', async (t) => {
    const { client, simulator } = await directly(t);
    const call = client.deleteWatchlist({ watchlist_id: '1' }, { idempotencyKey: 'a-key' });
    await failure('invalid_request', call);
    assert.equal(simulator.received.length, 0);
  });
});
