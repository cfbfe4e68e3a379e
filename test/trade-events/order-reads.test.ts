/** The orders as the gateway reads them for the listener: whole, byte for byte, and within the limits that all share. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import { createGateway, type GatewayRequest } from '../../lib/gateway/index.ts';
import type { Outcome } from '../../lib/gateway/outcome.ts';
import {
  createGatewayOrderReads,
  OrderReadError,
  orderReadOperations,
} from '../../lib/trade-events/index.ts';
import { accountId, coreFor, secretText } from '../support/core.ts';
import { newOrder } from '../support/orders.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

async function readsFor(t: TestContext) {
  const { simulator, gateway } = await coreFor(t);
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', path, query: [], headers, requestId: 'r' };
    const { status, body: answer } = await gateway.handle({ ...request, body: bytes(JSON.stringify(body)) });
    assert.equal(status, 200, new TextDecoder().decode(answer));
  };
  const reads = createGatewayOrderReads({
    gateway: createGateway({
      operations: orderReadOperations,
      upstreamBaseUrl: simulator.url,
      secrets: { read: async () => secretText() },
      access: 'single-user',
    }),
  });
  const place = async () => {
    const order = newOrder({ order_type: 'LIMIT', limit_price: '1.00', quantity: '10' });
    await post('/trade/place_order', { account_id: accountId, new_orders: [order] });
    return order.client_order_id;
  };
  return { simulator, reads, place, post };
}

test('all pages, every order of them as the upstream wrote it', async (t) => {
  const { simulator, reads, place } = await readsFor(t);
  assert.deepEqual(
    await reads.accounts(),
    simulator.accounts.map((account) => account.account_id),
  );
  const before = await reads.openOrders(accountId);
  const since = Date.now();
  const ids: string[] = [];
  for (let count = 0; count < 45; count++) ids.push(await place());
  const open = await reads.openOrders(accountId);
  assert.equal(open.length, before.length + 45);
  const recent = await reads.ordersSince(accountId, since);
  assert.deepEqual(recent.map(({ state }) => state.clientOrderId).sort(), ids.sort());
  for (const { state, payload } of recent) {
    const {
      client_order_id: id,
      status,
      total_quantity: total,
    } = JSON.parse(payload) as Record<string, string>;
    assert.deepEqual([id, status, total], [state.clientOrderId, state.status, '10']);
    assert.deepEqual(
      { ...state, terms: JSON.parse(state.terms ?? '') },
      {
        account: accountId,
        clientOrderId: id,
        status: 'SUBMITTED',
        filled: '0',
        terms: { total_quantity: '10', limit_price: '1', order_type: 'LIMIT', time_in_force: 'GTC' },
      },
    );
  }
});

test('a look-up shows one order, or that there is none', async (t) => {
  const { simulator, reads, place, post } = await readsFor(t);
  const id = await place();
  simulator.trading.fill(accountId, id, '4');
  const replacement = { client_order_id: id, limit_price: '1.50', quantity: '10' };
  await post('/trading/orders/replace', { account_id: accountId, modify_orders: [replacement] });
  const found = await reads.order(accountId, id);
  assert.ok(found !== 'not_found');
  assert.deepEqual([found.state.status, found.state.filled], ['PARTIAL_FILLED', '4']);
  assert.match(found.state.terms ?? '', /"limit_price":"1\.5"/);
  assert.equal(await reads.order(accountId, 'no-such-order'), 'not_found');
  await assert.rejects(reads.openOrders('NO-SUCH-ACCOUNT'), (error) => {
    assert.ok(error instanceof OrderReadError);
    assert.doesNotMatch(`${error.message} ${error.reason}`, /NO-SUCH/);
    return true;
  });
});

test('an order whose id is of odd characters stops no comparison', async (t) => {
  const { reads } = await readsFor(t);
  for (const id of ['a b', 'ä/ö?&=#%', 'x\'"\\', '日本', '😀', '.', '..', '+', 'x'.repeat(300)])
    assert.equal(await reads.order(accountId, id), 'not_found', id);
});

describe('within the limits', () => {
  const refusedFor = (retryAfterSeconds: number): Outcome => ({
    kind: 'refused',
    refusal: { code: 'budget_used_up', retryAfterSeconds },
  });

  function stub(answers: readonly Outcome[]) {
    let now = 1_800_000_000_000;
    const requests: GatewayRequest[] = [];
    const slept: number[] = [];
    const reads = createGatewayOrderReads({
      gateway: {
        async ask(request) {
          requests.push(request);
          return answers[Math.min(requests.length, answers.length) - 1]!;
        },
      },
      clock: () => now,
      sleep: async (ms) => {
        slept.push(ms);
        now += ms;
      },
    });
    return { reads, requests, slept };
  }

  test('a read that the limiter refuses waits, comes last, and passes every cache', async () => {
    const { reads, requests, slept } = stub([
      refusedFor(7),
      { kind: 'refused', refusal: { code: 'upstream_unreachable' } },
      { kind: 'uncached', body: bytes('{"data":[]}') },
    ]);
    assert.deepEqual(await reads.openOrders('a'), []);
    assert.deepEqual(slept, [7000, 1000]);
    for (const { priority, headers } of requests)
      assert.deepEqual([priority, headers['cache-control']], ['events', 'no-cache']);
  });

  test('a read gives up after two minutes, and says why without saying whose it was', async () => {
    const { reads, slept } = stub([refusedFor(30)]);
    await assert.rejects(reads.ordersSince('ACCOUNT-CANARY', 0), {
      message: 'listOrderHistory: budget_used_up',
    });
    assert.deepEqual(slept, [30_000, 30_000, 30_000]);
  });

  test('a failure that comes as a page is no page without orders', async () => {
    const { reads } = stub([
      { kind: 'uncached', body: bytes('{"error_code":"SYSTEM_ERROR","message":"later"}') },
      { kind: 'uncached', body: bytes('{}') },
    ]);
    await assert.rejects(reads.openOrders('a'), { message: 'listOpenOrders: upstream_broken_answer' });
    assert.deepEqual(await reads.openOrders('a'), []);
  });

  test('what will not be better later is not repeated', async () => {
    const { reads, requests } = stub([{ kind: 'refused', refusal: { code: 'forbidden' } }]);
    await assert.rejects(reads.accounts(), OrderReadError);
    assert.equal(requests.length, 1);
  });

  test('half a list is none: a page that fails or a cursor that leads back rejects', async () => {
    const page: Outcome = { kind: 'uncached', body: bytes('{"data":[],"pagination_key":"k"}') };
    await assert.rejects(stub([page]).reads.openOrders('a'), /endless_pages/);
    const refused: Outcome = { kind: 'refused', refusal: { code: 'forbidden' } };
    await assert.rejects(stub([page, refused]).reads.openOrders('a'), OrderReadError);
    for (const broken of ['[]', '7', ''])
      await assert.rejects(stub([{ kind: 'uncached', body: bytes(broken) }]).reads.openOrders('a'));
  });
});
