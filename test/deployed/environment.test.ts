import assert from 'node:assert/strict';
import { test } from 'vitest';
import { type Environment, readFunctionSettings } from '../../functions/settings/environment.ts';
import { getStockSnapshots, operations, placeOrder, previewOrder } from '../../lib/catalogue/index.ts';

const minimal = { UPSTREAM_BASE_URL: 'https://api.example.com', SECRET_ID: 'arn:aws:secretsmanager:x' };

function faultsOf(change: Environment): readonly string[] {
  const read = readFunctionSettings({ ...minimal, ...change });
  return read.ok ? [] : read.faults.map((fault) => fault.split(':')[0] ?? '');
}

test('two variables are enough', () => {
  assert.deepEqual(readFunctionSettings(minimal), {
    ok: true,
    settings: {
      upstreamBaseUrl: 'https://api.example.com',
      upstreamPaths: {},
      secretId: 'arn:aws:secretsmanager:x',
      upstreamTimeoutMs: undefined,
      corsOrigins: [],
      limiter: undefined,
      cache: undefined,
      access: undefined,
      journalTable: undefined,
      lastPrices: undefined,
      guard: undefined,
    },
  });
});

test('another path at the upstream is for an operation of this function, and a path', () => {
  const paths = { placeOrder: '/trading/orders/place' };
  const read = readFunctionSettings({ ...minimal, UPSTREAM_PATHS: JSON.stringify(paths) }, [placeOrder]);
  assert(read.ok);
  assert.deepEqual(read.settings.upstreamPaths, paths);
  for (const text of [
    '{',
    '[]',
    '"x"',
    'null',
    '{"getOrder":"/trading/orders/get"}',
    '{"placeOrder":1}',
    '{"placeOrder":"trading/orders/place"}',
    '{"placeOrder":"/"}',
    '{"placeOrder":"/a/../b"}',
    '{"placeOrder":"/a//b"}',
    '{"placeOrder":"/a?b"}',
    '{"placeOrder":"/%61"}',
    '{"placeOrder":"https://elsewhere.example/a"}',
    '{"constructor":"/a"}',
  ])
    assert(!readFunctionSettings({ ...minimal, UPSTREAM_PATHS: text }, [placeOrder]).ok, text);
});

test('the others are read as what they mean; empty is absent', () => {
  const read = readFunctionSettings({
    ...minimal,
    UPSTREAM_TIMEOUT_MS: '2500',
    CORS_ORIGINS: 'https://app.example, capacitor://localhost',
  });
  assert(read.ok);
  assert.equal(read.settings.upstreamTimeoutMs, 2500);
  assert.deepEqual(read.settings.corsOrigins, ['https://app.example', 'capacitor://localhost']);
  const empty = readFunctionSettings({ ...minimal, UPSTREAM_TIMEOUT_MS: '', CORS_ORIGINS: ' ' });
  assert.deepEqual(empty, readFunctionSettings(minimal));
  const any = readFunctionSettings({ ...minimal, CORS_ORIGINS: ' * ' });
  assert(any.ok);
  assert.equal(any.settings.corsOrigins, '*');
});

test('each wrong variable is named', () => {
  assert.deepEqual(faultsOf({ UPSTREAM_BASE_URL: undefined, SECRET_ID: '' }), [
    'UPSTREAM_BASE_URL',
    'SECRET_ID',
  ]);
  for (const url of [
    'api.example.com',
    'http://api.example.com',
    'https://u:p@x.example',
    'https://x.example?a',
  ])
    assert.deepEqual(faultsOf({ UPSTREAM_BASE_URL: url }), ['UPSTREAM_BASE_URL'], url);
  for (const timeout of ['0', '-1', '1.5', '1e3', '28001', '999999', 'soon', ' 5'])
    assert.deepEqual(faultsOf({ UPSTREAM_TIMEOUT_MS: timeout }), ['UPSTREAM_TIMEOUT_MS'], timeout);
  for (const origins of [
    'https://app.example/',
    'app.example',
    'https://APP.example',
    'https://a.example,*',
    ',',
  ])
    assert(faultsOf({ CORS_ORIGINS: origins }).includes('CORS_ORIGINS'), origins);
});

const limited = { ...minimal, LIMITER_TABLE: 'limiter-table' };
const budgetFaults = (change: Environment) => {
  const read = readFunctionSettings({ ...limited, ...change }, operations);
  return read.ok ? [] : read.faults;
};

test('a function has a limiter when its operations count against a limit; then it needs a table', () => {
  const read = readFunctionSettings(limited, [getStockSnapshots]);
  assert(read.ok);
  assert.deepEqual(read.settings.limiter, {
    tableName: 'limiter-table',
    bucket: 'countersign',
    share: 1,
    reserve: undefined,
    operationLimits: {},
    upstreamLimits: 'interface',
  });
  const without = readFunctionSettings(limited, [previewOrder]);
  assert(without.ok && without.settings.limiter === undefined);
  assert.deepEqual(budgetFaults({ LIMITER_TABLE: '' }), ['LIMITER_TABLE: not set']);
  const limits = { trading: { requests: 10, perSeconds: 1, for: ['orders'] } };
  const named = readFunctionSettings({ ...limited, LIMITER_OPERATION_LIMITS: JSON.stringify(limits) }, [
    placeOrder,
  ]);
  assert(named.ok);
  assert.deepEqual(named.settings.limiter?.operationLimits, limits);
});

test('what the upstream allows decides which functions count, and endpoints have limits of their own', () => {
  const chosen = (choice: string) =>
    readFunctionSettings({ ...limited, UPSTREAM_LIMITS: choice }, [placeOrder]);
  const read = chosen('published');
  assert(read.ok);
  assert.equal(read.settings.limiter?.upstreamLimits, 'published');
  const figures = { 'order-change': { requests: 5, perSeconds: 1 } };
  const own = chosen(JSON.stringify(figures));
  assert(own.ok);
  assert.deepEqual(own.settings.limiter?.upstreamLimits, figures);
  // Tighter limits may count them later, where the deployment has given them the table.
  const interfaceChoice = chosen('interface');
  assert(interfaceChoice.ok && interfaceChoice.settings.limiter?.upstreamLimits === 'interface');
  const without = readFunctionSettings({ ...limited, LIMITER_TABLE: '' }, [placeOrder]);
  assert(without.ok && without.settings.limiter === undefined);
});

test('the limiter’s variables are read as what they mean', () => {
  const read = readFunctionSettings(
    {
      ...limited,
      LIMITER_BUCKET: 'team-1',
      LIMITER_SHARE: String(1 / 3),
      LIMITER_RESERVE: '0.1',
      LIMITER_INSTANCES: '20',
    },
    operations,
  );
  assert(read.ok);
  const { bucket, share, reserve } = read.settings.limiter ?? {};
  assert.deepEqual([bucket, share, reserve], ['team-1', 1 / 3, { part: 0.1, instances: 20 }]);
});

test('each wrong variable of the limiter is one fault', () => {
  for (const [name, values] of Object.entries({
    UPSTREAM_LIMITS: ['all', '{', '{"orders":{}}'],
    LIMITER_BUCKET: ['a b', 'a#b', 'x'.repeat(65)],
    LIMITER_SHARE: ['0', '1.1', '-1', '1e0', 'half', '0.001'],
    LIMITER_RESERVE: ['1', '-0.1', 'some'],
    LIMITER_INSTANCES: ['0', '1.5', '100001', 'many'],
    LIMITER_OPERATION_LIMITS: [
      '{',
      '[]',
      'null',
      '{"Bars":{"requests":1,"perSeconds":1,"for":["orders"]}}',
      '{"market-data":{"requests":1,"perSeconds":1,"for":["orders"]}}',
      '{"a":null}',
      '{"a":{"requests":0,"perSeconds":1,"for":["orders"]}}',
      '{"a":{"requests":1,"perSeconds":0.5,"for":["orders"]}}',
      '{"a":{"requests":1,"perSeconds":1,"for":[]}}',
      '{"a":{"requests":1,"perSeconds":1,"for":"orders"}}',
      '{"a":{"requests":1,"perSeconds":1,"for":["orders"],"within":"others"}}',
      '{"a":{"requests":1,"perSeconds":1,"for":["market-data"]}}',
      '{"a":{"requests":1,"perSeconds":1,"for":["orders"]},"b":{"requests":1,"perSeconds":1,"for":["placeOrder"]}}',
    ],
  }))
    for (const value of values) {
      const faults = budgetFaults({ [name]: value });
      assert.deepEqual(
        faults.map((fault) => fault.split(':')[0]),
        [name],
        `${value}: ${faults.join('; ')}`,
      );
    }
});

test('what all callers share has a table where answers are shared, and the values that are given', () => {
  const cached = { ...limited, CACHE_TABLE: 'cache' };
  const plain = readFunctionSettings(cached, [getStockSnapshots]);
  assert(plain.ok);
  assert.deepEqual(plain.settings.cache, {
    tableName: 'cache',
    tuning: {},
    networkPrefix: { ipv4: 24, ipv6: 56 },
    hasMarketStream: false,
  });
  const read = readFunctionSettings(
    {
      ...cached,
      SNAPSHOTS_STALE_AFTER_SECONDS: '10',
      SNAPSHOTS_EXPIRE_AFTER_SECONDS: '60',
      CACHE_MIN_MAX_AGE_SECONDS: '2',
      CACHE_REFRESHES_PER_MINUTE: '0',
      CACHE_IPV4_PREFIX: '0',
      CACHE_IPV6_PREFIX: '128',
    },
    [getStockSnapshots],
  );
  assert(read.ok);
  assert.deepEqual(read.settings.cache?.tuning, {
    staleAfterMs: 10_000,
    expireAfterMs: 60_000,
    minMaxAgeMs: 2000,
    refreshesPerMinute: 0,
  });
  assert.deepEqual(read.settings.cache?.networkPrefix, { ipv4: 0, ipv6: 128 });
  const heard = readFunctionSettings({ ...cached, MARKET_STREAM: 'on' }, [getStockSnapshots]);
  assert.ok(heard.ok && heard.settings.cache?.hasMarketStream);
  assert.ok(!readFunctionSettings({ ...cached, MARKET_STREAM: 'yes' }, [getStockSnapshots]).ok);
  for (const [env, one] of [
    [limited, getStockSnapshots],
    [cached, previewOrder],
  ] as const) {
    const without = readFunctionSettings(env, [one]);
    assert(without.ok && without.settings.cache === undefined);
  }
  // An order ends what other functions share.
  const ending = readFunctionSettings(cached, [placeOrder]);
  assert(ending.ok && ending.settings.cache?.tableName === 'cache');
});

test('the values at both ends of what the stack accepts are read', () => {
  for (const [seconds, refreshes] of [
    ['0', '0'],
    ['300', '300'],
  ] as const) {
    const env = {
      CACHE_TABLE: 'cache',
      CACHE_MIN_MAX_AGE_SECONDS: seconds,
      CACHE_REFRESHES_PER_MINUTE: refreshes,
    };
    const read = readFunctionSettings({ ...limited, ...env }, [getStockSnapshots]);
    assert(read.ok);
    const { minMaxAgeMs, refreshesPerMinute } = read.settings.cache?.tuning ?? {};
    assert.deepEqual([minMaxAgeMs, refreshesPerMinute], [1000 * Number(seconds), Number(refreshes)]);
  }
});

test('each wrong figure of what is shared is one fault', () => {
  for (const [name, values] of Object.entries({
    SNAPSHOTS_STALE_AFTER_SECONDS: ['0', '1.5', '301', 'soon'],
    SNAPSHOTS_EXPIRE_AFTER_SECONDS: ['0', '3601', '-1'],
    CACHE_MIN_MAX_AGE_SECONDS: ['-1', '301', '1e1'],
    CACHE_REFRESHES_PER_MINUTE: ['-1', '10001'],
    CACHE_IPV4_PREFIX: ['-1', '33', '/24'],
    CACHE_IPV6_PREFIX: ['129', '56.5'],
  }))
    for (const value of values) {
      const faults = budgetFaults({ CACHE_TABLE: 'cache', [name]: value });
      assert.deepEqual(
        faults.map((fault) => fault.split(':')[0]),
        [name],
        `${value}: ${faults.join('; ')}`,
      );
    }
});

test('a fault does not repeat the value', () => {
  const canary = 'canary-value';
  const read = readFunctionSettings({
    UPSTREAM_BASE_URL: `https://u:${canary}@x.example`,
    UPSTREAM_TIMEOUT_MS: canary,
    CORS_ORIGINS: canary,
  });
  assert(!read.ok);
  assert.equal(read.faults.length, 4);
  assert(!read.faults.join().includes(canary));
});
