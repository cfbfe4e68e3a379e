/** A user who may trade, and wants to trade more than the limits allow: each way that one was found to have. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, type TestContext, test } from 'vitest';
import type { StoredCounter } from '../../../lib/guard-rails/counter.ts';
import { type Exposure, releasing } from '../../../lib/guard-rails/exposure.ts';
import { createGuard } from '../../../lib/guard-rails/guard.ts';
import { bearer, claimsOf, createTestAccess, grantsOf, user } from '../../support/access.ts';
import { accountId, ask, newOrder } from '../../support/core.ts';
import {
  batchPath,
  bodyOf,
  type GuardedOptions,
  limited,
  option,
  outcomeOf,
  placePath,
  replacePath,
  startGuarded,
} from '../guarded.ts';

const clock = () => Date.UTC(2026, 10, 20, 15);
const _contract = 'AAPL290119C00240000';

const started = (t: TestContext, given: GuardedOptions) => startGuarded(t, { clock, ...given });

describe('a body that has more than one reading', () => {
  const id = 'order-of-the-user';
  const order = limited(id, '1', '10');
  const refusedBodies: readonly (readonly [name: string, path: string, body: object])[] = [
    ['an order’s id beside the orders', placePath, { client_order_id: id, new_orders: [order] }],
    ['orders within an order', placePath, { new_orders: [{ ...order, new_orders: [order] }] }],
    ['orders within an order of a batch', batchPath, { batch_orders: [{ ...order, new_orders: [order] }] }],
    ['another list of orders', batchPath, { batch_orders: [order], new_orders: [order] }],
    ...['Quantity', 'limitPrice', 'LIMIT-PRICE', 'total_quantity', 'qty', 'price', 'note'].map(
      (name) => [`the member ${name}`, placePath, { new_orders: [{ ...order, [name]: '1' }] }] as const,
    ),
    ['a side in a replacement', replacePath, { modify_orders: [{ client_order_id: id, side: 'SHORT' }] }],
    [
      '2,000 replacements',
      replacePath,
      { modify_orders: Array.from({ length: 2000 }, () => ({ client_order_id: id })) },
    ],
  ];

  for (const [name, path, body] of refusedBodies)
    test(`${name}: 400, and nothing is sent`, async (t) => {
      const { gateway, sent } = await started(t, {});
      const reply = await ask(gateway, path, bodyOf(body));
      assert.equal(outcomeOf(reply), 'invalid_parameter');
      assert.ok(reply.text.length < 10_000, `${reply.text.length} characters`);
      assert.equal(sent(), 0);
    });

  for (const name of [
    'quantity',
    'Limit-Price',
    '%71uantity',
    'total_cash_amount',
    'new_orders[0].x',
    'a.quantity',
  ])
    test(`${name} in the query: 400, and nothing is sent`, async (t) => {
      const { gateway, sent } = await started(t, {});
      const target = `${placePath}?${encodeURIComponent(name)}=1`;
      assert.equal(
        outcomeOf(await ask(gateway, target, bodyOf({ new_orders: [order] }))),
        'invalid_parameter',
      );
      assert.equal(sent(), 0);
    });

  test('an operator lets a member pass by its name, as a plain value, and no reading of another one', async (t) => {
    const { place, sent } = await started(t, { members: ['settlement', 'limitPrice'] });
    assert.equal(outcomeOf(await place({ ...order, settlement: 'T1' })), 'sent');
    const parties = [{ party_id: '7', party_role: 3 }, 'T2'];
    assert.equal(
      outcomeOf(await place({ ...order, client_order_id: `${id}-2`, settlement: parties })),
      'sent',
    );
    for (const member of [
      { settlement: {} },
      { settlement: [order] },
      { settlement: [{ party: [{ Quantity: '9' }] }] },
      { settlement: [{ Quantity: '9' }] },
      { settlement: [[order]] },
      { settlement: [{ account: '9' }] },
      { settlement: [{ ſymbol: 'GME' }] },
      { limitPrice: '9' },
      { note: '' },
    ])
      assert.equal(
        outcomeOf(await place({ ...order, ...member })),
        'invalid_parameter',
        JSON.stringify(member),
      );
    assert.equal(sent(), 2);
  });
});

test('a refusal is short, however long a symbol is', async (t) => {
  const symbol = 'ΐ'.repeat(20_000);
  const limits = {
    max_order_notional: '1',
    max_open_notional: '1',
    allowed_symbols: ['AAPL'],
    restricted_symbols: ['F'],
  };
  const { place } = await started(t, { limits, last: {} });
  for (const instrument_type of ['EQUITY', 'OPTION', 'CRYPTO']) {
    const { text, status } = await place(
      limited('a-long-symbol', '1', '9', { side: 'SELL', instrument_type, symbol }),
    );
    assert.equal(status, 403);
    assert.ok(text.length < 10_000, `${text.length}`);
  }
});

describe('what is not known', () => {
  const limits = { max_order_notional: '1000' };

  test('an order of an id that no request can carry is not replaced, and the journal is there', async (t) => {
    const { replace } = await started(t, { limits });
    const reply = await replace({ client_order_id: 'abcdefghij\ud800', quantity: '1' });
    assert.equal(outcomeOf(reply), 'blocked: max_order_notional /modify_orders/0');
  });

  const stockPath = '/openapi/trade/stock/order/place';
  const optionPath = '/openapi/trade/option/order/place';
  const ofOption = (id: string) => option(id, '1', '1');
  const ofStock = (id: string) => limited(id, '1', '10');
  const placements: readonly (readonly [
    target: string,
    order: typeof ofOption,
    isKnown: boolean,
    category?: string,
  ])[] = [
    [stockPath, ofStock, true],
    [optionPath, ofOption, true],
    [optionPath, ofStock, false],
    [stockPath, ofOption, false],
    [`${placePath}?category=US_STOCK`, ofStock, true],
    [`${optionPath}?category=US_OPTION`, ofOption, true],
    [`${placePath}?category=US_OPTION`, ofStock, false],
    [`${stockPath}?Category=US_OPTION`, ofStock, false],
    [`${placePath}?order.%2563ategory=US_OPTION`, ofStock, false],
    [`${placePath}?category=US_STOCK&category=US_OPTION`, ofStock, false],
    ...['US_STOCK', 'US_ETF', 'US_EQUITY'].map((one) => [placePath, ofStock, true, one] as const),
    ...['US_OPTION', 'HK_EQUITY', 'us_stock', 'OTHER'].map(
      (one) => [placePath, ofStock, false, one] as const,
    ),
  ];
  for (const [target, order, isKnown, category] of placements)
    test(`an order to ${target} under ${category} is ${isKnown ? 'checked' : 'not known'}`, async (t) => {
      const { gateway, sent } = await started(t, { limits: { max_order_quantity: '100' } });
      const request = bodyOf({ new_orders: [order('order-of-a-path')] });
      const reply = await ask(gateway, target, { ...request, ...(category && { headers: { category } }) });
      if (isKnown) assert.doesNotMatch(outcomeOf(reply), /^blocked/);
      else assert.equal(outcomeOf(reply), 'blocked: max_order_quantity /new_orders/0');
      assert.equal(sent(), isKnown ? 1 : 0);
    });
});

describe('what the upstream refuses', () => {
  const limits = { max_orders_per_minute: 3 };
  const wrong = (id: number) => limited(`order-refused-${id}`, '1', '1', { symbol: 'NOSUCHSYMBOL' });

  test('counts for all where no user is known: nothing else bounds how many are sent', async (t) => {
    const { place } = await started(t, { limits });
    for (let id = 0; id < 3; id++) assert.equal(outcomeOf(await place(wrong(id))), 'upstream_rejected');
    const more = limited('order-beyond-the-limit', '1', '1');
    assert.equal(outcomeOf(await place(more)), 'blocked: max_orders_per_minute /new_orders/0');
  });
});

describe('live orders of one user', () => {
  const bounds = [{ max_open_notional: '1000' }, { max_orders_per_minute: 10 }];

  /** Users of one account: each order is 100 of notional. */
  async function startUsers(t: TestContext, limits: GuardedOptions['limits'] = {}) {
    const access = createTestAccess();
    const desk = await started(t, { limits, options: { access: access.access, clock } });
    let id = 0;
    const order = async (name: string, more = {}) => {
      await access.grant(user(name), grantsOf({ [accountId]: ['read', 'trade'] }));
      const headers = bearer(access.token(claimsOf(name)));
      const body = bodyOf({ new_orders: [limited(`order-of-a-user-${id++}`, '10', '10', more)] });
      return ask(desk.gateway, placePath, { ...body, headers });
    };
    const orders = async (name: string, count: number) => {
      const outcomes: string[] = [];
      for (let index = 0; index < count; index++) outcomes.push(outcomeOf(await order(name)));
      return outcomes;
    };
    return { ...desk, order, sentOf: async (name: string) => (await orders(name, 10)).filter(isSent).length };
  }
  const isSent = (outcome: string) => outcome === 'sent';

  test('that a batch did not take are no repetitions, and those that it took are', async (t) => {
    const limits = { max_duplicative_orders: { orders: 1, seconds: 60 } };
    const { batch } = await started(t, { limits });
    const ofBatch = (id: string, symbol: string) =>
      newOrder({ client_order_id: id, symbol, order_type: 'LIMIT', limit_price: '1', time_in_force: 'DAY' });
    const first = await batch(ofBatch('order-of-batch-1', 'AAPL'), ofBatch('order-of-batch-2', 'NOSUCH'));
    assert.equal(first.status, 200, first.text);
    assert.match(first.text, /INVALID_SYMBOL/);
    assert.equal(outcomeOf(await batch(ofBatch('order-of-batch-2', 'NOSUCH'))), 'sent');
    assert.match(outcomeOf(await batch(ofBatch('order-of-batch-3', 'AAPL'))), /^blocked: max_duplicative/);
  });

  for (const limits of bounds) {
    const [check] = Object.keys(limits);
    test(`leave room to others under ${check} of the gateway, and its refusal tells nothing of them`, async (t) => {
      const { order, sentOf } = await startUsers(t, limits);
      assert.equal(outcomeOf(await order('a-user')), 'sent');
      assert.equal(await sentOf('hostile'), check === 'max_open_notional' ? 4 : 5);
      const { text, status } = await order('hostile');
      assert.equal(status, 403);
      const [error] = (JSON.parse(text) as { errors: readonly object[] }).errors;
      const [allowed] = Object.values(limits).map(String);
      const { detail, ...told } = error as { detail: string };
      const received = check === 'max_open_notional' ? '500' : '6';
      assert.deepEqual(told, { in: 'body', name: '/new_orders/0', check, allowed, received });
      assert.match(
        detail,
        new RegExp(`^${check} of this gateway is ${allowed}, .* half of it .* ${received}`),
      );
      assert.equal(outcomeOf(await order('a-user')), 'sent');
      assert.equal(outcomeOf(await order('another-user')), 'sent');
    });

    test(`of each of three greedy users are a part of ${check}, and a fourth user’s order is sent`, async (t) => {
      const { order, sentOf, counter } = await startUsers(t, limits);
      // In turns: a later order takes what the earlier ones have left of the limit.
      for (let turn = 0; turn < 10; turn++) for (const name of ['one', 'two', 'three']) await order(name);
      assert.ok((await counter()).recent.length <= 9 && (await sentOf('four')) > 0);
    });
  }

  const step = fc.record({
    name: fc.constantFrom('one', 'two', 'three', 'four'),
    /** Cents; 0 ends the user's oldest order. */
    notional: fc.oneof(fc.integer({ min: 1, max: 60_000 }), fc.constant(0)),
  });

  test('never pass the limit together, and never keep a user out who has none and asks for half of what is left', async () => {
    let [kept, sent] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const limit = 1000_00;
        const guard = createGuard({
          controls: { read: async () => new Map() },
          limits: { max_open_notional: '1000' },
          names: { nameOf: async (...texts) => texts.join('|') },
          clock,
        });
        const stored = new Map<string, StoredCounter>();
        const open = new Map<string, { readonly notional: number; readonly exposure: Exposure }[]>();
        for (const { name, notional } of steps) {
          const own = open.get(name) ?? [];
          open.set(name, own);
          const all = [...open.values()].flat().reduce((sum, one) => sum + one.notional, 0);
          const ended = notional === 0 ? own.shift() : undefined;
          const json = JSON.stringify(limited('order', (notional / 100).toFixed(2), '1'));
          const question = { credential: 'app', account: 'a', user: name, endBy: clock() + 1000 };
          const verdict =
            notional > 0 ? await guard.verdict({ ...question, orders: [{ json, at: '/0' }] }) : undefined;
          if (own.length === 0 && notional > 0 && 2 * notional <= limit - all) {
            assert.equal(verdict?.kind, 'allowed');
            kept++;
          }
          const allowed = verdict?.kind === 'allowed' ? verdict : undefined;
          const changes = allowed?.counters ?? (ended ? releasing(ended.exposure, stored) : []);
          for (const { key, revision, next } of changes)
            stored.set(key, { key, revision: revision + 1, state: next });
          guard.learn([...stored.values()]);
          if (!allowed) continue;
          sent++;
          own.push({ notional, exposure: allowed.exposures[0]! });
          const ofUser = own.reduce((sum, one) => sum + one.notional, 0);
          assert.ok(all + notional <= limit && ofUser + all + notional <= limit);
        }
        for (const one of [...open.values()].flat())
          for (const { key, revision, next } of releasing(one.exposure, stored))
            stored.set(key, { key, revision: revision + 1, state: next });
        for (const { state } of stored.values()) assert.equal((JSON.parse(state) as Exposed).open, '0');
      }),
      { numRuns: 300, seed: 34 },
    );
    assert.ok(kept > 300 && sent > kept, `${kept} of ${sent}`);
  });
});

interface Exposed {
  readonly open: string;
}
