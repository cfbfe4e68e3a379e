/**
 * The one-symbol reader over what the gateway of market data itself has shared, and over the simulated upstream: stores
 * and limiter are in memory.
 */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import type { SimulatorOptions } from '../../infra/simulator/index.ts';
import { recordOfSymbol, type SnapshotReads, snapshotReadsOf } from '../../lib/cache/snapshots/one-symbol.ts';
import { getStockSnapshots, type UpstreamLimits } from '../../lib/catalogue/index.ts';
import {
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  limiterLimits,
  type RefreshRecord,
  type Tightening,
} from '../../lib/gateway/index.ts';
import {
  createGatewayLastPrices,
  type GatewayLastPricesOptions,
} from '../../lib/gateway/orders/last-prices.ts';
import type { LastPriceFailure } from '../../lib/guard-rails/shared-last-prices.ts';
import { limiterKey } from '../../lib/limiter/store.ts';
import { ask, coreFor, credentials, secretText, snapshotPath } from '../support/core.ts';
import { each } from '../support/each.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

async function sharedFor(
  t: TestContext,
  {
    marketData,
    ...simulated
  }: Partial<SimulatorOptions> & { readonly marketData?: { readonly requests: number } } = {},
  options: Partial<GatewayLastPricesOptions> = {},
) {
  // It stands still until the test moves it: how long the machine takes says nothing.
  let now = Date.now();
  const clock = () => now;
  const limiterStore = createMemoryLimiterStore();
  const limits = {
    ...limiterLimits(),
    ...(marketData && { 'market-data': { ...marketData, perSeconds: 60 } }),
  };
  const newLimiter = () => createLimiter({ store: limiterStore, limits, bucket: 'test', clock });
  const stores = createMemoryCacheStores();
  const core = await coreFor(t, { clock, ...simulated }, { clock, cache: stores, limiter: newLimiter() });
  const failures: LastPriceFailure[] = [];
  const another = () =>
    createGatewayLastPrices(getStockSnapshots, {
      upstreamBaseUrl: core.simulator.url,
      secrets: { read: async () => secretText() },
      limiter: newLimiter(),
      clock,
      snapshots: (partition) => snapshotReadsOf(stores.snapshots(partition)),
      reportFailure: (failure) => failures.push(failure),
      ...options,
    });
  const prices = another();
  return {
    ...core,
    prices,
    another,
    failures,
    clock,
    newLimiter,
    calls: () => core.simulator.received.filter(({ target }) => target.includes('/snapshot')),
    skip: (ms: number) => {
      now += ms;
    },
    lastPrice: (symbol: string, maxAgeMs = 15_000, user?: string) =>
      prices.lastPrice(symbol, maxAgeMs, clock() + 20_000, user),
    /** As a caller reads it through the gateway of market data. */
    async read(symbols: string, more = '') {
      // More than the distance of refreshes.
      now += 300;
      const query = more.includes('category') ? more : `&category=US_STOCK${more}`;
      const reply = await ask(core.gateway, `${snapshotPath}?symbols=${symbols}${query}`);
      assert.equal(reply.status, 200, reply.text);
      return JSON.parse(reply.text) as readonly { readonly symbol: string; readonly price: string }[];
    },
  };
}

const answering = (status: number, error_code?: string): Partial<SimulatorOptions> => ({
  fault: () => ({ kind: 'status', status, ...(error_code && { body: { error_code, message: 'no' } }) }),
});

describe('what callers have read', () => {
  test('is the price, in any view, without a call', async (t) => {
    // The market stands still: a refresh between two reads brings the same prices.
    const before = Date.now();
    const { read, lastPrice, calls, clock } = await sharedFor(t, { clock: () => before });
    const [apple, microsoft] = await read('AAPL,MSFT');
    const [nvidia] = await read('NVDA', '&extend_hour_required=true&overnight_required=true');
    const [fund] = await read('SPY', '&category=US_ETF');
    const sent = calls().length;
    for (const record of [apple, microsoft, nvidia, fund]) {
      const found = await lastPrice(record!.symbol);
      assert.equal(found?.price, record!.price);
      assert.ok(found.at >= before && found.at <= clock());
    }
    assert.equal(calls().length, sent);
  });

  test('of another account is no price', async (t) => {
    const other = { appKey: 'another-app-key', appSecret: 'another-app-secret' };
    const secrets = { read: async () => secretText(other) };
    const { read, lastPrice, calls, failures } = await sharedFor(t, {}, { secrets });
    await read('AAPL');
    const sent = calls().length;
    // The upstream knows the other key no more than the cache does.
    assert.equal(await lastPrice('AAPL'), undefined);
    assert.equal(calls().length, sent + 1);
    assert.deepEqual(failures, [{ step: 'upstream', code: 'upstream_auth_failed' }]);
  });
});

describe('what no caller has read', () => {
  test('takes one call for all questions, for the symbol alone, with a permit of the limit of market data', async (t) => {
    const { lastPrice, calls, clock, newLimiter } = await sharedFor(t);
    const before = clock();
    const found = await Promise.all(Array.from({ length: 20 }, () => lastPrice('AAPL')));
    const price = found[0]?.price ?? '';
    assert.match(price, /^\d+\.\d+$/);
    assert.ok(found.every((one) => one?.price === price && one.at >= before && one.at <= clock()));
    const [call, ...others] = calls();
    assert.deepEqual(others, []);
    assert.equal(call?.target, `${getStockSnapshots.path}?symbols=AAPL&category=US_STOCK`);
    assert.equal(await newLimiter().used(credentials.appKey, 'market-data'), 1);
  });

  test('a fund takes a second call at first, and one from then on', async (t) => {
    const { lastPrice, calls, skip } = await sharedFor(t);
    assert.ok(await lastPrice('SPY'));
    assert.deepEqual(
      calls().map(({ target }) => target.split('category=')[1]),
      ['US_STOCK', 'US_ETF'],
    );
    skip(20_000);
    assert.ok(await lastPrice('SPY'));
    assert.equal(calls().length, 3);
    assert.match(calls()[2]!.target, /US_ETF$/);
  });

  test('without a permit nothing is sent', async (t) => {
    const { lastPrice, calls, failures } = await sharedFor(t, { marketData: { requests: 2 } });
    const symbols = ['AAPL', 'MSFT', 'NVDA', 'TSLA'];
    const found = await Promise.all(symbols.map((symbol) => lastPrice(symbol)));
    const sent = calls().length;
    assert.ok(sent <= 2 && found.filter((one) => one).length === sent);
    assert.deepEqual(
      failures,
      Array.from({ length: 4 - sent }, () => ({ step: 'upstream', code: 'budget_used_up' })),
    );
  });

  test('what is read for one user’s orders leaves as much for another’s, and is enough for fifty orders', async (t) => {
    const { lastPrice, failures, simulator } = await sharedFor(t);
    const pricesFor = (user: string, symbols: readonly string[]) =>
      Promise.all(symbols.map((symbol) => lastPrice(symbol, 15_000, user)));
    const [stocks, none] = [simulator.symbols('US_STOCK'), (index: number) => `NONE${index}`];
    assert.ok((await pricesFor('other', stocks.slice(0, 50))).every((one) => one));
    await pricesFor(
      'greedy',
      Array.from({ length: 150 }, (_, index) => none(index)),
    );
    assert.ok(failures.length > 0);
    const refused = failures.length;
    assert.ok((await pricesFor('other', stocks.slice(50, 60))).every((one) => one));
    assert.equal(failures.length, refused);
  });

  test('an upstream that refuses, fails or is not there gives none, in time', async (t) => {
    for (const [simulated, code] of [
      [{ unsubscribed: ['US_STOCK'] }, 'data_not_subscribed'],
      [answering(500), 'upstream_error'],
      // About the category as a whole, and not about the symbol.
      [answering(403, 'ACCOUNT_ACCESS_DENIED'), 'upstream_rejected'],
      [answering(417, 'UNSUPPORTED_CATEGORY'), 'upstream_rejected'],
    ] as const) {
      const { lastPrice, failures, calls } = await sharedFor(t, simulated);
      assert.equal(await lastPrice('AAPL'), undefined);
      assert.equal(calls().length, 1);
      assert.deepEqual(failures, [{ step: 'upstream', code }]);
    }
    const { lastPrice, failures, simulator } = await sharedFor(t);
    await simulator.close();
    assert.equal(await lastPrice('AAPL'), undefined);
    assert.deepEqual(failures, [{ step: 'upstream', code: 'upstream_unreachable' }]);
  });

  test('the limits in force are those of the call, too', async (t) => {
    const chosen: UpstreamLimits[] = [];
    const limiterStore = createMemoryLimiterStore();
    const tightening: Tightening = {
      inForce: { known: 1, current: async () => 1, tighten: async () => {}, widest: async () => 1 },
      limiterFor(upstreamLimits) {
        chosen.push(upstreamLimits);
        const limits = limiterLimits({}, 1, { upstreamLimits, operations: [getStockSnapshots] });
        return createLimiter({ store: limiterStore, limits, bucket: 'tighter' });
      },
    };
    const { lastPrice } = await sharedFor(t, {}, { tightening });
    assert.ok(await lastPrice('AAPL'));
    assert.deepEqual(chosen, ['published']);
    const { counters = {} } =
      (await limiterStore.read(await limiterKey('tighter', credentials.appKey))) ?? {};
    assert.ok(Object.keys(counters).includes('endpoint.getStockSnapshots'), JSON.stringify(counters));
  });

  test('a path of the deployer is asked in place of the catalogue’s', async (t) => {
    const { lastPrice, simulator } = await sharedFor(
      t,
      {},
      { upstreamPaths: { getStockSnapshots: getStockSnapshots.aliases[0]! } },
    );
    assert.ok(await lastPrice('AAPL'));
    assert.ok(simulator.received.at(-1)?.target.startsWith(`${getStockSnapshots.aliases[0]}?`));
  });
});

test('an empty secret and a store that is away cost no more than the price', async (t) => {
  const { lastPrice, failures, calls } = await sharedFor(t, {}, { secrets: { read: async () => '' } });
  assert.equal(await lastPrice('AAPL'), undefined);
  assert.deepEqual([failures, calls()], [[{ step: 'upstream', code: 'secret_not_set' }], []]);

  const away = () => Promise.reject(new Error('the store is away'));
  const alone = await sharedFor(t, {}, { snapshots: () => ({ last: away, records: away }) });
  assert.ok(await alone.lastPrice('AAPL'));
  assert.deepEqual(each(alone.failures, 'step'), ['shared']);
});

describe('the reader of one symbol', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const refresh = (
    sequence: number,
    symbol: string,
    view = 'US_STOCK',
    sentAt = sequence,
  ): RefreshRecord => ({
    sequence,
    kind: 'refresh',
    view,
    sentAt,
    symbols: [symbol],
    outcome: { kind: 'answer', records: new Map([[symbol, bytes(`${symbol} ${sentAt}`)]]), unknown: [] },
    demand: [],
  });
  function readsOf(log: readonly RefreshRecord[], sequence: number, checkpoint?: readonly [number, string]) {
    const read: number[][] = [];
    const reads: SnapshotReads = {
      last: async () => ({
        sequence,
        checkpoint: checkpoint && {
          sequence: checkpoint[0],
          fetched: [
            {
              view: 'US_STOCK',
              sentAt: checkpoint[0],
              records: new Map([[checkpoint[1], bytes('kept')]]),
            },
          ],
        },
      }),
      async records(sequences) {
        read.push([...sequences]);
        return log.filter((one) => sequences.includes(one.sequence));
      },
    };
    const ask = async (symbol: string, since = 0, until = 1_000_000) => {
      const found = await recordOfSymbol(reads, { symbol, categories: ['US_STOCK', 'US_ETF'], since, until });
      return found && new TextDecoder().decode(found.record);
    };
    return { ask, read };
  }

  test('a checkpoint that is fresh enough is all that is read', async () => {
    const { ask, read } = readsOf([refresh(41, 'A')], 41, [40, 'A']);
    assert.equal(await ask('A', 40), 'kept');
    assert.deepEqual(read, []);
    assert.equal(await ask('A', 41), 'A 41');
    assert.deepEqual(read, [[41]]);
  });

  test('of the log the latest record counts, and it is read from its end', async () => {
    const log = [
      refresh(61, 'A', 'US_STOCK+eo'),
      refresh(60, 'A'),
      ...range(62, 99).map((n) => refresh(n, 'B')),
    ];
    const { ask, read } = readsOf(log, 99, [50, 'B']);
    assert.equal(await ask('A', 51), 'A 61');
    assert.deepEqual(
      read.map((sequences) => [sequences[0], sequences.at(-1)]),
      [
        [99, 84],
        [83, 68],
        [67, 52],
      ],
    );
  });

  test('it looks back no further than the checkpoint, than the time, and than 64 records', async () => {
    const log = range(1, 200).map((n) => refresh(n, n === 1 ? 'A' : 'B'));
    for (const [checkpoint, since, oldest] of [
      [150, 0, 151],
      [150, 190, 169],
      [10, 0, 137],
      // The checkpoint of a table that was there before.
      [900, 0, 137],
    ] as const) {
      const { ask, read } = readsOf(log, 200, [checkpoint, 'C']);
      assert.equal(await ask('A', since), undefined);
      assert.equal(read.at(-1)?.at(-1), oldest);
    }
  });

  test('other categories, refused refreshes and what is dated later do not count', async () => {
    const rejected: RefreshRecord = {
      ...refresh(1, 'A'),
      outcome: { kind: 'rejected', error: { code: 'upstream_rejected', status: 417 } },
    };
    assert.equal(await readsOf([rejected], 1).ask('A'), undefined);
    assert.equal(await readsOf([refresh(1, 'A', 'US_OPTION')], 1).ask('A'), undefined);
    assert.equal(await readsOf([refresh(1, 'A', 'US_STOCK', 11)], 1).ask('A', 0, 10), undefined);
    assert.equal(await readsOf([refresh(1, 'A', 'US_STOCK', 10)], 1).ask('A', 10, 10), 'A 10');
    assert.equal(await readsOf([], 0).ask('A'), undefined);
  });
});

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
