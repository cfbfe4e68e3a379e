import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { type Environment, StartError } from '../../infra/environment.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { type Group, openable, openByDefault } from '../../lib/catalogue/index.ts';

const upstream = {
  UPSTREAM_BASE_URL: 'https://api.example.com/v3',
  APP_KEY: 'the-key',
  APP_SECRET: 'hush-hush',
};

describe('settings', () => {
  test('of an empty environment run everything in front of the simulator', () => {
    const { apiKey, credentials, ...settings } = readSettings({});
    assert.deepEqual(settings, { port: 8787, openGroups: openable, upstream: { simulatorPort: 8788 } });
    for (const invented of [apiKey, credentials.appKey, credentials.appSecret])
      assert.match(invented, /^[0-9a-f]{32,}$/);
  });

  test('are invented for each run', () => {
    const [one, other] = [readSettings({}), readSettings({})];
    assert.notEqual(one.apiKey, other.apiKey);
    assert.notEqual(one.credentials.appKey, other.credentials.appKey);
    assert.notEqual(one.credentials.appSecret, other.credentials.appSecret);
  });

  test('are what the environment has', () => {
    assert.deepEqual(
      readSettings({
        PORT: '1',
        UPSTREAM_PORT: '65535',
        API_KEY: '!~',
        APP_KEY: 'k',
        APP_SECRET: 's p',
        OPEN_GROUPS: 'orders',
      }),
      {
        port: 1,
        apiKey: '!~',
        openGroups: ['orders'],
        credentials: { appKey: 'k', appSecret: 's p' },
        upstream: { simulatorPort: 65_535 },
      },
    );
    assert.deepEqual(readSettings({ ...upstream, PORT: '0', API_KEY: 'a' }), {
      port: 0,
      apiKey: 'a',
      openGroups: openByDefault,
      credentials: { appKey: 'the-key', appSecret: 'hush-hush' },
      upstream: { baseUrl: 'https://api.example.com/v3' },
    });
  });

  test('are another limit and other paths at the upstream, on demand', () => {
    const { marketDataLimit, upstreamPaths } = readSettings({
      MARKET_DATA_LIMIT: '100000',
      UPSTREAM_PATHS: '{"placeOrder":"/trading/orders/place"}',
    });
    assert.deepEqual(marketDataLimit, { requests: 100_000, perSeconds: 60 });
    assert.deepEqual(upstreamPaths, { placeOrder: '/trading/orders/place' });
  });

  test('are what the upstream allows, by name or by figures', () => {
    assert.equal(readSettings({}).upstreamLimits, undefined);
    assert.equal(readSettings({ UPSTREAM_LIMITS: 'published' }).upstreamLimits, 'published');
    const figures = { 'order-query': { requests: 2, perSeconds: 2 } };
    const given = readSettings({ ...upstream, UPSTREAM_LIMITS: JSON.stringify(figures) });
    assert.deepEqual(given.upstreamLimits, figures);
  });

  test('are further keys, each a caller of its own', () => {
    assert.equal(readSettings({}).otherApiKeys, undefined);
    assert.deepEqual(readSettings({ API_KEY: 'a', OTHER_API_KEYS: 'b,c' }).otherApiKeys, ['b', 'c']);
  });

  test('are the plan of an app, in front of any upstream', () => {
    assert.equal(readSettings({}).plan, undefined);
    assert.equal(readSettings({ PLAN: 'app', MARKET_DATA_LIMIT: '600' }).plan, 'app');
    assert.equal(readSettings({ ...upstream, PLAN: 'app' }).plan, 'app');
    assert.equal(readSettings({ PLAN: 'upstream' }).plan, 'upstream');
  });
});

describe('settings', () => {
  test('that are empty are not set', () => {
    const {
      port,
      openGroups,
      upstream: to,
    } = readSettings({
      PORT: '',
      UPSTREAM_PORT: '',
      API_KEY: '',
      UPSTREAM_BASE_URL: '',
      APP_KEY: '',
      APP_SECRET: '',
      OPEN_GROUPS: ' ',
    });
    assert.deepEqual(
      { port, openGroups, to },
      { port: 8787, openGroups: openable, to: { simulatorPort: 8788 } },
    );
  });

  for (const [text, simulated, real] of [
    [undefined, openable, openByDefault],
    ['all', openable, openable],
    [' all ', openable, openable],
    ['orders', ['orders'], ['orders']],
    [' orders , accounts,orders ', ['accounts', 'orders'], ['accounts', 'orders']],
  ] as const) {
    test(`open what OPEN_GROUPS=${text} says`, () => {
      assert.deepEqual(readSettings({ OPEN_GROUPS: text }).openGroups, simulated);
      assert.deepEqual(readSettings({ ...upstream, OPEN_GROUPS: text }).openGroups, real);
    });
  }

  test('never open the token operations, and before a real upstream nothing that belongs to an account', () => {
    assert.ok(!(readSettings({ OPEN_GROUPS: 'all' }).openGroups as readonly Group[]).includes('auth'));
    for (const group of ['auth', 'accounts', 'orders', 'watchlists'] as const)
      assert.ok(!readSettings(upstream).openGroups.includes(group));
  });
});

const wrong: readonly (readonly [env: Environment, line: RegExp])[] = [
  ...['-1', '65536', '8787.5', '0x10', '1e3', ' 1', 'http', '123456'].flatMap(
    (port): (readonly [Environment, RegExp])[] => [
      [{ PORT: port }, /^PORT must be a port number from 0 to 65535, not ".*"\.$/],
      [{ UPSTREAM_PORT: port }, /^UPSTREAM_PORT must be a port number from 0 to 65535, not ".*"\.$/],
    ],
  ),
  [{ APP_KEY: 'k' }, /^APP_KEY is set but APP_SECRET is not/],
  [{ APP_SECRET: 'hush-hush' }, /^APP_SECRET is set but APP_KEY is not/],
  [{ ...upstream, APP_KEY: undefined }, /^APP_SECRET is set but APP_KEY is not/],
  [{ ...upstream, APP_SECRET: '' }, /^APP_KEY is set but APP_SECRET is not/],
  [{ APP_KEY: 'a key', APP_SECRET: 'hush-hush' }, /^APP_KEY must be visible ASCII/],
  [{ APP_KEY: 'ключ', APP_SECRET: 'hush-hush' }, /^APP_KEY must be visible ASCII/],
  [{ ACCESS_TOKEN: 'hush-hush' }, /^ACCESS_TOKEN is set: it needs APP_KEY and APP_SECRET/],
  [
    { APP_KEY: 'k', APP_SECRET: 's', ACCESS_TOKEN: 'hush hush' },
    /^ACCESS_TOKEN must be visible ASCII characters without spaces\.$/,
  ],
  [
    { UPSTREAM_BASE_URL: upstream.UPSTREAM_BASE_URL },
    /^UPSTREAM_BASE_URL is set: it needs APP_KEY and APP_SECRET/,
  ],
  [{ ...upstream, UPSTREAM_BASE_URL: 'api.example.com' }, /^UPSTREAM_BASE_URL: not an absolute URL\.$/],
  [{ ...upstream, UPSTREAM_BASE_URL: 'http://api.example.com' }, /^UPSTREAM_BASE_URL: http is for loopback/],
  [
    { ...upstream, UPSTREAM_BASE_URL: 'http://127.0.0.1.example.com' },
    /^UPSTREAM_BASE_URL: http is for loopback/,
  ],
  [
    { ...upstream, UPSTREAM_BASE_URL: 'ftp://api.example.com' },
    /^UPSTREAM_BASE_URL: neither https nor http\.$/,
  ],
  [
    { ...upstream, UPSTREAM_BASE_URL: 'https://user:hush-hush@api.example.com' },
    /^UPSTREAM_BASE_URL: credentials/,
  ],
  [
    { ...upstream, UPSTREAM_BASE_URL: 'https://api.example.com?a' },
    /^UPSTREAM_BASE_URL: a query or fragment/,
  ],
  [{ ...upstream, UPSTREAM_BASE_URL: 'https://api.example.com/a%20b' }, /^UPSTREAM_BASE_URL: its path has/],
  ...['a key', 'schlüssel', 'x'.repeat(129), 'a\nb'].map((key): readonly [Environment, RegExp] => [
    { API_KEY: key },
    /^API_KEY must be 1 to 128 visible ASCII characters without spaces\.$/,
  ]),
  ...['a', 'b,', 'b,b', 'b, c', `b,${'x'.repeat(129)}`].map((keys): readonly [Environment, RegExp] => [
    { API_KEY: 'a', OTHER_API_KEYS: keys },
    /^OTHER_API_KEYS must be a list of keys such as one,two: none of them twice or the API_KEY, /,
  ]),
  ...['0', '1', '-5', '1e3', 'many'].map((limit): readonly [Environment, RegExp] => [
    { MARKET_DATA_LIMIT: limit },
    /^MARKET_DATA_LIMIT must be a number of requests a minute from 2 on, not ".*"\.$/,
  ]),
  [{ ...upstream, MARKET_DATA_LIMIT: '600' }, /^MARKET_DATA_LIMIT is for the simulator/],
  ...['toString', '{', '{"orders":{}}', '[]'].map((choice): readonly [Environment, RegExp] => [
    { UPSTREAM_LIMITS: choice },
    /^UPSTREAM_LIMITS: (not interface, published, published-sandbox or an object of limits|"orders" is none of)/,
  ]),
  ...['App', 'default', 'toString'].map((plan): readonly [Environment, RegExp] => [
    { PLAN: plan },
    /^PLAN must be one of upstream, app, not ".*"\.$/,
  ]),
  ...['{', '[]', '{"placeOrders":"/a"}', '{"placeOrder":"a"}'].map(
    (paths): readonly [Environment, RegExp] => [
      { UPSTREAM_PATHS: paths },
      /^UPSTREAM_PATHS must be JSON like \{"placeOrder":"\/trading\/orders\/place"\}: /,
    ],
  ),
  ...['auth', 'market_data', 'orders,auth', 'orders,', 'all,orders', 'constructor'].map(
    (names): readonly [Environment, RegExp] => [
      { OPEN_GROUPS: names },
      /^OPEN_GROUPS has no group ".*": it takes all, or a list of accounts, /,
    ],
  ),
];

describe('a wrong environment is one clear line that names the variable', () => {
  for (const [env, line] of wrong) {
    test(JSON.stringify(env), () => {
      assert.throws(
        () => readSettings(env),
        (error: unknown) => {
          assert.ok(error instanceof StartError);
          assert.match(error.message, line);
          assert.ok(!error.message.includes('\n'));
          assert.ok(!error.message.includes('hush-hush'));
          return true;
        },
      );
    });
  }
});
