/** What is true of the guard rails by themselves, so that a copy with one rule broken can be held to it. */

import assert from 'node:assert/strict';
import type { AskedOrder, createGuard, Guard, Verdict } from '../../lib/guard-rails/guard.ts';
import type { ControlStore, TradingLimits } from '../../lib/guard-rails/index.ts';
import { newOrder } from '../support/orders.ts';
import { cases } from './cases.ts';

export interface GuardSubject {
  readonly createGuard: typeof createGuard;
}

const names = { nameOf: async (...texts: readonly string[]) => texts.join('|') };
const begin = 1_800_000_000_000;

interface World {
  now: number;
  limits: Readonly<Record<string, TradingLimits>>;
  /** Undefined: no limit is shared, so that the gateway's is as it stands there. */
  user: string | undefined;
  stopped: readonly string[];
  isAway: boolean;
  last: string | undefined;
  maxAgesMs: number[];
  /** For whom prices were read. */
  readFor: Set<string | undefined>;
  /** What happens while controls are read. */
  whileRead: () => void;
}

/** One instance, whose counters are written as a journal would. */
function createDesk({ createGuard }: GuardSubject, given: Partial<World> = {}) {
  const world: World = {
    now: begin,
    limits: {},
    user: 'u',
    stopped: [],
    isAway: false,
    last: undefined,
    maxAgesMs: [],
    readFor: new Set(),
    whileRead: () => {},
    ...given,
  };
  const controls: ControlStore = {
    async read(keys) {
      if (world.isAway) throw new Error('away');
      const found = keys.filter((key) => world.limits[key] || world.stopped.includes(key));
      const read = found.map((key) => {
        const stop = world.stopped.includes(key) && { stopped: { at: 1 } };
        return [key, { version: 1, limits: world.limits[key] ?? {}, ...stop }] as const;
      });
      world.whileRead();
      return new Map(read);
    },
  };
  const prices = {
    lastPrice: async (_: string, maxAgeMs: number, _endBy: number, user?: string) => {
      world.maxAgesMs.push(maxAgeMs);
      world.readFor.add(user);
      return world.last === undefined ? undefined : { price: world.last, at: world.now };
    },
  };
  const guard = createGuard({
    controls,
    lastPrices: prices,
    optionPrices: prices,
    names,
    clock: () => world.now,
  });
  return { world, guard, ask: (...orders: readonly AskedOrder[]) => ask(guard, world.user, orders) };
}

async function ask(guard: Guard, user: string | undefined, orders: readonly AskedOrder[]): Promise<Verdict> {
  const verdict = await guard.verdict({
    account: 'a',
    ...(user !== undefined && { user }),
    orders,
    endBy: Number.MAX_SAFE_INTEGER,
  });
  if (verdict.kind === 'allowed')
    guard.learn(
      verdict.counters.map(({ key, revision, next }) => ({ key, revision: revision + 1, state: next })),
    );
  return verdict;
}

const scopes = { gateway: 'stack', account: 'account account|a', user: 'user u' } as const;

/** Who asks where this scope's limit is judged: the limit of the gateway is judged whole. */
const userAt = (scope: string) => (scope === scopes.gateway ? undefined : 'u');

const placed = (given: Readonly<Record<string, unknown>> = {}): AskedOrder & { readonly json: string } => ({
  json: JSON.stringify(newOrder(given)),
  at: '/0',
});
const event = { instrument_type: 'EVENT', event_outcome: 'yes' };
const limited = (limit_price: string, quantity: string, more = {}) =>
  placed({ order_type: 'LIMIT', limit_price, quantity, ...more });
const replaced = (
  json: string | undefined,
  changes: object,
  exposure?: AskedOrder['exposure'],
): AskedOrder => ({
  json,
  at: '/0',
  replaced: JSON.stringify(changes),
  exposure,
});

/** The checks for which it is blocked; none of an order that is allowed. */
const failedOf = (verdict: Verdict): readonly string[] =>
  verdict.kind === 'blocked'
    ? verdict.failures.map(({ check }) => check)
    : verdict.kind === 'stopped'
      ? ['stopped']
      : [];

async function checksFail(subject: GuardSubject): Promise<void> {
  for (const { name, limits, order, last, fails } of cases)
    for (const scope of Object.values(scopes)) {
      const { ask } = createDesk(subject, { limits: { [scope]: limits }, last });
      assert.deepEqual(
        failedOf(await ask({ json: JSON.stringify(order), at: '/0' })),
        fails,
        `${scope}: ${name}`,
      );
    }
}

async function quotesAreFresh(subject: GuardSubject): Promise<void> {
  const limits = { stack: { max_order_notional: '1' }, 'user u': { price_collar: '1', max_quote_age: 3 } };
  const { world, ask } = createDesk(subject, { limits });
  await ask(placed());
  await ask(limited('1', '1'));
  await ask(limited('1', '1', { instrument_type: 'OPTION', symbol: 'AAPL290119C00240000' }));
  // Both scopes take the price of a sale.
  await ask(limited('1', '1', { side: 'SELL' }));
  assert.deepEqual(world.maxAgesMs, [15_000, 3000, 3000]);
  assert.deepEqual([...world.readFor], ['u']);
  const priced = createDesk(subject, {
    limits: { stack: { max_order_notional: '1', max_open_notional: '1' } },
  });
  await priced.ask(limited('1', '1'));
  assert.deepEqual(priced.world.maxAgesMs, []);
}

async function unknownIsBlocked(subject: GuardSubject): Promise<void> {
  const limits: TradingLimits = {
    restricted_symbols: ['MSFT'],
    allowed_symbols: ['AAPL'],
    allowed_sides: ['BUY'],
    allowed_order_types: ['LIMIT'],
    max_order_quantity: '1000',
    max_order_notional: '1000',
    max_open_notional: '1000',
  };
  const { ask } = createDesk(subject, { limits: { stack: limits } });
  const expected = Object.keys(limits);
  for (const more of [{ allowed_sessions: ['CORE'] }, { price_collar: '10' }] satisfies TradingLimits[])
    assert.deepEqual(
      failedOf(
        await createDesk(subject, { limits: { stack: more } }).ask(
          replaced(undefined, { quantity: '90000', limit_price: '0.01' }),
        ),
      ),
      Object.keys(more),
    );
  assert.deepEqual(failedOf(await ask(replaced(undefined, {}))), expected);
  const cancelling = {
    max_order_quantity: '1',
    actions: { max_order_quantity: 'block_and_cancel' },
  } as const;
  const verdict = await createDesk(subject, { limits: { stack: cancelling } }).ask(replaced(undefined, {}));
  assert.deepEqual(verdict.kind === 'blocked' && verdict.cancelled, []);
  for (const [check, order] of [
    ['max_order_notional', placed()],
    ['max_open_notional', placed()],
    ['price_collar', limited('1', '1')],
  ] as const) {
    const stack: TradingLimits = { [check]: '5', actions: { [check]: 'block_and_cancel' } };
    const unpriced = await createDesk(subject, { limits: { stack } }).ask(order);
    assert.deepEqual([failedOf(unpriced), unpriced.kind === 'blocked' && unpriced.cancelled], [[check], []]);
  }
}

const [near, far] = ['AAPL290119C00240000', 'AAPL290119C00250000'];
const ofOptions = (price: string, quantity: string, symbols: readonly string[], more: object = {}) =>
  limited(price, quantity, {
    instrument_type: 'OPTION',
    legs: symbols.map((symbol) => ({ side: 'BUY', instrument_type: 'OPTION', symbol, quantity })),
    ...more,
  });

/** Of another stock, beside a stock order: only option orders have legs. */
const strayLeg = { side: 'BUY', market: 'US', instrument_type: 'EQUITY', symbol: 'F' };

/** At 20 each, with 5 percent: 21. */
async function salesCountAtQuotes(subject: GuardSubject): Promise<void> {
  const { ask, world } = createDesk(subject, {
    limits: { stack: { max_order_notional: '2100' } },
    last: '20',
  });
  const passes = [
    limited('0.01', '100', { side: 'SELL' }),
    limited('210', '10', { side: 'SHORT' }),
    ofOptions('21', '1', [near], { side: 'BUY' }),
    ofOptions('0.01', '1', [near], { side: 'SELL' }),
  ];
  for (const order of passes) assert.deepEqual(failedOf(await ask(order)), [], order.json);
  const fails = [
    limited('0.01', '100.01', { side: 'SELL' }),
    limited('210.01', '10', { side: 'SHORT' }),
    ofOptions('21.01', '1', [near]),
    ofOptions('0.01', '1.01', [near], { side: 'SELL' }),
    ofOptions('0.01', '1', [near, far]),
    ofOptions('0.01', '1', ['AAPL1']),
    ofOptions('0.01', '1', [near], {
      legs: [{ symbol: near, strike_price: '250', option_type: 'CALL', option_expire_date: '2029-01-19' }],
    }),
    limited('0.01', '1', { side: 'SELL', instrument_type: 'CRYPTO' }),
    limited('0.01', '1', { instrument_type: undefined }),
    limited('0.01', '1', { total_cash_amount: '2100.01' }),
    placed({ quantity: '1000', total_cash_amount: '1' }),
    limited('0.01', '1', { legs: [{ symbol: near, side: 'BUY', instrument_type: 'OPTION', quantity: '1' }] }),
    placed({ quantity: '1', legs: [strayLeg] }),
    placed({ entrust_type: 'AMOUNT', quantity: undefined, total_cash_amount: '1', legs: [strayLeg] }),
    limited(`9${'0'.repeat(200)}`, '1', { side: 'SELL' }),
    placed({ order_type: 'STOP_LOSS', stop_price: `9${'0'.repeat(200)}`, quantity: '1' }),
  ];
  for (const order of fails) assert.deepEqual(failedOf(await ask(order)), ['max_order_notional'], order.json);
  world.last = undefined;
  assert.deepEqual(failedOf(await ask(limited('0.01', '1', { side: 'SELL' }))), ['max_order_notional']);
  assert.deepEqual(failedOf(await ask(ofOptions('0.01', '1', [near, far]))), ['max_order_notional']);
}

async function classesHaveUnderlyings(subject: GuardSubject): Promise<void> {
  const failsFor = async (limits: TradingLimits, symbol: string) =>
    failedOf(
      await createDesk(subject, { limits: { stack: limits } }).ask(ofOptions('1', '1', [symbol], { symbol })),
    );
  for (const symbol of ['SPXW', 'SPXW261218C05000000', 'SPX', 'spx'])
    assert.deepEqual(await failsFor({ restricted_symbols: ['SPX'] }, symbol), ['restricted_symbols'], symbol);
  assert.deepEqual(await failsFor({ restricted_symbols: ['MSFT'] }, 'AAPL1'), ['restricted_symbols']);
  const terms = { strike_price: '250', option_type: 'CALL', option_expire_date: '2029-01-19' };
  for (const legs of [
    undefined,
    [{ symbol: 'TSLA261218C00170000' }],
    [{ symbol: 'TSLA  261218C00170000' }],
    [{ symbol: 'TSLA', ...terms }],
    [{ symbol: 'TSLA1', ...terms }],
  ])
    for (const limits of [{ restricted_symbols: ['TSLA'] }, { allowed_symbols: ['AAPL'] }]) {
      const order = ofOptions('1', '1', [], { symbol: legs ? 'AAPL' : 'TSLA261218C00170000', legs });
      const verdict = await createDesk(subject, { limits: { stack: limits } }).ask(order);
      assert.deepEqual(failedOf(verdict), Object.keys(limits), order.json);
    }
  const inTerms = ofOptions('1', '1', [], { symbol: 'AAPL', legs: [{ symbol: 'AAPL', ...terms }] });
  const restricted = createDesk(subject, { limits: { stack: { restricted_symbols: [far] } } });
  assert.deepEqual(failedOf(await restricted.ask(inTerms)), ['restricted_symbols']);
  assert.deepEqual(await failsFor({ restricted_symbols: ['MSFT'] }, near), []);
  // A list of before names were checked may have an empty one.
  const future = placed({ instrument_type: 'FUTURES', symbol: 'Z6' });
  const desk = createDesk(subject, { limits: { stack: { allowed_symbols: ['-'] } } });
  assert.deepEqual(failedOf(await desk.ask(future)), ['allowed_symbols']);
  assert.deepEqual(await failsFor({ allowed_symbols: ['AAPL'] }, near), []);
  assert.deepEqual(await failsFor({ allowed_symbols: ['AAPL'] }, 'AAPL1'), ['allowed_symbols']);
}

async function someUnknownsAreAllowed(subject: GuardSubject): Promise<void> {
  const limits: TradingLimits = {
    max_order_notional: '100',
    max_open_notional: '150',
    allow_unknown: ['crypto'],
  };
  const { ask } = createDesk(subject, { limits: { stack: limits }, user: undefined });
  const crypto = limited('60', '1', { side: 'SELL', instrument_type: 'CRYPTO' });
  const verdict = await ask(crypto);
  assert.ok(verdict.kind === 'allowed');
  // The audit says which checks could not be made, and what is known counts.
  assert.deepEqual(
    verdict.noted.map(({ check }) => check),
    ['max_order_notional', 'max_open_notional'],
  );
  assert.deepEqual(verdict.exposures[0]?.counted, { 'counter stack': '60' });
  assert.deepEqual(failedOf(await ask(limited('101', '1', { side: 'SELL', instrument_type: 'CRYPTO' }))), [
    'max_order_notional',
    'max_open_notional',
  ]);
  assert.deepEqual(failedOf(await ask(limited('1', '1', { side: 'SELL' }))), [
    'max_order_notional',
    'max_open_notional',
  ]);
  assert.deepEqual((await ask(crypto)).kind, 'allowed');
  for (const [word, instrument_type] of [
    ['event', 'EVENT'],
    ['futures', 'FUTURES'],
  ] as const)
    for (const allow_unknown of [['event'], ['futures']] as const) {
      const desk = createDesk(subject, {
        limits: { stack: { ...limits, allow_unknown: [...allow_unknown] } },
      });
      const isBlocked =
        failedOf(await desk.ask(limited('1', '1', { side: 'SELL', instrument_type }))).length > 0;
      assert.equal(isBlocked, allow_unknown[0] !== word, `${word} ${allow_unknown}`);
    }
  const others = createDesk(subject, { limits: { stack: { ...limits, allow_unknown: ['contract'] } } });
  assert.deepEqual(failedOf(await others.ask(replaced(undefined, {}))), [
    'max_order_notional',
    'max_open_notional',
  ]);
  assert.deepEqual(failedOf(await ask(crypto)), ['max_open_notional']);
}

async function knownPartsAreChecked(subject: GuardSubject): Promise<void> {
  const limits: TradingLimits = {
    max_order_quantity: '9',
    max_order_notional: '2100',
    price_collar: '10',
    allow_unknown: ['price', 'order', 'contract'],
  };
  const { ask } = createDesk(subject, { limits: { stack: limits }, last: '20' });
  const cases: readonly (readonly [order: AskedOrder, failing: readonly string[]])[] = [
    [placed({ quantity: '10', total_cash_amount: '1' }), ['max_order_quantity']],
    [placed({ quantity: '10', total_cash_amount: '1e1001' }), ['max_order_quantity']],
    [limited('22.01', '1', { total_cash_amount: '1e1001' }), ['price_collar']],
    [ofOptions('0.01', '2', [near, 'AAPL1']), ['max_order_notional']],
    [placed({ quantity: '1', total_cash_amount: '1e1001' }), []],
    [placed({ quantity: '1', legs: [{ ...strayLeg, quantity: '900' }] }), []],
    [ofOptions('0.01', '1', [near, 'AAPL1']), []],
  ];
  for (const [order, failing] of cases) assert.deepEqual(failedOf(await ask(order)), failing, order.json);
  const priced: TradingLimits = { ...limits, allow_unknown: ['price', 'order'] };
  const strict = createDesk(subject, { limits: { stack: priced }, last: undefined });
  for (const order of [
    placed({ quantity: '1', legs: [{ ...strayLeg, quantity: '900' }] }),
    limited('1', '1', { instrument_type: 'CRYPTO', legs: [strayLeg] }),
  ])
    assert.deepEqual(
      failedOf(await strict.ask(order)),
      ['max_order_quantity', 'max_order_notional'],
      order.json,
    );
  assert.deepEqual(failedOf(await strict.ask(ofOptions('0.01', '1', [near, 'AAPL1']))), [
    'max_order_notional',
  ]);
  const repeated = { max_duplicative_orders: { orders: 9, seconds: 60 } };
  const desk = createDesk(subject, { limits: { stack: repeated }, last: '20' });
  assert.deepEqual(failedOf(await desk.ask(placed({ quantity: '1', legs: [strayLeg] }))), [
    'max_duplicative_orders',
  ]);
  const shown = placed({ quantity: '1', legs: [strayLeg] });
  assert.deepEqual(failedOf(await desk.ask(replaced(shown.json, { quantity: '1' }))), []);
}

async function nothingIsNoLimit(subject: GuardSubject): Promise<void> {
  const limits = { stack: { max_open_notional: '190' } };
  const desk = createDesk(subject, { limits, user: undefined, last: '20' });
  const counted = { quantity: '9', limitPrice: '5', counted: { 'counter stack': '45' } };
  const change = (terms: object) => replaced(limited('5', '9').json, terms, counted);
  const verdict = await desk.ask(change({ quantity: '9', limit_price: '0' }));
  assert.ok(verdict.kind === 'allowed' && verdict.exposures[0]?.isUnlimited);
  // 9 × 20 × 1.05
  assert.equal(verdict.exposures[0].counted['counter stack'], '189');
}

async function minuteCounts(subject: GuardSubject): Promise<void> {
  const none = createDesk(subject, { limits: { stack: { max_orders_per_minute: 0 } } });
  assert.deepEqual(failedOf(await none.ask(placed())), ['max_orders_per_minute']);
  for (const scope of Object.values(scopes)) {
    const limits = { [scope]: { max_orders_per_minute: 2 } };
    const { world, ask } = createDesk(subject, { limits, user: userAt(scope) });
    assert.deepEqual(failedOf(await ask(placed(), placed(), placed())), ['max_orders_per_minute']);
    assert.deepEqual(failedOf(await ask(placed(), placed())), []);
    world.now += 68_999;
    assert.deepEqual(failedOf(await ask(placed())), ['max_orders_per_minute']);
    world.now += 1;
    assert.deepEqual(failedOf(await ask(placed())), []);
    assert.deepEqual(failedOf(await ask(replaced(placed().json, { quantity: '1' }), placed())), [
      'max_orders_per_minute',
    ]);
  }
}

async function repetitionsCount(subject: GuardSubject): Promise<void> {
  for (const scope of Object.values(scopes)) {
    const limits = {
      [scope]: { max_duplicative_orders: { orders: 2, seconds: 90 }, max_orders_per_minute: 100 },
    };
    const { world, ask } = createDesk(subject, { limits });
    assert.deepEqual(failedOf(await ask(limited('1', '1'), placed())), []);
    assert.deepEqual(failedOf(await ask(placed({ symbol: 'aapl', quantity: '1.0' }))), [
      'max_duplicative_orders',
    ]);
    for (const other of [{ symbol: 'MSFT' }, { side: 'SELL' }, { quantity: '2' }])
      assert.deepEqual(failedOf(await ask(placed(other))), [], JSON.stringify(other));
    const byAmount = (total_cash_amount: string) =>
      placed({ entrust_type: 'AMOUNT', quantity: null, total_cash_amount });
    assert.deepEqual(failedOf(await ask(byAmount('5'), byAmount('5'), byAmount('6'))), []);
    assert.deepEqual(failedOf(await ask(byAmount('5.0'))), ['max_duplicative_orders']);
    const change = replaced(placed().json, { limit_price: '1' });
    assert.deepEqual(failedOf(await ask(change, change, change)), []);
    const event = (event_outcome: string) =>
      placed({ instrument_type: 'EVENT', symbol: 'KX', event_outcome });
    assert.deepEqual(failedOf(await ask(event('yes'), event('yes'), event('no'), event('no'))), []);
    assert.deepEqual(failedOf(await ask(event('no'))), ['max_duplicative_orders']);
    world.now += 98_999;
    assert.deepEqual(failedOf(await ask(placed())), ['max_duplicative_orders']);
    world.now += 1;
    assert.deepEqual(failedOf(await ask(placed())), []);
  }
}

async function unreadableIsUnknown(subject: GuardSubject): Promise<void> {
  const long = `1.${'0'.repeat(120)}`;
  const each: readonly TradingLimits[] = [
    { max_order_quantity: '9' },
    { max_order_notional: '900' },
    { max_open_notional: '900' },
    { max_duplicative_orders: { orders: 9, seconds: 9 } },
    { price_collar: '50' },
  ];
  for (const limits of each) {
    const { ask } = createDesk(subject, { limits: { stack: limits }, last: '1' });
    const fails = [Object.keys(limits)[0]];
    assert.deepEqual(failedOf(await ask(limited('1', long))), fails);
    const numbers = [
      limited('1', '0.001', { entrust_type: 'AMOUNT', total_cash_amount: long }),
      limited(long, '1'),
      limited('1', '1', { order_type: 'STOP_LOSS', stop_price: long }),
    ];
    for (const order of limits.price_collar === undefined ? numbers : [])
      assert.deepEqual(failedOf(await ask(order)), fails, order.json);
    if (limits.max_order_notional ?? limits.max_open_notional)
      assert.deepEqual(failedOf(await ask(replaced(limited('1', '9').json, { quantity: long }))), fails);
    assert.deepEqual(
      failedOf(await ask(limited('1', '1', { legs: [{ quantity: long }] }))).slice(0, 1),
      fails,
    );
  }
  const { ask } = createDesk(subject, { limits: { stack: { max_order_quantity: '9' } } });
  const spread = ofOptions('1', '1', [near, far]).json.replace('"quantity":"1"}]', '"quantity":"2"}]');
  assert.deepEqual(failedOf(await ask(replaced(spread, { quantity: '9' }))), ['max_order_quantity']);
  assert.deepEqual(failedOf(await ask(replaced(spread, { limit_price: '2' }))), []);
  assert.deepEqual(failedOf(await ask(placed({ quantity: '1', total_cash_amount: '9' }))), [
    'max_order_quantity',
  ]);
  const repeats = createDesk(subject, {
    limits: { stack: { max_duplicative_orders: { orders: 1, seconds: 9 } } },
  });
  assert.deepEqual(failedOf(await repeats.ask(ofOptions('1', '1', [near], { symbol: 'AAPL' }))), []);
  assert.deepEqual(failedOf(await repeats.ask(ofOptions('1', '1', [near], { symbol: near }))), [
    'max_duplicative_orders',
  ]);
  const soldAs = (side: string, symbol: string) => ({ side, instrument_type: 'OPTION', symbol });
  const legs = [soldAs('SELL', near), soldAs('SHORT', far)];
  assert.deepEqual(failedOf(await repeats.ask(ofOptions('1', '1', [], { legs }))), []);
  assert.deepEqual(failedOf(await repeats.ask(ofOptions('1', '1', [], { legs: [...legs].reverse() }))), [
    'max_duplicative_orders',
  ]);
  const both = { symbol: near, strike_price: '250', option_type: 'CALL', option_expire_date: '2029-01-19' };
  const allowed = createDesk(subject, { limits: { stack: { allowed_symbols: ['AAPL', near] } } });
  assert.deepEqual(failedOf(await allowed.ask(ofOptions('1', '1', [near], { legs: [both] }))), [
    'allowed_symbols',
  ]);
}

/** Whatever is ordered, a counter keeps what it needs in a few kB, and counts no order too short. */
async function countersAreBounded(subject: GuardSubject): Promise<void> {
  const limits = {
    stack: { max_orders_per_minute: 1000, max_duplicative_orders: { orders: 1000, seconds: 3600 } },
  };
  const { world, ask } = createDesk(subject, { limits, user: undefined });
  const sizes: number[] = [];
  for (let index = 0; index < 1000; index++) {
    const verdict = await ask(placed());
    assert.ok(verdict.kind === 'allowed', `${index}`);
    sizes.push(...verdict.counters.map(({ next }) => next.length));
    world.now += 59;
  }
  assert.ok(Math.max(...sizes) < 4096, `${Math.max(...sizes)}`);
  const both = ['max_orders_per_minute', 'max_duplicative_orders'];
  assert.deepEqual(failedOf(await ask(placed())), both);
  world.now = begin + 69_000 + 59 * 1000;
  assert.deepEqual(failedOf(await ask(placed())), ['max_duplicative_orders']);
  assert.deepEqual(failedOf(await ask(placed({ quantity: '7' }))), []);
  // However late one looks: those of the last minute, at least. What is refused adds nothing to them.
  const desk = createDesk(subject, { limits: { stack: { max_orders_per_minute: 1000 } }, user: undefined });
  const at: number[] = [];
  for (let index = 0; index < 1000; index++, desk.world.now += 59) {
    at.push(desk.world.now);
    await desk.ask(placed());
  }
  for (const late of [63, 70, 85, 100, 113]) {
    desk.world.now = begin + late * 1000;
    const inMinute = at.filter((one) => one > desk.world.now - 69_000).length;
    desk.world.limits = { stack: { max_orders_per_minute: inMinute } };
    assert.deepEqual(failedOf(await desk.ask(placed())), ['max_orders_per_minute'], `${late}`);
  }
}

/** Each limit of time forgets by itself, although the counter keeps what the other one needs. */
async function timesAreApart(subject: GuardSubject): Promise<void> {
  const rate = { max_orders_per_minute: 2, max_duplicative_orders: { orders: 100, seconds: 3600 } };
  const first = createDesk(subject, { limits: { stack: rate }, user: undefined });
  await first.ask(placed(), placed());
  first.world.now += 68_999;
  assert.deepEqual(failedOf(await first.ask(placed())), ['max_orders_per_minute']);
  first.world.now += 1;
  assert.deepEqual(failedOf(await first.ask(placed(), placed())), []);
  const repetitions = { max_orders_per_minute: 100, max_duplicative_orders: { orders: 1, seconds: 5 } };
  const second = createDesk(subject, { limits: { stack: repetitions }, user: undefined });
  await second.ask(placed());
  second.world.now += 13_999;
  assert.deepEqual(failedOf(await second.ask(placed())), ['max_duplicative_orders']);
  second.world.now += 1;
  assert.deepEqual(failedOf(await second.ask(placed())), []);
}

/** Replacements of one order of 10 at 1, each of which may be executed or not, and at any time. */
async function replacementsAddUp(subject: GuardSubject): Promise<void> {
  const chains: readonly (readonly [changes: readonly object[], counted: string])[] = [
    [[{ quantity: '100' }, { quantity: '1' }, { limit_price: '5' }], '500'],
    [[{ quantity: '100' }, { quantity: null, limit_price: '5' }], '500'],
    [[{ quantity: '100' }, { quantity: '1', limit_price: '5' }], '500'],
    [[{ limit_price: '5' }, { quantity: '20', limit_price: '1' }], '100'],
    [
      [
        { quantity: '20', limit_price: '5' },
        { quantity: '50', limit_price: '3' },
      ],
      '150',
    ],
    [
      [{ quantity: '20', limit_price: '5' }, { quantity: '50', limit_price: '3' }, { limit_price: '4' }],
      '250',
    ],
    [
      [{ quantity: '20', limit_price: '5' }, { limit_price: '1' }, { quantity: '30', limit_price: '1' }],
      '150',
    ],
    // 10 at the last price and 5 percent.
    [[{ order_type: 'STOP_LOSS', stop_price: '2' }, { quantity: '20' }], '420'],
    [
      [
        { order_type: 'STOP_LOSS', stop_price: '40' },
        { quantity: '20', limit_price: '1' },
      ],
      '840',
    ],
  ];
  for (const [changes, counted] of chains) {
    const limits = { stack: { max_open_notional: '10000' } };
    const { ask } = createDesk(subject, { limits, last: '20', user: undefined });
    const order = limited('1', '10');
    let verdict = await ask(order);
    for (const change of changes) {
      assert.ok(verdict.kind === 'allowed');
      verdict = await ask(replaced(order.json, change, verdict.exposures[0]));
    }
    assert.ok(verdict.kind === 'allowed');
    assert.deepEqual(verdict.exposures[0]?.counted, { 'counter stack': counted }, JSON.stringify(changes));
  }
  // As the upstream shows an order of which nothing is counted, or that another program has made larger since.
  const limits = { stack: { max_open_notional: '10000' } };
  const { ask } = createDesk(subject, { limits, last: '20', user: undefined });
  const counted = { quantity: '1', limitPrice: '1', counted: { 'counter stack': '1' } };
  for (const seen of [{}, { exposure: counted, isShown: true as const }]) {
    const order = replaced(limited('1', '100').json, { quantity: '1', limit_price: '1' });
    const verdict = await ask({ ...order, ...seen });
    assert.ok(verdict.kind === 'allowed');
    const [after] = verdict.exposures;
    assert.deepEqual([after?.quantity, after?.counted], ['100', { 'counter stack': '100' }]);
  }
}

/** A reduction is not refused for what quotes have made of the order; nothing else passes for that. */
async function countedIsNotValuedAnew(subject: GuardSubject): Promise<void> {
  const limits = { stack: { max_open_notional: '2100' } };
  const { ask, world } = createDesk(subject, { limits, last: '20', user: undefined });
  const sale = limited('0.01', '100', { side: 'SELL' });
  const first = await ask(sale);
  assert.ok(first.kind === 'allowed');
  world.last = '20.5';
  const change = (quantity: string, exposure: AskedOrder['exposure']) =>
    ask(replaced(sale.json, { quantity, limit_price: '0.01' }, exposure));
  const smaller = await change('50', first.exposures[0]);
  assert.ok(smaller.kind === 'allowed');
  assert.deepEqual(smaller.exposures[0]?.counted, { 'counter stack': '2100' });
  assert.deepEqual(failedOf(await change('100', smaller.exposures[0])), ['max_open_notional']);
  // One that another program placed never was within the limit.
  assert.deepEqual(failedOf(await change('50', undefined)), ['max_open_notional']);
}

/** For one order alone, what a replacement names counts as it comes. */
async function replacementIsChecked(subject: GuardSubject): Promise<void> {
  const limits: TradingLimits = { max_order_notional: '100', max_open_notional: '10000' };
  const { ask } = createDesk(subject, { limits: { stack: limits }, last: '20' });
  const order = limited('1', '10');
  const option = limited('1', '1', { instrument_type: 'OPTION', symbol: 'AAPL290119C00240000' });
  const failsOn = async (json: string, changes: object, exposure?: AskedOrder['exposure']) =>
    failedOf(await ask(replaced(json, changes, exposure)));
  assert.deepEqual(await failsOn(option.json, { limit_price: '1.01', instrument_type: 'EQUITY' }), [
    'max_order_notional',
  ]);
  const byAmount = limited('1', '10', { entrust_type: 'AMOUNT', quantity: null, total_cash_amount: '10' });
  assert.deepEqual(await failsOn(byAmount.json, { quantity: '101' }), ['max_order_notional']);
  assert.deepEqual(await failsOn(byAmount.json, { quantity: '100' }), []);
  const first = await ask(replaced(order.json, { quantity: '100' }));
  assert.ok(first.kind === 'allowed');
  const [exposure] = first.exposures;
  assert.deepEqual(await failsOn(order.json, { quantity: null, limit_price: '1.01' }, exposure), [
    'max_order_notional',
  ]);
  assert.deepEqual(await failsOn(order.json, { quantity: '50', limit_price: '2' }, exposure), []);
  assert.deepEqual(await failsOn(order.json, { quantity: '50', limit_price: '2.01' }, exposure), [
    'max_order_notional',
  ]);
  const unlimited = { ...exposure!, quantity: '4', isUnlimited: true as const };
  assert.deepEqual(await failsOn(order.json, { quantity: '5' }, unlimited), ['max_order_notional']);
  assert.deepEqual(await failsOn(order.json, { quantity: '5', order_type: 'LIMIT' }, unlimited), []);
  const collared = createDesk(subject, { limits: { stack: { price_collar: '10' } }, last: '20' });
  const farther = replaced(limited('20', '1').json, { limit_price: '30', instrument_type: 'OPTION' });
  assert.deepEqual(failedOf(await collared.ask(farther)), ['price_collar']);
}

async function openCounts(subject: GuardSubject): Promise<void> {
  for (const [kind, scope] of Object.entries(scopes)) {
    const { world, ask } = createDesk(subject, {
      limits: { [scope]: { max_open_notional: '100' } },
      last: '10',
      user: userAt(scope),
    });
    const order = limited('6', '10');
    const first = await ask(order);
    assert.ok(first.kind === 'allowed');
    const [exposure] = first.exposures;
    assert.deepEqual(exposure?.counted, { [`counter ${scope}`]: '60' });
    const above = await ask(limited('4.00000001', '10'));
    assert.deepEqual(failedOf(above), ['max_open_notional']);
    assert.ok(above.kind === 'blocked');
    assert.deepEqual(above.counters, [`counter ${scope}`]);
    assert.equal(above.failures[0]?.scope, kind);
    assert.equal(above.failures[0]?.came, kind === 'gateway' ? undefined : '100.0000001');
    const blockedInAll = await ask(limited('4', '5'), limited('4.00000001', '5'));
    assert.deepEqual(failedOf(blockedInAll), ['max_open_notional']);
    // It is counted already, so that the difference counts.
    assert.deepEqual(failedOf(await ask(replaced(order.json, { limit_price: '10.00000001' }, exposure))), [
      'max_open_notional',
    ]);
    const larger = await ask(replaced(order.json, { limit_price: '10' }, exposure));
    assert.ok(larger.kind === 'allowed');
    assert.deepEqual(larger.exposures[0]?.counted, { [`counter ${scope}`]: '100' });
    const smaller = await ask(replaced(order.json, { limit_price: '1' }, larger.exposures[0]));
    assert.ok(smaller.kind === 'allowed');
    assert.deepEqual(smaller.exposures[0]?.counted, { [`counter ${scope}`]: '100' });
    world.limits = { [scope]: { max_open_notional: '1' } };
    world.now += 6000;
    assert.deepEqual(failedOf(await ask(replaced(order.json, { quantity: '1' }, larger.exposures[0]))), []);
    assert.deepEqual(failedOf(await ask(limited('0.01', '0.01'))), ['max_open_notional']);
  }
}

/** Entry and exits of a bracket are never open together; anything else that looks like one may be. */
async function bracketsCountOnce(subject: GuardSubject): Promise<void> {
  const { ask } = createDesk(subject, {
    limits: { stack: { max_open_notional: '120', user_shares: 'none', allow_unknown: ['contract'] } },
    last: '1',
  });
  const part = (combo_type: string, price: string, more = {}) => ({
    ...limited(price, '10', { combo_type, side: combo_type === 'MASTER' ? 'BUY' : 'SELL', ...more }),
    isCombined: true,
  });
  const enters = part('MASTER', '10');
  const byAmount = { entrust_type: 'AMOUNT', quantity: undefined, total_cash_amount: '110' };
  const others: readonly (readonly [string, ...AskedOrder[]])[] = [
    ['several requests', enters, { ...part('STOP_PROFIT', '12'), isCombined: false }],
    ['no exit', enters, part('OTO', '12')],
    ['larger', enters, part('STOP_PROFIT', '2.1', { quantity: '10.00000001' })],
    ['another symbol', enters, part('STOP_PROFIT', '12', { symbol: 'MSFT' })],
    ['another thing', enters, part('STOP_PROFIT', '12', event)],
    ['no stock', part('MASTER', '10', event), part('STOP_PROFIT', '12', event)],
    ['one side', enters, part('STOP_PROFIT', '12', { side: 'BUY' })],
    ['by amount', enters, part('STOP_PROFIT', '12', byAmount)],
    ['beside an amount', enters, part('STOP_PROFIT', '2.1', { total_cash_amount: '110' })],
    ['two of a kind', enters, part('STOP_PROFIT', '12'), part('STOP_PROFIT', '12')],
    ['two entries', enters, part('STOP_PROFIT', '1'), part('MASTER', '3')],
    ['legs', enters, part('STOP_PROFIT', '12', { legs: [{ symbol: 'MSFT', side: 'SELL' }] })],
    ['too large an exit', enters, part('STOP_PROFIT', '12.00000001')],
  ];
  const above = await ask(enters, { ...part('STOP_PROFIT', '12.00000001'), at: '/1' });
  assert.ok(above.kind === 'blocked');
  assert.deepEqual(
    above.failures.map(({ at, added }) => [at, added]),
    [['/1', '120.0000001']],
  );
  for (const [why, ...orders] of others) {
    const failed = failedOf(await ask(...orders));
    assert.ok(failed.length > 0 && failed.every((one) => one === 'max_open_notional'), why);
  }
  const verdict = await ask(part('STOP_LOSS', '9'), enters, part('STOP_PROFIT', '12'));
  assert.ok(verdict.kind === 'allowed');
  const counted = verdict.exposures.map((one) => one?.counted['counter stack']);
  assert.deepEqual(counted, ['0', '120', '0']);
  const covered = verdict.exposures[1]!;
  const moved = (limit_price: string, exposure = verdict.exposures[2]) =>
    ask({ ...replaced(part('STOP_PROFIT', '12').json, { limit_price }, exposure), covered });
  assert.equal((await moved('12')).kind, 'allowed');
  assert.deepEqual(failedOf(await moved('12.00000001')), ['max_open_notional']);
  const larger = { limit_price: '1', quantity: '10.00000001' };
  const json = part('STOP_PROFIT', '12').json;
  assert.deepEqual(failedOf(await ask({ ...replaced(json, larger, verdict.exposures[2]), covered })), [
    'max_open_notional',
  ]);
  const kept = await moved('12', { counted: { 'counter stack': '7' } });
  assert.ok(kept.kind === 'allowed' && kept.exposures[0]?.counted['counter stack'] === '7');
  // Its exits are alike, and repeat nothing; the same bracket once more does.
  const once = createDesk(subject, {
    limits: { stack: { max_duplicative_orders: { orders: 1, seconds: 60 } } },
  });
  const bracket = [enters, part('STOP_PROFIT', '12'), part('STOP_LOSS', '9')];
  assert.deepEqual(failedOf(await once.ask(...bracket)), []);
  assert.deepEqual(failedOf(await once.ask(...bracket)), ['max_duplicative_orders']);
}

/** A user adds while what the user has is less than what is left; what others have is not told. */
/** The upstream shows an empty text for a number that it does not report. */
async function emptyIsAbsent(subject: GuardSubject): Promise<void> {
  const { ask } = createDesk(subject, { limits: { stack: { max_order_notional: '100' } }, last: '10' });
  const shown = placed({
    order_type: 'LIMIT',
    limit_price: '1',
    quantity: '5',
    stop_price: '',
    total_cash_amount: '',
  });
  assert.deepEqual(failedOf(await ask(replaced(shown.json, { quantity: '6' }))), []);
  assert.deepEqual(failedOf(await ask(replaced(shown.json, { quantity: '101' }))), ['max_order_notional']);
}

async function usersHaveShares(subject: GuardSubject): Promise<void> {
  // A share tells of its own user alone.
  const fails = (check: string, came: string) => [['gateway', check, true, came]];
  const told = (verdict: Verdict) =>
    verdict.kind === 'blocked'
      ? verdict.failures.map(({ scope, check, isShare, came }) => [scope, check, isShare, came])
      : [];
  const rate = createDesk(subject, { limits: { stack: { max_orders_per_minute: 5 } } });
  const tooMany = await rate.ask(placed(), placed(), placed(), placed());
  assert.deepEqual(told(tooMany), fails('max_orders_per_minute', '4'));
  assert.deepEqual(told(await rate.ask(placed(), placed(), placed())), []);
  const further = await rate.ask(placed());
  assert.deepEqual(told(further), fails('max_orders_per_minute', '4'));
  // Another instance may have counted fewer for either.
  assert.deepEqual(further.kind === 'blocked' && further.counters, ['counter stack', 'counter user u']);
  rate.world.user = 'v';
  assert.deepEqual(told(await rate.ask(placed())), []);
  assert.deepEqual(told(await rate.ask(placed())), fails('max_orders_per_minute', '2'));
  rate.world.now += 69_000;
  assert.deepEqual(told(await rate.ask(placed(), placed(), placed())), []);

  const alone = createDesk(subject, { limits: { stack: { max_open_notional: '100', user_shares: 'none' } } });
  assert.deepEqual(told(await alone.ask(limited('1', '100'))), []);
  const whole = createDesk(subject, { limits: { stack: { max_orders_per_minute: 2, user_shares: 'none' } } });
  assert.deepEqual(told(await whole.ask(placed(), placed())), []);

  const open = createDesk(subject, { limits: { stack: { max_open_notional: '100' } } });
  const order = limited('4', '10');
  const first = await open.ask(order);
  assert.ok(first.kind === 'allowed');
  const both = (notional: string) => ({ 'counter stack': notional, 'counter user u': notional });
  assert.deepEqual(first.exposures[0]?.counted, both('40'));
  const larger = (limit_price: string) => open.ask(replaced(order.json, { limit_price }, first.exposures[0]));
  assert.deepEqual(told(await larger('5.00000001')), fails('max_open_notional', '50.0000001'));
  const most = await larger('5');
  assert.ok(most.kind === 'allowed');
  assert.deepEqual(most.exposures[0]?.counted, both('50'));
  assert.deepEqual(told(await open.ask(limited('0.1', '0.1'))), fails('max_open_notional', '50.01'));
  assert.deepEqual(failedOf(await open.ask(replaced(order.json, { quantity: '1' }, most.exposures[0]))), []);
  open.world.user = 'v';
  assert.deepEqual(
    told(await open.ask(limited('1', '15'), limited('1', '10.1'))),
    fails('max_open_notional', '25.1'),
  );
  assert.deepEqual(told(await open.ask(limited('1', '15'), limited('1', '10'))), []);
}

async function olderCountersAreNotLearnt(subject: GuardSubject): Promise<void> {
  const limits = { stack: { max_open_notional: '100' } };
  const { guard, ask } = createDesk(subject, { limits, user: undefined });
  const key = 'counter stack';
  guard.learn([{ key, revision: 7, state: '{"open":"0","recent":[]}' }]);
  guard.learn([{ key, revision: 6, state: '{"open":"100","recent":[]}' }]);
  const verdict = await ask(limited('1', '100'));
  assert.ok(verdict.kind === 'allowed');
  assert.equal(verdict.counters[0]?.revision, 7);
}

async function stopsHold(subject: GuardSubject): Promise<void> {
  for (const [kind, scope] of Object.entries(scopes)) {
    const { ask } = createDesk(subject, { stopped: [scope] });
    const verdict = await ask(placed());
    assert.deepEqual([verdict.kind, verdict.kind === 'stopped' && verdict.scope], ['stopped', kind]);
  }
  const { world, ask } = createDesk(subject);
  const first = await ask(placed());
  assert.ok(first.kind === 'allowed');
  assert.equal(first.leaveBy, begin + 5000);
  world.stopped = ['stack'];
  world.now += 3000;
  const cached = await ask(placed());
  assert.ok(cached.kind === 'allowed');
  assert.equal(cached.leaveBy, begin + 5000);
  world.now += 1;
  assert.deepEqual(failedOf(await ask(placed())), ['stopped']);
  const waiting = createDesk(subject);
  await waiting.ask(placed());
  waiting.world.stopped = ['stack'];
  waiting.world.now += 3001;
  assert.deepEqual(failedOf(await waiting.ask(placed())), ['stopped']);
}

/** What an operator changes while an answer is on its way is not in it. */
async function ageIsFromAsking(subject: GuardSubject): Promise<void> {
  const { world, ask } = createDesk(subject);
  world.whileRead = () => {
    world.now += 400;
  };
  const verdict = await ask(placed());
  assert.ok(verdict.kind === 'allowed');
  assert.equal(verdict.leaveBy, begin + 5000);
}

/** The oldest of what counts decides how long it counts. */
async function oldestDecides({ createGuard }: GuardSubject): Promise<void> {
  let now = begin;
  const controls = { read: async () => new Map() };
  const guard = createGuard({ controls, names, clock: () => now });
  const question = { credential: 'app', account: 'a', orders: [placed()], endBy: Number.MAX_SAFE_INTEGER };
  await guard.verdict(question);
  now += 1000;
  await guard.verdict({ ...question, account: 'b' });
  now += 500;
  const verdict = await guard.verdict(question);
  assert.ok(verdict.kind === 'allowed');
  // The account was read at first, the gateway again since.
  assert.equal(verdict.leaveBy, begin + 5000);
}

async function awayIsBounded(subject: GuardSubject): Promise<void> {
  const { world, ask } = createDesk(subject);
  await ask(placed());
  world.isAway = true;
  world.now += 5000;
  assert.equal((await ask(placed())).kind, 'allowed');
  world.now += 1;
  await assert.rejects(ask(placed()), /away/);
  const cold = createDesk(subject, { isAway: true });
  await assert.rejects(cold.ask(placed()), /away/);
}

export const rules: readonly ((subject: GuardSubject) => Promise<void>)[] = [
  checksFail,
  quotesAreFresh,
  unknownIsBlocked,
  salesCountAtQuotes,
  classesHaveUnderlyings,
  someUnknownsAreAllowed,
  knownPartsAreChecked,
  unreadableIsUnknown,
  nothingIsNoLimit,
  minuteCounts,
  repetitionsCount,
  timesAreApart,
  replacementsAddUp,
  countedIsNotValuedAnew,
  replacementIsChecked,
  openCounts,
  bracketsCountOnce,
  usersHaveShares,
  emptyIsAbsent,
  olderCountersAreNotLearnt,
  stopsHold,
  ageIsFromAsking,
  oldestDecides,
  awayIsBounded,
  // It takes longer than all others.
  countersAreBounded,
];
