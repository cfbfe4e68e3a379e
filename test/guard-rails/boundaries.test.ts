/** Each check at its bound, through a gateway: what passes reaches the upstream, what fails does not. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { ask, type Problem } from '../support/core.ts';
import { cases } from './cases.ts';
import { batchPath, bodyOf, limited, outcomeOf, placePath, startGuarded } from './guarded.ts';

test('every case: a check fails one smallest step beyond its bound, and not at it', async (t) => {
  const state = { clock: Date.UTC(2026, 10, 20, 15) };
  const last: Record<string, string> = {};
  const { place, controls, sent } = await startGuarded(t, { last, clock: () => state.clock });
  for (const { name, limits, order, last: price, fails } of cases) {
    controls.set('stack', { limits });
    delete last.AAPL;
    if (price !== undefined) last.AAPL = price;
    // What was read of the controls before does not count any more.
    state.clock += 10_000;
    const before = sent();
    const reply = await place(order);
    const outcome = outcomeOf(reply);
    if (outcome === 'invalid_parameter') assert.fail(`${name}: ${reply.text}`);
    assert.equal(sent() - before, fails.length === 0 ? 1 : 0, `${name}: ${reply.text}`);
    const failed = outcome.startsWith('blocked: ') ? outcome.slice('blocked: '.length) : '';
    assert.equal(failed, fails.map((check) => `${check} /new_orders/0`).join(', '), name);
  }
});

const dayOrder = (id: string, limit_price: string, quantity: string) => {
  const { time_in_force: _, ...order } = limited(id, limit_price, quantity);
  return { ...order, time_in_force: 'DAY' };
};
const inSession = { clock: () => Date.UTC(2026, 10, 20, 15) };

describe('a request of several orders', () => {
  test('is blocked as a whole, and says which of them fails', async (t) => {
    const { batch, sent } = await startGuarded(t, { ...inSession, limits: { max_order_quantity: '10' } });
    const orders = [dayOrder('batch-of-two-1', '1', '10'), dayOrder('batch-of-two-2', '1', '10.00000001')];
    const reply = await batch(...orders);
    assert.equal(outcomeOf(reply), 'blocked: max_order_quantity /batch_orders/1');
    assert.equal(sent(), 0);
    assert.equal(outcomeOf(await batch(orders[0]!)), 'sent');
  });

  test('that is blocked for one of them does not deny those that an earlier request placed', async (t) => {
    const { batch, sent } = await startGuarded(t, { ...inSession, limits: { max_order_quantity: '10' } });
    const placed = dayOrder('batch-of-two-1', '1', '10');
    assert.equal(outcomeOf(await batch(placed)), 'sent');
    const both = await batch(placed, dayOrder('batch-of-two-2', '1', '11'));
    assert.equal(outcomeOf(both), 'outcome_unknown');
    assert.equal(sent(), 1);
  });

  test('goes to every path and alias through the same checks', async (t) => {
    const { gateway, sent } = await startGuarded(t, { limits: { max_order_quantity: '1' } });
    const aliases = [
      placePath,
      '/trading/orders/place',
      '/openapi/trade/order/place',
      '/openapi/trade/stock/order/place',
      '/openapi/trade/option/order/place',
    ];
    for (const path of aliases)
      assert.match(
        outcomeOf(await ask(gateway, path, bodyOf({ new_orders: [limited('by-an-alias', '1', '2')] }))),
        /^blocked: max_order_quantity/,
        path,
      );
    for (const path of [batchPath, '/openapi/trade/order/batch-place'])
      assert.match(
        outcomeOf(await ask(gateway, path, bodyOf({ batch_orders: [dayOrder('by-an-alias', '1', '2')] }))),
        /^blocked: max_order_quantity/,
        path,
      );
    assert.equal(sent(), 0);
  });
});

test('a preview and a cancel are not checked', async (t) => {
  const { gateway, place, cancel, controls, sent } = await startGuarded(t);
  assert.equal(outcomeOf(await place(limited('order-to-cancel', '1', '10'))), 'sent');
  controls.set('stack', { limits: { allowed_symbols: [], max_orders_per_minute: 0 }, stopped: { at: 0 } });
  const preview = bodyOf({ new_orders: [limited('order-to-preview', '1', '10')] });
  assert.equal(outcomeOf(await ask(gateway, '/trading/orders/preview', preview)), 'sent');
  assert.equal(outcomeOf(await cancel('order-to-cancel')), 'sent');
  assert.equal(sent(), 3);
});

test('a text that the catalogue refuses never comes to a check', async (t) => {
  const { place, sent } = await startGuarded(t, { limits: { max_order_quantity: '1' } });
  const wrong = [
    { order_type: 'limit' },
    { side: 'buy' },
    { quantity: '0x10' },
    { quantity: '1_000' },
    { quantity: ' 1' },
    { quantity: 'Infinity' },
    { instrument_type: 'equity' },
    { support_trading_session: 'core' },
    { symbol: '' },
  ];
  for (const change of wrong)
    assert.equal(
      outcomeOf(await place({ ...limited('wrong-order', '1', '1'), ...change })),
      'invalid_parameter',
    );
  assert.equal(sent(), 0);
});

test('a failed check says which, whose limit, and what came', async (t) => {
  const { place } = await startGuarded(t, { limits: { max_order_quantity: '10' } });
  const problem = JSON.parse((await place(limited('told-order-1', '1', '10.5'))).text) as Problem;
  assert.equal(problem.status, 403);
  assert.deepEqual(problem.errors, [
    {
      in: 'body',
      name: '/new_orders/0',
      check: 'max_order_quantity',
      detail: 'max_order_quantity of this gateway is 10, the order comes to 10.5. Send a smaller order.',
      allowed: '10',
      received: '10.5',
    },
  ]);
  assert.match(problem.detail, /not sent/);
});
