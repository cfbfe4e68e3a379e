/** A user who may trade, and wants to trade more than the limits allow: each way that one was found to have. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, type TestContext, test } from 'vitest';
import type { StoredCounter } from '../../lib/guard-rails/counter.ts';
import { type Exposure, releasing } from '../../lib/guard-rails/exposure.ts';
import { createGuard } from '../../lib/guard-rails/guard.ts';
import { bearer, claimsOf, createTestAccess, grantsOf, user } from '../support/access.ts';
import { accountId, ask, newOrder } from '../support/core.ts';
import {
  batchPath,
  bodyOf,
  type GuardedOptions,
  leg,
  limited,
  option,
  outcomeOf,
  placePath,
  replacePath,
  startGuarded,
} from './guarded.ts';

const clock = () => Date.UTC(2026, 10, 20, 15);
const contract = 'AAPL290119C00240000';

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

  test('an order that could not be looked up is not replaced under any limit that needs it', async (t) => {
    const each = {
      max_order_notional: '1000',
      max_open_notional: '1000',
      max_order_quantity: '1000000',
      allowed_sides: ['BUY'],
      allowed_order_types: ['LIMIT'],
      allowed_sessions: ['CORE'],
      allowed_symbols: ['AAPL'],
      restricted_symbols: ['MSFT'],
      price_collar: '10',
    } as const;
    const change = bodyOf({
      modify_orders: [{ client_order_id: 'order-not-seen', quantity: '90000', limit_price: '0.01' }],
    });
    for (const [name, limit] of Object.entries(each)) {
      // Its own reads have used up the limit of look-ups.
      const fault = () => ({ kind: 'status', status: 500 }) as const;
      const { gateway, sent } = await started(t, { limits: { [name]: limit }, simulated: { fault } });
      assert.equal(outcomeOf(await ask(gateway, replacePath, change)), `blocked: ${name} /modify_orders/0`);
      assert.equal(sent(), 0);
    }
  });

  const long = `100000.${'0'.repeat(100)}`;
  const bounds = {
    max_order_notional: { max_order_notional: '1000' },
    max_open_notional: { max_open_notional: '1000' },
    max_order_quantity: { max_order_quantity: '10' },
    max_duplicative_orders: { max_duplicative_orders: { orders: 9, seconds: 60 } },
  };
  const unread: readonly (readonly [name: string, order: object])[] = [
    [
      'an amount',
      limited('order-unread-1', '1', '0.001', { entrust_type: 'AMOUNT', total_cash_amount: long }),
    ],
    ['a quantity', limited('order-unread-2', '1', long)],
    ['a quantity of a leg', option('order-unread-3', '1', '1', { legs: [leg({ quantity: long })] })],
    ['a limit price', limited('order-unread-4', long, '1')],
    ['a stop price', limited('order-unread-5', '1', '1', { order_type: 'STOP_LOSS', stop_price: long })],
  ];
  for (const [name, order] of unread)
    test(`${name} that is longer than a number is blocks under each limit that counts`, async (t) => {
      for (const [check, limits] of Object.entries(bounds)) {
        const { place, sent } = await started(t, { limits, last: { AAPL: '200', [contract]: '1' } });
        assert.equal(outcomeOf(await place(order)), `blocked: ${check} /new_orders/0`);
        assert.equal(sent(), 0);
      }
    });

  test('a replacement by a number that cannot be read is no smaller than it is', async (t) => {
    for (const limits of [bounds.max_open_notional, bounds.max_order_notional]) {
      const desk = await started(t, { limits, last: { AAPL: '200' } });
      assert.equal(outcomeOf(await desk.place(limited('order-to-replace', '1', '10'))), 'sent');
      const reply = await desk.replace({ client_order_id: 'order-to-replace', quantity: long });
      assert.match(outcomeOf(reply), /^blocked: max_o/);
    }
  });

  test('legs in a ratio are not replaced by one quantity', async (t) => {
    const strike = (more: object) => leg({ quantity: '1', ...more });
    const butterfly = option('butterfly-of-calls', '0.01', '1', {
      option_strategy: 'BUTTERFLY',
      legs: [
        strike({}),
        strike({ side: 'SELL', quantity: '2', strike_price: '250' }),
        strike({ strike_price: '260' }),
      ],
    });
    const last = { [contract]: '1', AAPL290119C00250000: '1', AAPL290119C00260000: '1' };
    const { place, replace } = await started(t, { limits: { max_open_notional: '10000' }, last });
    await place(butterfly);
    const reply = await replace({ client_order_id: 'butterfly-of-calls', quantity: '5' });
    assert.equal(outcomeOf(reply), 'blocked: max_open_notional /modify_orders/0');
    assert.match(reply.text, /Change the price alone, or cancel the order and place it anew/);
    for (const quantity of [undefined, '1'])
      assert.equal(
        outcomeOf(await replace({ client_order_id: 'butterfly-of-calls', quantity, limit_price: '0.02' })),
        'sent',
      );
  });

  test('an amount has no quantity that is known, whatever stands beside it', async (t) => {
    const { place } = await started(t, { limits: bounds.max_order_quantity });
    const order = limited('order-by-amount', '1', '1', { entrust_type: 'AMOUNT', total_cash_amount: '9' });
    assert.equal(outcomeOf(await place(order)), 'blocked: max_order_quantity /new_orders/0');
  });

  test('an order of an id that no request can carry is not replaced, and the journal is there', async (t) => {
    const { replace } = await started(t, { limits });
    const reply = await replace({ client_order_id: 'abcdefghij\ud800', quantity: '1' });
    assert.equal(outcomeOf(reply), 'blocked: max_order_notional /modify_orders/0');
  });

  test('an option is sold at its contract’s quote, however low the limit', async (t) => {
    const { place, sent } = await started(t, { limits, last: { [contract]: '63.31', AAPL: '230' } });
    const sale = option('sale-of-calls-1', '0.01', '900', { side: 'SELL' });
    assert.equal(outcomeOf(await place(sale)), 'blocked: max_order_notional /new_orders/0');
    assert.equal(sent(), 0);
    // 1 × 100 × 9.5 × 1.05
    const { place: placed } = await started(t, { limits, last: { [contract]: '9.5' } });
    const one = outcomeOf(await placed(option('sale-of-calls-2', '0.01', '1', { side: 'SELL' })));
    // The upstream knows of none to sell.
    assert.equal(one, 'upstream_rejected');
    const two = option('sale-of-calls-3', '0.01', '2', { side: 'SELL' });
    assert.equal(outcomeOf(await placed(two)), 'blocked: max_order_notional /new_orders/0');
  });

  const unpriced: readonly (readonly [name: string, order: object])[] = [
    [
      'a stock without a fresh price',
      limited('sale-1-unpriced', '0.01', '1', { side: 'SELL', symbol: 'MSFT' }),
    ],
    ['a contract without a fresh price', option('sale-2-unpriced', '0.01', '1', { side: 'SELL' })],
    ['a stock with legs of options', limited('order-0-unpriced', '0.01', '1', { legs: [leg()] })],
    ['crypto', limited('sale-3-unpriced', '0.01', '1', { side: 'SELL', instrument_type: 'CRYPTO' })],
    ['an event', limited('sale-4-unpriced', '0.01', '1', { side: 'SELL', instrument_type: 'EVENT' })],
    ['futures', limited('sale-5-unpriced', '0.01', '1', { instrument_type: 'FUTURES' })],
    ['an adjusted contract', option('sale-6-unpriced', '0.01', '1', { legs: [leg({ symbol: 'AAPL1' })] })],
    [
      'a contract that two members name otherwise',
      option('sale-7-unpriced', '0.01', '1', { legs: [leg({ symbol: 'AAPL290119C00250000' })] }),
    ],
    [
      'a combination of which one leg has no quote',
      option('sale-8-unpriced', '0.01', '1', {
        option_strategy: 'VERTICAL',
        legs: [leg(), leg({ side: 'SELL', strike_price: '250' })],
      }),
    ],
  ];

  for (const [name, order] of unpriced)
    test(`${name} is blocked under a limit of notional, unless an operator lets it pass by name`, async (t) => {
      const { place, controls, journal } = await started(t, { limits, last: {} });
      assert.equal(outcomeOf(await place(order)), 'blocked: max_order_notional /new_orders/0');
      const allow_unknown = ['price', 'contract', 'crypto', 'event', 'futures'] as const;
      controls.set('stack', { limits: { ...limits, allow_unknown: [...allow_unknown] } });
      const after = await startGuarded(t, { clock, controls, journal });
      const outcome = outcomeOf(await after.place(order));
      assert.ok(!outcome.startsWith('blocked'), outcome);
      assert.equal(after.sent(), 1);
    });

  test('a stock is not valued by a leg that it may not have', async (t) => {
    const cheap = { side: 'BUY', market: 'US', instrument_type: 'EQUITY', symbol: 'F' };
    const order = (more: object) =>
      newOrder({ client_order_id: 'stock-with-a-leg', quantity: '100', legs: [cheap], ...more });
    const last = { AAPL: '200', F: '1' };
    for (const [check, limit] of Object.entries(bounds)) {
      const { place, sent } = await started(t, { limits: { ...limit }, last });
      const stock = order(check === 'max_order_quantity' ? {} : { quantity: '10' });
      assert.equal(outcomeOf(await place(stock)), `blocked: ${check} /new_orders/0`);
      assert.equal(sent(), 0);
    }
    const { place, sent } = await started(t, { limits: { price_collar: '10' }, last });
    const far = order({ order_type: 'LIMIT', limit_price: '1', side: 'SELL' });
    assert.equal(outcomeOf(await place(far)), 'blocked: price_collar /new_orders/0');
    assert.equal(sent(), 0);
  });

  test('an order whose header says another category is no order that is known', async (t) => {
    const { gateway, sent } = await started(t, { limits: { max_order_quantity: '100' } });
    const outcomes = [];
    for (const category of [
      'US_STOCK',
      'US_ETF',
      'US_EQUITY',
      'US_OPTION',
      'HK_EQUITY',
      'us_stock',
      'OTHER',
    ]) {
      const order = limited(`order-of-${category}`, '1', '10');
      const headers = { category };
      outcomes.push(
        outcomeOf(await ask(gateway, placePath, { ...bodyOf({ new_orders: [order] }), headers })),
      );
    }
    const blocked = 'blocked: max_order_quantity /new_orders/0';
    assert.deepEqual(outcomes, ['sent', 'sent', 'sent', blocked, blocked, blocked, blocked]);
    assert.equal(sent(), 3);
  });

  const stockPath = '/openapi/trade/stock/order/place';
  const optionPath = '/openapi/trade/option/order/place';
  const ofOption = (id: string) => option(id, '1', '1');
  const ofStock = (id: string) => limited(id, '1', '10');
  const placements: readonly (readonly [target: string, order: typeof ofOption, isKnown: boolean])[] = [
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
  ];
  for (const [target, order, isKnown] of placements)
    test(`an order to ${target} is ${isKnown ? 'checked' : 'not known'}`, async (t) => {
      const { gateway, sent } = await started(t, { limits: { max_order_quantity: '100' } });
      const reply = await ask(gateway, target, bodyOf({ new_orders: [order('order-of-a-path')] }));
      if (isKnown) assert.doesNotMatch(outcomeOf(reply), /^blocked/);
      else assert.equal(outcomeOf(reply), 'blocked: max_order_quantity /new_orders/0');
      assert.equal(sent(), isKnown ? 1 : 0);
    });

  const asStock = { symbol: contract, limit_price: '5', quantity: '100' };
  for (const instrument_type of ['EQUITY', 'CRYPTO', 'EVENT', 'FUTURES'])
    test(`a contract’s symbol in an order of ${instrument_type} is not valued as anything`, async (t) => {
      for (const [check, limits] of [
        ['max_order_notional', { max_order_notional: '1000' }],
        ['max_open_notional', { max_open_notional: '1000' }],
      ] as const)
        for (const symbol of [contract, contract.toLowerCase(), 'AAPL  290119C00240000']) {
          const { place, sent } = await started(t, { limits, last: { [contract]: '5' } });
          const order = newOrder({ ...asStock, order_type: 'LIMIT', instrument_type, symbol });
          assert.equal(outcomeOf(await place(order)), `blocked: ${check} /new_orders/0`, symbol);
          assert.equal(sent(), 0);
        }
    });

  test('a leg of stock with a contract’s symbol has neither a value nor shares', async (t) => {
    const legs = [leg({ instrument_type: 'EQUITY', symbol: contract, quantity: '100' })];
    for (const [check, limits] of [
      ['max_order_notional', { max_order_notional: '1000' }],
      ['max_order_quantity', { max_order_quantity: '10' }],
    ] as const) {
      const { place } = await started(t, { limits, last: { [contract]: '5' } });
      const order = option('leg-of-a-contract', '5', '1', { legs });
      assert.equal(outcomeOf(await place(order)), `blocked: ${check} /new_orders/0`);
    }
  });

  test('a limit price of zero or less bounds no order, also after the user has replaced it', async (t) => {
    for (const price of ['0', '0.00', '-1']) {
      const desk = await started(t, { limits: { max_order_notional: '1000' }, last: { AAPL: '100' } });
      const order = (id: string, quantity: string) => limited(id, price, quantity);
      assert.equal(
        outcomeOf(await desk.place(order('order-0-unlimited', '10'))),
        'blocked: max_order_notional /new_orders/0',
      );
      assert.equal(desk.sent(), 0);
    }
    const desk = await started(t, { limits: { max_open_notional: '1000' }, last: { AAPL: '100' } });
    await desk.place(limited('order-1-unlimited', '5', '9'));
    assert.equal((await desk.counter()).open, '45');
    await desk.replace({ client_order_id: 'order-1-unlimited', quantity: '9', limit_price: '0' });
    // 9 × 100 × 1.05
    assert.equal((await desk.counter()).open, '945');
    assert.equal(
      outcomeOf(await desk.replace({ client_order_id: 'order-1-unlimited', quantity: '10' })),
      'blocked: max_open_notional /modify_orders/0',
    );
  });

  test('a combination counts each of its legs, none against another', async (t) => {
    const other = 'AAPL290119C00250000';
    const { place, counter } = await started(t, {
      limits: { max_open_notional: '5000' },
      last: { [contract]: '10', [other]: '9' },
    });
    const spread = option('spread-1-of-calls', '0.01', '2', {
      option_strategy: 'VERTICAL',
      legs: [leg({ quantity: '2' }), leg({ side: 'SELL', strike_price: '250', quantity: '2' })],
    });
    await place(spread);
    // 2 × 100 × (10 + 9) × 1.05
    assert.equal((await counter()).open, '3990');
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

  test('is no repetition for others', async (t) => {
    const { place } = await started(t, { limits: { max_duplicative_orders: { orders: 1, seconds: 60 } } });
    const order = (id: string) => limited(id, '1', '10', { support_trading_session: undefined });
    for (const id of ['order-refused-1', 'order-refused-2'])
      assert.equal(outcomeOf(await place(order(id))), 'upstream_rejected');
    assert.equal(outcomeOf(await place(limited('order-that-is-good', '1', '10'))), 'sent');
    assert.match(outcomeOf(await place(limited('order-that-repeats', '1', '10'))), /max_duplicative_orders/);
  });

  test('and what it may have taken counts', async (t) => {
    const fault = ({ method }: { readonly method: string }) =>
      method === 'POST' ? ({ kind: 'drop-after' } as const) : ({ kind: 'status', status: 500 } as const);
    const { place } = await started(t, { limits, simulated: { fault }, sleep: async () => {} });
    for (let id = 0; id < 3; id++)
      assert.equal(outcomeOf(await place(limited(`order-unknown-${id}`, '1', '1'))), 'outcome_unknown');
    const more = limited('order-beyond-the-limit', '1', '1');
    assert.equal(outcomeOf(await place(more)), 'blocked: max_orders_per_minute /new_orders/0');
  });
});

describe('a symbol', () => {
  const blocked = (check: string) => `blocked: ${check} /new_orders/0`;
  const forms: readonly (readonly [name: string, order: object])[] = [
    ['a contract', option('symbol-1-of-tesla', '1', '1', { symbol: 'TSLA261218C00170000', legs: undefined })],
    [
      'a leg’s contract without terms',
      option('symbol-2-of-tesla', '1', '1', {
        legs: [{ side: 'BUY', market: 'US', instrument_type: 'OPTION', symbol: 'TSLA261218C00170000' }],
      }),
    ],
    [
      'a contract with spaces',
      option('symbol-3-of-tesla', '1', '1', { legs: [leg({ symbol: 'TSLA  261218C00170000' })] }),
    ],
    ['a root', option('symbol-4-of-tesla', '1', '1', { legs: [leg({ symbol: 'TSLA' })] })],
    ['an adjusted root', option('symbol-5-of-tesla', '1', '1', { legs: [leg({ symbol: 'TSLA1' })] })],
  ];
  for (const [name, order] of forms)
    test(`as ${name} is restricted with its underlying, and not among allowed ones`, async (t) => {
      const { place, sent } = await started(t, { limits: { restricted_symbols: ['TSLA'] } });
      assert.equal(outcomeOf(await place(order)), blocked('restricted_symbols'));
      const allowed = await started(t, { limits: { allowed_symbols: ['AAPL'] } });
      assert.equal(outcomeOf(await allowed.place(order)), blocked('allowed_symbols'));
      assert.equal(sent() + allowed.sent(), 0);
    });

  test('an empty name equals no symbol and no class', async (t) => {
    const order = limited('symbol-of-a-stock', '1', '1');
    const future = (id: string) => limited(id, '1', '1', { symbol: 'Z6', instrument_type: 'FUTURES' });
    const names = { restricted_symbols: ['-'], allowed_symbols: ['-', 'AAPL'] };
    const desk = await started(t, { limits: names });
    assert.equal(outcomeOf(await desk.place(order)), 'sent');
    assert.equal(outcomeOf(await desk.place(future('symbol-of-a-future'))), blocked('allowed_symbols'));
  });

  test('of a contract counts however it is written', async (t) => {
    const desk = await started(t, { limits: { restricted_symbols: ['AAPL290119C00250000'] } });
    const inTerms = option('contract-in-terms', '1', '1', { legs: [leg({ strike_price: '250' })] });
    assert.equal(outcomeOf(await desk.place(inTerms)), blocked('restricted_symbols'));
    const allowed = await started(t, { limits: { allowed_symbols: [contract, 'AAPL'] } });
    const both = option('contract-in-both', '1', '1', {
      legs: [leg({ symbol: contract, strike_price: '250' })],
    });
    assert.equal(outcomeOf(await allowed.place(both)), blocked('allowed_symbols'));
  });

  test('of an index’s other settlement is that of the index', async (t) => {
    const weekly = option('symbol-of-an-index', '1', '1', { symbol: 'SPX', legs: [leg({ symbol: 'SPXW' })] });
    const { place } = await started(t, { limits: { restricted_symbols: ['SPX'] } });
    assert.equal(outcomeOf(await place(weekly)), blocked('restricted_symbols'));
    const allowed = await started(t, { limits: { allowed_symbols: ['SPX'] } });
    assert.ok(!outcomeOf(await allowed.place(weekly)).startsWith('blocked'));
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

  test('that the upstream refuses do not count against others', async (t) => {
    const { order, counter } = await startUsers(t, { max_orders_per_minute: 10 });
    for (let nth = 0; nth < 10; nth++)
      assert.equal(outcomeOf(await order('hostile', { symbol: 'NOSUCHSYMBOL' })), 'upstream_rejected');
    assert.match(outcomeOf(await order('hostile')), /max_orders_per_minute/);
    assert.deepEqual((await counter()).recent, []);
    assert.equal(outcomeOf(await order('a-user')), 'sent');
  });

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

  test('one user has the whole limit where the operator says that there is one', async (t) => {
    for (const limits of bounds) {
      const { sentOf } = await startUsers(t, { ...limits, user_shares: 'none' });
      assert.equal(await sentOf('a-user'), 10);
    }
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
      // In turns: whoever comes later takes what the earlier ones have left.
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
