/** Older forms: the current operation's records in the older shape, page by page to the right end. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { operations } from '../../../lib/catalogue/index.ts';
import { newOrder } from '../../support/orders.ts';
import { type Json, type Player, play } from '../player.ts';
import { send, testTime, withSimulator } from '../support.ts';

const account_id = 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S';
const far = { order_type: 'LIMIT', limit_price: '1.00', time_in_force: 'GTC' };

type Query = Readonly<Record<string, string>>;

/** All pages by index, up to the one that says or shows that it is the last, and the one after it. */
function byIndex(player: Player, id: string, query: Query, listOf: (answer: Json) => readonly Json[]) {
  const page = (index: number): Json => player.ask(id, { ...query, page_index: String(index) });
  const records: Json[] = [];
  let index = 1;
  for (; ; index++) {
    const answer = page(index);
    const list = listOf(answer);
    records.push(...list);
    if ('has_more' in answer ? !answer.has_more : list.length < Number(query.page_size)) break;
    assert.equal(list.length, Number(query.page_size), 'only the last page is short');
    assert.ok(index < 50, 'pages without end');
  }
  assert.deepEqual(listOf(page(index + 1)), [], 'nothing after the last page');
  assert.deepEqual(listOf(player.ask(id, query)), listOf(page(1)), 'the first page when none is named');
  return records;
}

/** All pages by the last record seen. */
function byLast(player: Player, id: string, query: Query, parameter: string, key: (record: Json) => string) {
  const records: Json[] = [];
  for (let pages = 0; ; pages++) {
    const last = records.at(-1);
    const page: readonly Json[] = player.ask(id, { ...query, ...(last && { [parameter]: key(last) }) });
    assert.ok(Array.isArray(page) && page.length <= Number(query.page_size));
    if (page.length === 0) return records;
    records.push(...page);
    assert.ok(pages < 50, 'pages without end');
  }
}

/** All records of the current form. */
function current(player: Player, id: string, query: Query): readonly Json[] {
  const answer = player.ask(id, query);
  return Array.isArray(answer) ? answer : player.pages(id, query).records;
}

const inData = (answer: Json) => answer.data;
const itself = (answer: Json) => answer;

describe('pages by index give each record of the current operation once', () => {
  // Nothing in it changes: what it has worked out for one test serves the next.
  const player = play();

  for (const [id, query, listOf] of [
    ['ListGainersLosers', { rank_type: 'DAY_1', category: 'US_STOCK', sort_by: 'CHANGE_RATIO' }, inData],
    ['ListTopActive', { rank_type: 'TURNOVER', category: 'US_ETF' }, inData],
    ['ListHighDividendRank', { category: 'US_STOCK' }, inData],
    ['ListWeek52HighLow', { rank_type: 'NEAR_HIGH', category: 'US_STOCK' }, inData],
    ['ListMarketSectors', { category: 'US_STOCK', period: 'MO1', agg_type: 'VOLUME' }, itself],
    ['GetMarketSectorDetail', { sector_id: '6412', category: 'US_STOCK', direction: 'DESC' }, inData],
    ['GetFundDividends', { symbol: 'QQQ', category: 'US_STOCK' }, itself],
  ] as const)
    test(id, () => {
      const all = current(player, `${id[0]!.toLowerCase()}${id.slice(1)}`, query);
      assert.ok(all.length >= 4, `${all.length} records`);
      // Three pages, the last of them shorter.
      const size = Math.floor(all.length / 3) + 1;
      const paged = byIndex(player, `legacy${id}`, { ...query, page_size: String(size) }, listOf);
      assert.deepEqual(paged, all);
    });

  test('also where the last page is full', () => {
    const query = { rank_type: 'DAY_1', category: 'US_STOCK', page_size: '100' };
    const page = (index: string) => player.ask('legacyListGainersLosers', { ...query, page_index: index });
    assert.deepEqual(
      ['1', '2', '3'].map((index) => [page(index).data.length, page(index).has_more]),
      [
        [100, true],
        [100, false],
        [0, false],
      ],
    );
  });
});

test('a sector has its own facts on every page, and no cursor', () => {
  const player = play();
  const query = { sector_id: '6412', category: 'US_STOCK' };
  const { data: _data, pagination_key: _key, ...facts } = player.ask('getMarketSectorDetail', query);
  for (const page_index of ['1', '2', '99']) {
    const { data: _, ...shown } = player.ask('legacyGetMarketSectorDetail', { ...query, page_index });
    assert.deepEqual(shown, facts);
  }
});

test('option bars are the current ones, bare', () => {
  const player = play();
  const query = {
    symbols: 'AAPL270115C00240000,MSFT270115P00500000',
    category: 'US_OPTION',
    timespan: 'D',
    count: '3',
  };
  const bars = player.ask('legacyListOptionBars', query);
  const now = player.ask('listOptionBars', query);
  assert.deepEqual(bars, Array.isArray(now) ? now : now.result);
  assert.deepEqual(
    bars.map(({ symbol, result }: Json) => [symbol, result.length]),
    query.symbols.split(',').map((symbol) => [symbol, 3]),
  );
});

test('option contracts: pages by the last one seen, to the end', () => {
  const player = play();
  const query = {
    category: 'US_OPTION',
    underlying_symbols: 'AAPL',
    option_type: 'CALL',
    show_deliverables: 'TRUE',
  };
  const all = current(player, 'listOptionContracts', { ...query, show_deliverables: 'true' });
  assert.ok(all.length > 200, `${all.length} contracts`);
  const paged = byLast(
    player,
    'legacyListOptionContracts',
    { ...query, page_size: '77' },
    'last_instrument_id',
    ({ instrument_id }) => instrument_id,
  );
  assert.deepEqual(paged, all);
  assert.ok(paged[0].deliverables.length > 0);
  const [{ symbol }] = paged;
  assert.deepEqual(
    player.ask('legacyListOptionContracts', {
      category: 'US_OPTION',
      option_symbol: symbol,
      show_deliverables: 'true',
    }),
    [paged[0]],
  );
  for (const more of [{}, { underlying_symbols: 'AAPL' }])
    assert.equal(
      typeof player.refused('legacyListOptionContracts', {
        category: 'US_OPTION',
        last_instrument_id: '1',
        ...more,
      }),
      'string',
    );
});

describe('orders', () => {
  function place(player: Player, change: Readonly<Record<string, unknown>> = far): string {
    const order = newOrder(change);
    player.ask('placeOrder', {}, { account_id, new_orders: [order] });
    return order.client_order_id;
  }

  for (const [parameter, key] of [
    ['last_client_order_id', (group: Json) => group.client_order_id],
    ['last_order_id', (group: Json) => group.orders.at(-1).order_id],
  ] as const)
    test(`open ones by ${parameter}: newest first, each once`, () => {
      const player = play();
      for (let count = 0; count < 47; count++) place(player);
      const parts = [newOrder({ ...far, combo_type: 'OCO' }), newOrder({ ...far, combo_type: 'OCO' })];
      player.ask('placeOrder', {}, { account_id, client_combo_order_id: 'pair', new_orders: parts });
      const all = current(player, 'listOpenOrders', { account_id });
      assert.equal(all.length, 51);
      const query = { account_id, page_size: '25' };
      assert.deepEqual(byLast(player, 'legacyListOpenOrders', query, parameter, key), all);
      assert.deepEqual(player.ask('legacyListOpenOrders', { account_id }), all.slice(0, 10));
      assert.equal(all[0].orders.length, 2, 'the combination is one entry');
    });

  test('what is placed, cancelled or filled meanwhile moves no other', () => {
    const player = play();
    for (let count = 0; count < 30; count++) place(player);
    const query = { account_id, page_size: '10' };
    const all = current(player, 'listOpenOrders', { account_id });
    const first = player.ask('legacyListOpenOrders', query);
    const last_client_order_id = first.at(-1).client_order_id;
    player.ask('cancelOrder', {}, { account_id, client_order_id: last_client_order_id });
    place(player);
    const second = player.ask('legacyListOpenOrders', { ...query, last_client_order_id });
    assert.deepEqual([...first, ...second], all.slice(0, 20));
  });

  test('an order of nobody, or of another account, is no place in the list', () => {
    const player = play();
    const id = place(player);
    for (const query of [
      { account_id, last_client_order_id: 'never-placed' },
      { account_id, last_order_id: 'NEVERPLACED' },
      { account_id: 'B1N6UY3G8W0JFS7QTC2IE9OH4M', last_client_order_id: id },
      { account_id: 'nobody' },
    ])
      assert.equal(typeof player.refused('legacyListOpenOrders', query), 'string');
  });

  test('the history of a period, in each form of its bounds', () => {
    const player = play();
    player.now = testTime - 8 * 86_400_000;
    const before = place(player, {});
    player.now = testTime - 6 * 86_400_000;
    const recent = place(player, {});
    player.now = testTime;
    const history = (query: Query = {}): string[] =>
      player
        .ask('legacyListOrderHistory', { account_id, ...query })
        .map(({ client_order_id }: Json) => client_order_id);
    assert.deepEqual(history(), [recent]);
    for (const [start, end] of [
      ['2026-11-09', '2026-11-09'],
      ['20261109', '20261109'],
      ['2026-11-09T00:00:00.000Z', '2026-11-10T00:00:00.000Z'],
      ['2026-11-09 00:00:00', '2026-11-10T00:00'],
      ['2026-11-09T00:00:00.000+0000', '2026-11-09T19:00:00-05:00'],
      [String(Date.UTC(2026, 10, 9)), String(Date.UTC(2026, 10, 10))],
    ] as const) {
      assert.deepEqual(history({ start_date: start, end_date: end }), [before], start);
      assert.deepEqual(history({ start_time: start, end_time: end }), [before], start);
      assert.deepEqual(history({ start_time: start }), [recent, before], start);
    }
    for (const start_time of ['2026-13-45', '2026-02-30', '20260230', '2026-11-09T99:00:00Z'])
      assert.equal(typeof player.refused('legacyListOrderHistory', { account_id, start_time }), 'string');
    const query = { account_id, start_date: '2018-05-21', page_size: '2' };
    const all = current(player, 'listOrderHistory', { account_id, start_time: '2018-05-21T00:00:00Z' });
    assert.ok(all.length > 4);
    assert.deepEqual(
      byLast(
        player,
        'legacyListOrderHistory',
        query,
        'last_client_order_id',
        (group) => group.client_order_id,
      ),
      all,
    );
  });
});

describe('the configuration', () => {
  test('says that no token is needed, to a signed request', async () => {
    await withSimulator({}, async (simulator) => {
      const reply = await send(simulator, { target: '/openapi/config' });
      assert.deepEqual([reply.status, reply.json], [200, { token_check_enabled: false }]);
      const unsigned = await send(simulator, { target: '/openapi/config', change: { 'x-signature': 'x' } });
      assert.equal(unsigned.status, 401);
    });
  });

  test('says that one is needed, to a client that has none yet', async () => {
    await withSimulator({ accessToken: 'token' }, async (simulator) => {
      const reply = await send(simulator, { target: '/openapi/config' });
      assert.deepEqual([reply.status, reply.json], [200, { token_check_enabled: true }]);
      assert.equal((await send(simulator, { target: '/trading/accounts/list' })).status, 401);
    });
  });
});

test('the simulator stays strict: of older paths too, it takes interface version v3 alone', async () => {
  await withSimulator({}, async (simulator) => {
    for (const { path, example } of operations.filter(({ legacyOf }) => legacyOf)) {
      const target = `${path}?${new URLSearchParams(example.query)}`;
      const reply = await send(simulator, { target, change: { 'x-version': 'v2' } });
      assert.notEqual(reply.status, 200, path);
    }
  });
});
