/** Refusals with the codes and in the shapes that were seen live; each test quotes what was seen. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { observed } from '../../../infra/simulator/observed.ts';
import { operations, routesOf } from '../../../lib/catalogue/index.ts';
import { newOrder } from '../../support/orders.ts';
import { account_id, withLive } from '../observed.ts';
import { credentials, send, sendRaw, snapshotTarget, testTime } from '../support.ts';

const stocks = { symbols: 'AAPL', category: 'US_STOCK' };
const bars = { symbol: 'AAPL', category: 'US_STOCK', timespan: 'D' };

describe('four shapes', () => {
  test(observed.shapeOfTrading.fact, () =>
    withLive(async (live) => {
      const { status, json } = await live.call('getOrder', { account_id, client_order_id: 'none' });
      assert.deepEqual(
        [status, json],
        [417, { error_code: 'OPENAPI_ORDER_NOT_FOUND', message: 'No such order, none' }],
      );
    }),
  );

  test(observed.shapeOfMarketData.fact, () =>
    withLive(async (live) => {
      for (const [id, given] of [
        ['getStockSnapshots', { ...stocks, symbols: 'NOPE9' }],
        ['listGainersLosers', { category: 'NONE', rank_type: 'DAY_1' }],
        ['listWatchlistInstruments', { watchlist_id: '1' }],
        ['getCompanyProfile', { symbol: 'NOPE9', category: 'US_STOCK' }],
      ] as const) {
        const { status, json } = await live.call(id, given);
        assert.deepEqual(Object.keys(json as object), ['error_code', 'message', 'status'], id);
        assert.deepEqual([status, (json as { status: number }).status], [417, 417]);
      }
    }),
  );

  test(observed.shapeOfFrontServer.fact, () =>
    withLive(async ({ simulator }) => {
      const { status, json } = await send(simulator, { target: '/no/such/path' });
      assert.deepEqual([status, Object.keys(json as object)], [404, ['error_msg']]);
    }),
  );

  test(observed.shapeOfWebServer.fact, () =>
    withLive(async ({ simulator }) => {
      const target = '/trading/accounts/list';
      const wrongMethod = await send(simulator, { method: 'POST', target: `${target}?a=1`, body: '{}' });
      assert.deepEqual(wrongMethod.json, {
        timestamp: new Date(testTime).toISOString(),
        status: 405,
        error: 'Method Not Allowed',
        message: 'method not allowed',
        path: target,
      });
      assert.equal(wrongMethod.status, 405);
      const head = ['POST /trade/place_order HTTP/1.1', 'content-length: 1048577'];
      const tooLarge = await sendRaw(simulator, head, 'x'.repeat(1_048_577));
      const { status, error, path } = tooLarge.json as Record<string, unknown>;
      assert.deepEqual([status, error, path], [413, 'Payload Too Large', '/trade/place_order']);
    }),
  );
});

test(observed.wrongParameter.fact, () =>
  withLive(async (live) => {
    for (const [id, given] of [
      ['placeOrder', { account_id, new_orders: [newOrder({ side: 'HOLD' })] }],
      ['placeOrder', { account_id }],
      ['getOrder', { account_id }],
      ['getAccountBalance', { account_id, total_asset_currency: 'EUR' }],
      ['listOpenOrders', { account_id, pagination_key: 'x' }],
      ['listOpenOrders', { account_id, page_size: '9' }],
      ['listStockInstruments', { category: 'NONE' }],
      ['listStockInstruments', { category: 'US_STOCK', pagination_key: 'x' }],
    ] as const)
      assert.deepEqual(await live.refused(id, given), [417, 'OPENAPI_PARAM_ERR'], JSON.stringify(given));
  }),
);

test(observed.wrongValue.fact, () =>
  withLive(async (live) => {
    const instruments = [{ symbol: 'KO', category: 'US_OPTION' }];
    for (const [id, given, code] of [
      ['getStockSnapshots', { ...stocks, extend_hour_required: '1' }, 'ILLEGAL_PARAMETER'],
      ['getStockSnapshots', { symbols: 'AAPL' }, 'ILLEGAL_PARAMETER'],
      ['listStockBars', { symbols: ['AAPL'], category: 'US_STOCK', timespan: 'M2' }, 'ILLEGAL_PARAMETER'],
      [
        'listStockBars',
        { symbols: ['AAPL'], category: 'US_STOCK', timespan: 'D', count: '0' },
        'ILLEGAL_PARAMETER',
      ],
      ['getStockSnapshots', { ...stocks, category: 'CRYPTO' }, 'UNSUPPORTED_CATEGORY'],
      ['listStockBars', { symbols: ['AAPL'], category: 'CRYPTO', timespan: 'D' }, 'UNSUPPORTED_CATEGORY'],
      ['listMarketSectors', { category: 'US_STOCK', period: 'Y1' }, 'UNSUPPORTED_PERIOD'],
    ] as const)
      assert.deepEqual(await live.refused(id, given), [417, code], JSON.stringify(given));
    const [, code] = await live.refused('addWatchlistInstruments', { watchlist_id: '40218837', instruments });
    assert.equal(code, 'ILLEGAL_PARAMETER');
  }),
);

test(observed.sectorPeriods.fact, () =>
  withLive(async (live) => {
    for (const [id, query] of [
      ['listMarketSectors', { category: 'US_STOCK' }],
      ['getMarketSectorDetail', { category: 'US_STOCK', sector_id: '6412' }],
    ] as const) {
      for (const period of ['D1', 'D5', 'MO1', 'MO3']) await live.ask(id, { ...query, period });
      for (const period of ['M01', 'M03'])
        assert.deepEqual(await live.refused(id, { ...query, period }), [417, 'UNSUPPORTED_PERIOD']);
    }
  }),
);

describe(observed.unroutedBars.fact, () => {
  const paths = ['/market-data/stocks/bars/get', '/openapi/market-data/stock/bars'];
  const query = `?${new URLSearchParams(bars)}`;

  test('unrouted, at both names; the batch path serves one symbol and many', () =>
    withLive(async (live) => {
      for (const path of paths) {
        const { status, json } = await send(live.simulator, { target: path + query });
        assert.deepEqual([status, Object.keys(json as object)], [404, ['error_msg']]);
      }
      for (const symbols of [['AAPL'], ['AAPL', 'MSFT']]) {
        const { result } = await live.ask('listStockBars', { symbols, category: 'US_STOCK', timespan: 'D' });
        assert.equal(result.length, symbols.length);
      }
    }));

  test('unless the simulator is told to route it', () =>
    withLive(
      async ({ simulator }) => {
        for (const path of paths) assert.equal((await send(simulator, { target: path + query })).status, 200);
      },
      { unrouted: [] },
    ));
});

test(observed.foreignKey.fact, () =>
  withLive(
    async ({ simulator }) => {
      const foreign = { appKey: 'sandbox-key', appSecret: 'sandbox-secret' };
      const targets = routesOf(operations).map(({ method, path }) => ({ method, target: path }));
      for (const draft of [...targets, { target: '/no/such/path' }]) {
        const reply = await send(simulator, { ...draft, ...foreign });
        assert.deepEqual([reply.status, reply.json], [404, { error_msg: 'Route Not Found' }]);
      }
      // Whatever else is wrong with the request.
      const unsigned = { ...foreign, target: snapshotTarget, change: { 'x-signature': undefined } };
      assert.equal((await send(simulator, unsigned)).status, 404);
      assert.equal((await send(simulator, { target: snapshotTarget })).status, 200);
    },
    { foreignKeys: ['sandbox-key'] },
  ),
);

test(observed.noKey.fact, () =>
  withLive(async ({ simulator }) => {
    for (const target of [snapshotTarget, '/trading/accounts/list']) {
      const { status, json } = await send(simulator, { target, change: { 'x-app-key': undefined } });
      assert.deepEqual(
        [status, json],
        [401, { error_code: 'MISSING_APP_KEY', message: 'x-app-key is missing' }],
      );
    }
  }),
);

test(observed.foreignAccount.fact, () =>
  withLive(async (live) => {
    const stranger = { account_id: 'somebody-else' };
    const client_order_id = 'gw-20261020-000002';
    const order = newOrder();
    for (const [id, given] of [
      ['getAccountBalance', stranger],
      ['listAccountPositions', stranger],
      ['listOpenOrders', stranger],
      ['listOrderHistory', stranger],
      ['getOrder', { ...stranger, client_order_id }],
      ['placeOrder', { ...stranger, new_orders: [order] }],
      ['previewOrder', { ...stranger, new_orders: [order] }],
      ['batchPlaceOrders', { ...stranger, batch_orders: [{ ...order, time_in_force: 'DAY' }] }],
      ['replaceOrder', { ...stranger, modify_orders: [{ client_order_id, quantity: '1' }] }],
      ['cancelOrder', { ...stranger, client_order_id }],
    ] as const)
      assert.deepEqual(await live.refused(id, given), [403, 'ACCOUNT_ACCESS_DENIED'], id);
  }),
);

test(observed.noSubscription.fact, () =>
  withLive(
    async (live) => {
      const asked = { symbols: ['AAPL'], category: 'US_STOCK', timespan: 'D' };
      const option = { symbols: 'AAPL270115C00240000', category: 'US_OPTION' };
      for (const [id, given, product] of [
        ['getStockSnapshots', stocks, 'US_STOCK'],
        ['listStockBars', asked, 'US_STOCK'],
        ['getOptionSnapshots', option, 'US_OPTION'],
      ] as const) {
        const { status, json } = await live.call(id, given);
        const { error_code, message } = json as { error_code: string; message: string };
        assert.deepEqual([status, error_code], [403, 'MARKET_DATA_NOT_SUBSCRIBED']);
        assert.ok(message.includes(product), message);
      }
      await live.ask('getStockSnapshots', { symbols: 'SPY', category: 'US_ETF' });
      await live.ask('getCompanyProfile', { symbol: 'AAPL', category: 'US_STOCK' });
    },
    { unsubscribed: ['US_STOCK', 'US_OPTION'] },
  ),
);

test(observed.depth.fact, () =>
  withLive(
    async (live) => {
      const stock = { symbol: 'AAPL', category: 'US_STOCK' };
      assert.equal((await live.ask('getStockQuotes', { ...stock, depth: '1' })).asks.length, 1);
      assert.deepEqual(await live.refused('getStockQuotes', { ...stock, depth: '2' }), [
        417,
        'ILLEGAL_PARAMETER',
      ]);
      // What is asked for without a number is what one may see.
      assert.equal((await live.ask('getStockQuotes', stock)).asks.length, 1);
    },
    { depthLevels: 1 },
  ),
);

test(observed.accountsList.fact, () =>
  withLive(
    async (live) => {
      for (let call = 0; call < 8; call++) await live.ask('listAccounts');
      assert.deepEqual(await live.refused('listAccounts'), [429, 'TOO_MANY_REQUESTS']);
      // Others have nothing to do with it.
      await live.ask('getAccountBalance', { account_id });
      live.now += 10_000;
      await live.ask('listAccounts');
    },
    { upstreamLimits: { 'accounts-list': { requests: 8, perSeconds: 10 } } },
  ),
);

test('without that limit, which is off by default, the accounts list is not limited', () =>
  withLive(async (live) => {
    for (let call = 0; call < 20; call++) await live.ask('listAccounts');
  }));

describe('tokens', () => {
  test(observed.tokenLife.fact, () =>
    withLive(
      async (live) => {
        const days = (count: number) => count * 86_400_000;
        const { token, status, expires_at } = await live.ask('createToken', {});
        assert.deepEqual([status, expires_at], ['PENDING', live.now + days(15)]);
        const list = async () => {
          const change = { 'x-access-token': token };
          return (await live.call('listAccounts', undefined, { change })).status;
        };
        assert.equal(await list(), 401);
        live.now += 3000;
        assert.equal((await live.ask('checkToken', { token })).status, 'NORMAL');
        for (let used = 0; used < 4; used++) {
          live.now += days(14);
          assert.equal(await list(), 200);
        }
        live.now += days(15);
        assert.equal(await list(), 401);
        assert.equal((await live.ask('checkToken', { token })).status, 'EXPIRED');
      },
      { accessToken: 'a-token-of-before' },
    ),
  );

  test(observed.tokenApproval.fact, () =>
    withLive(
      async (live) => {
        const { token } = await live.ask('createToken', {});
        const status = async () => (await live.ask('checkToken', { token })).status;
        live.now += 299_999;
        assert.equal(await status(), 'PENDING');
        live.now += 1;
        assert.equal(await status(), 'INVALID');
      },
      { tokenApprovalMs: 300_001 },
    ),
  );
});

test('the key of another app is not foreign: 401 with a code', () =>
  withLive(
    async ({ simulator }) => {
      const { status } = await send(simulator, { target: snapshotTarget, ...credentials, appKey: 'unknown' });
      assert.equal(status, 401);
    },
    { foreignKeys: ['sandbox-key'] },
  ));
