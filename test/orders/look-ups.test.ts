/** The look-ups that a gateway makes by itself count against limits that its limiter knows, also where it offers no reads. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import {
  cancelOrder,
  operations as catalogue,
  createWatchlist,
  getOrder,
  placeOrder,
} from '../../lib/catalogue/index.ts';
import {
  createLimiter,
  createMemoryLimiterStore,
  limiterLimits,
  type Send,
} from '../../lib/gateway/index.ts';
import { areJournaled, withLookUps } from '../../lib/gateway/look-ups.ts';
import { createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { ask, orderBody, orderPath } from '../support/core.ts';
import { names, startInstances } from '../support/instances.ts';

const idsOf = (operations: Parameters<typeof withLookUps>[0]) =>
  withLookUps(operations, catalogue).map(({ id }) => id);

test('placing and cancelling look orders up, once each; a watchlist shows nothing', () => {
  assert.deepEqual(idsOf([placeOrder, cancelOrder]), ['placeOrder', 'cancelOrder', 'getOrder']);
  assert.deepEqual(idsOf([getOrder, placeOrder]), ['getOrder', 'placeOrder']);
  assert.deepEqual(idsOf([createWatchlist]), ['createWatchlist']);
  assert.deepEqual(
    [[createWatchlist], [cancelOrder], [getOrder], []].map((operations) => areJournaled(operations)),
    [true, true, false, false],
  );
});

describe('a gateway that offers placing alone', () => {
  const operations = [placeOrder];
  const orders = { journal: createMemoryOrderJournal(), names, lookUps: [getOrder] };

  test('looks a lost order up under the published limits', async (t) => {
    const upstreamLimits = 'published';
    const { gateway, simulator } = await startInstances(t, 1, {
      simulated: { fault: ({ method }) => (method === 'POST' ? { kind: 'drop-after' } : undefined) },
      options: {
        operations,
        orders,
        upstreamLimits,
        limiter: createLimiter({
          store: createMemoryLimiterStore(),
          limits: limiterLimits({}, 1, { upstreamLimits, operations: withLookUps(operations, catalogue) }),
          bucket: 'test',
        }),
      },
    });
    const placed = await ask(gateway, orderPath, { body: orderBody({ client_order_id: 'a-lost-order' }) });
    assert.equal(placed.status, 200, placed.text);
    assert.equal(placed.headers['idempotent-replayed'], 'true');
    assert.equal(simulator.orders.length, 1);
  });

  test('looks it up where the deployer says that orders are now', async (t) => {
    const id = 'a-lost-order';
    const shown = { client_order_id: id, order_id: 'order-1', status: 'SUBMITTED' };
    const asked: string[] = [];
    const send: Send = async ({ method, url }) => {
      if (method === 'POST') return { kind: 'lost' };
      asked.push(new URL(url).pathname);
      const body = new TextEncoder().encode(JSON.stringify({ orders: [shown] }));
      return { kind: 'answer', status: 200, header: () => undefined, body };
    };
    const upstreamPaths = { getOrder: '/elsewhere/orders/get' };
    const { gateway } = await startInstances(t, 1, {
      options: {
        operations,
        orders: { ...orders, journal: createMemoryOrderJournal() },
        upstreamPaths,
        send,
      },
    });
    const placed = await ask(gateway, orderPath, { body: orderBody({ client_order_id: id }) });
    assert.deepEqual(JSON.parse(placed.text), { client_order_id: id, order_id: 'order-1' });
    assert.deepEqual(asked, ['/elsewhere/orders/get']);
  });
});
