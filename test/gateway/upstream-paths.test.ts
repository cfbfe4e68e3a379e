import assert from 'node:assert/strict';
import { test } from 'vitest';
import { operations, placeOrder } from '../../lib/catalogue/index.ts';
import { ask, coreFor, gatewayOf, orderBody } from '../support/core.ts';

test('another path at the upstream is signed for and sent, whichever path the client used', async (t) => {
  // As if the upstream had retired all paths of placing an order but a new one.
  const moved = '/v9/orders/place';
  const upstream = operations.map((operation) =>
    operation.id === 'placeOrder' ? { ...operation, path: moved, aliases: [] } : operation,
  );
  const { simulator } = await coreFor(t, { operations: upstream });
  const { gateway } = await coreFor(
    t,
    {},
    { upstreamBaseUrl: simulator.url, upstreamPaths: { placeOrder: moved } },
  );
  for (const path of [placeOrder.path, ...placeOrder.aliases]) {
    const reply = await ask(gateway, path, { body: orderBody() });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(simulator.received.at(-1)?.target, moved);
    assert.equal(simulator.received.at(-1)?.outcome, 'ok');
  }
  assert.equal((await ask(gateway, moved, { body: orderBody() })).status, 404, 'no new path for clients');
  await ask(gateway, '/trading/accounts/list');
  assert.equal(simulator.received.at(-1)?.target, '/trading/accounts/list', 'others stay where they are');
});

test('a path of no operation, or none that could be signed, makes no gateway', () => {
  for (const [upstreamPaths, message] of [
    [{ placeOrders: '/a' }, /placeOrders/],
    [{ toString: '/a' }, /toString/],
    [{ placeOrder: '/a b' }, /path of placeOrder/],
  ] as const)
    assert.throws(
      () =>
        gatewayOf({
          secrets: { read: async () => undefined },
          upstreamPaths,
        }),
      { name: 'TypeError', message },
    );
});
