import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { StartError, type Variables } from '../../infra/environment.ts';
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
    assert.deepEqual(settings, {
      port: 8787,
      openGroups: openable,
      upstream: { simulatorPort: 8788, eventsPort: 8789, marketStreamPort: 8790 },
      tradeEvents: { isShown: true },
    });
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
        EVENTS_PORT: '0',
        MARKET_STREAM_PORT: '0',
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
        upstream: { simulatorPort: 65_535, eventsPort: 0 },
        tradeEvents: { isShown: true },
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

  test('name the origins that browsers may call from, as a function reads them', () => {
    for (const [text, origins] of [
      [undefined, undefined],
      ['', undefined],
      [' * ', '*'],
      ['https://app.example, capacitor://localhost', ['https://app.example', 'capacitor://localhost']],
    ] as const)
      assert.deepEqual(readSettings({ CORS_ORIGINS: text }).corsOrigins, origins);
    for (const text of [
      'https://app.example/',
      'app.example',
      'https://app.example,*',
      ',',
      'http://a:99999',
    ])
      assert.throws(
        () => readSettings({ CORS_ORIGINS: text }),
        (error: unknown) =>
          error instanceof StartError &&
          /^CORS_ORIGINS: entry \d is no origin; .* or \* stands alone\.$/.test(error.message),
      );
  });

  test('are another limit and other paths at the upstream, on demand', () => {
    const { marketDataLimit, upstreamPaths } = readSettings({
      MARKET_DATA_LIMIT: '100000',
      UPSTREAM_PATHS: '{"placeOrder":"/trading/orders/place"}',
    });
    assert.deepEqual(marketDataLimit, { requests: 100_000, perSeconds: 60 });
    assert.deepEqual(upstreamPaths, { placeOrder: '/trading/orders/place' });
  });

  test('are what goes wrong at the simulator', () => {
    assert.equal(readSettings({}).faults, undefined);
    assert.equal(readSettings({ UPSTREAM_FAULTS: 'late=2000' }).faults?.showAfterMs, 2000);
  });

  test('are what the upstream allows, by name or by figures', () => {
    assert.equal(readSettings({}).upstreamLimits, undefined);
    assert.equal(readSettings({ UPSTREAM_LIMITS: 'published' }).upstreamLimits, 'published');
    const figures = { 'order-query': { requests: 2, perSeconds: 2 } };
    const given = readSettings({ ...upstream, UPSTREAM_LIMITS: JSON.stringify(figures) });
    assert.deepEqual(given.upstreamLimits, figures);
  });

  test('have trade events where orders are open and an event service is known', () => {
    const tradeEvents = (env: Variables) => readSettings(env).tradeEvents;
    assert.deepEqual(tradeEvents({ TRADE_EVENTS: 'on' }), { isShown: true });
    assert.deepEqual(tradeEvents({ TRADE_EVENTS: 'quiet' }), { isShown: false });
    assert.equal(tradeEvents({ TRADE_EVENTS: 'off' }), undefined);
    assert.equal(tradeEvents({ OPEN_GROUPS: 'market-data,accounts' }), undefined);
    assert.equal(tradeEvents({ ...upstream, OPEN_GROUPS: 'all' }), undefined);
    const url = 'https://events.example.com';
    const given = { ...upstream, OPEN_GROUPS: 'orders', TRADE_EVENTS_URL: url };
    assert.deepEqual(tradeEvents(given), { isShown: true, url });
    assert.equal(tradeEvents({ ...given, TRADE_EVENTS: 'off' }), undefined);
    for (const [env, message] of [
      [{ TRADE_EVENTS: 'no' }, /^TRADE_EVENTS must be on, quiet or off, not "no"\.$/],
      [{ TRADE_EVENTS_URL: url }, /^TRADE_EVENTS_URL is set: it needs UPSTREAM_BASE_URL too\.$/],
      [{ ...upstream, TRADE_EVENTS_URL: url }, /^TRADE_EVENTS_URL is set: OPEN_GROUPS has to name orders/],
      [
        { ...given, TRADE_EVENTS_URL: 'http://events.example.com' },
        /^TRADE_EVENTS_URL is http, and not on a/,
      ],
    ] as const)
      assert.throws(
        () => readSettings(env),
        (error: unknown) => error instanceof StartError && message.test(error.message),
      );
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
      EVENTS_PORT: '',
      API_KEY: '',
      UPSTREAM_BASE_URL: '',
      APP_KEY: '',
      APP_SECRET: '',
      OPEN_GROUPS: ' ',
    });
    assert.deepEqual(
      { port, openGroups, to },
      {
        port: 8787,
        openGroups: openable,
        to: { simulatorPort: 8788, eventsPort: 8789, marketStreamPort: 8790 },
      },
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

describe('users', () => {
  test('of the base URL and of the key that it needs are both named', () => {
    assert.throws(
      () => readSettings({ UPSTREAM_BASE_URL: 'https://api.example.com/openapi' }),
      (error: unknown) =>
        error instanceof StartError &&
        /^UPSTREAM_BASE_URL: it ends with .*\nUPSTREAM_BASE_URL is set: it needs APP_KEY.*$/.test(
          error.message,
        ),
    );
  });

  test('of trade events are all named', () => {
    assert.throws(
      () => readSettings({ TRADE_EVENTS: 'no', TRADE_EVENTS_URL: 'events', OPEN_GROUPS: 'accounts' }),
      (error: unknown) =>
        error instanceof StartError &&
        /^TRADE_EVENTS must be .*\nTRADE_EVENTS_URL is no URL\.$/.test(error.message),
    );
  });

  test('are those of USERS, in its order, or else the run’s own', () => {
    assert.equal(readSettings({}).users, undefined);
    assert.equal(readSettings({ USERS: '' }).users, undefined);
    const users = [
      { name: 'zoe', accounts: ['A1', 'b-2.c'] },
      { name: 'ada', accounts: ['*'] },
      { name: 'ben', accounts: [] },
    ];
    const text = JSON.stringify(Object.fromEntries(users.map(({ name, accounts }) => [name, accounts])));
    assert.deepEqual(readSettings({ USERS: text }).users, users);
  });
});

const wrong: readonly (readonly [env: Variables, line: RegExp])[] = [
  ...['-1', '65536', '8787.5', '0x10', '1e3', ' 1', 'http', '123456'].flatMap(
    (port): (readonly [Variables, RegExp])[] => [
      [{ PORT: port }, /^PORT must be a port number from 0 to 65535, not ".*"\.$/],
      [{ UPSTREAM_PORT: port }, /^UPSTREAM_PORT must be a port number from 0 to 65535, not ".*"\.$/],
      [{ EVENTS_PORT: port }, /^EVENTS_PORT must be a port number from 0 to 65535, not ".*"\.$/],
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
  [
    { ...upstream, UPSTREAM_BASE_URL: 'https://api.example.com/v3/openapi/' },
    /^UPSTREAM_BASE_URL: it ends with \/openapi, with which paths begin: write https:\/\/api\.example\.com\/v3\.$/,
  ],
  [{ PORT: '8788' }, /^PORT and UPSTREAM_PORT are both 8788: each server needs a port of its own\.$/],
  [{ PORT: '8789', UPSTREAM_PORT: '8789' }, /^PORT, UPSTREAM_PORT and EVENTS_PORT are all 8789: each/],
  [{ PORT: '9000', UPSTREAM_PORT: '9000' }, /^PORT and UPSTREAM_PORT are both 9000: /],
  [{ ...upstream, UPSTREAM_BASE_URL: 'https://api.example.com/a%20b' }, /^UPSTREAM_BASE_URL: its path has/],
  ...['a key', 'schlüssel', 'x'.repeat(129), 'a\nb'].map((key): readonly [Variables, RegExp] => [
    { API_KEY: key },
    /^API_KEY must be 1 to 128 visible ASCII characters without spaces\.$/,
  ]),
  ...['a', 'b,', 'b,b', 'b, c', `b,${'x'.repeat(129)}`].map((keys): readonly [Variables, RegExp] => [
    { API_KEY: 'a', OTHER_API_KEYS: keys },
    /^OTHER_API_KEYS must be a list of keys such as one,two: none of them twice or the API_KEY, /,
  ]),
  ...['0', '1', '1000001', '-5', '1e3', 'many'].map((limit): readonly [Variables, RegExp] => [
    { MARKET_DATA_LIMIT: limit },
    /^MARKET_DATA_LIMIT must be a number of requests a minute from 2 to 1000000, not ".*"\.$/,
  ]),
  [{ ...upstream, MARKET_DATA_LIMIT: '600' }, /^MARKET_DATA_LIMIT is for the simulator/],
  [{ UPSTREAM_FAULTS: 'drop=2' }, /^UPSTREAM_FAULTS must be a list such as lose-first,/],
  [{ ...upstream, UPSTREAM_FAULTS: 'lose-first' }, /^UPSTREAM_FAULTS is for the simulator/],
  ...['toString', '{', '{"orders":{}}', '[]'].map((choice): readonly [Variables, RegExp] => [
    { UPSTREAM_LIMITS: choice },
    /^UPSTREAM_LIMITS: (not interface, published, published-sandbox or an object of limits|"orders" is none of)/,
  ]),
  ...['App', 'default', 'toString'].map((plan): readonly [Variables, RegExp] => [
    { PLAN: plan },
    /^PLAN must be upstream or app, not ".*"\.$/,
  ]),
  ...['ada', '[]', '{}', '{"1":["A"]}', '{"ada":"*"}', '{"ada":["A B"]}', '{"ada":[""]}', '{"a b":[]}'].map(
    (users): readonly [Variables, RegExp] => [{ USERS: users }, /^USERS must be JSON like \{"ada":/],
  ),
  ...['{', '[]', '{"placeOrders":"/a"}', '{"placeOrder":"a"}'].map((paths): readonly [Variables, RegExp] => [
    { UPSTREAM_PATHS: paths },
    /^UPSTREAM_PATHS must be JSON like \{"placeOrder":"\/trading\/orders\/place"\}: /,
  ]),
  ...['auth', 'market_data', 'orders,auth', 'orders,', 'all,orders', 'constructor'].map(
    (names): readonly [Variables, RegExp] => [
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

test('every variable that is wrong has a line in one error', () => {
  const env = {
    PORT: 'x',
    UPSTREAM_PORT: '70000',
    API_KEY: 'a b',
    OTHER_API_KEYS: 'b,b',
    USERS: '[]',
    OPEN_GROUPS: 'order',
    APP_KEY: 'k',
    PLAN: 'apps',
    UPSTREAM_PATHS: '[]',
    UPSTREAM_LIMITS: 'all',
    CACHE: 'no',
    MARKET_DATA_LIMIT: '1',
    ACCES_TOKEN: 'hush-hush',
  };
  assert.throws(
    () => readSettings(env),
    (error: unknown) => {
      assert.ok(error instanceof StartError);
      const lines = error.message.split('\n');
      const hint = lines.pop();
      assert.equal(hint, 'ACCES_TOKEN is set, and nothing here reads it. Did you mean ACCESS_TOKEN?');
      assert.deepEqual(
        lines.map((line) => /^[A-Z_]+/.exec(line)?.[0]).sort(),
        Object.keys(env)
          .filter((name) => name !== 'ACCES_TOKEN')
          .sort(),
      );
      assert.ok(!error.message.includes('hush-hush'));
      return true;
    },
  );
});

describe('ports', () => {
  test('that are both 0 are two free ones', () => {
    assert.equal(readSettings({ PORT: '0', UPSTREAM_PORT: '0' }).port, 0);
  });

  test('are not compared with that of a simulator that does not run', () => {
    assert.equal(readSettings({ ...upstream, PORT: '8788' }).port, 8788);
  });
});

describe('a variable whose name is nearly one that is read', () => {
  for (const [name, meant] of [
    ['UPSTREAM_BASE_ULR', 'UPSTREAM_BASE_URL'],
    ['UPSTREAM_URL', 'UPSTREAM_BASE_URL'],
    ['UPSTREAMPORT', 'UPSTREAM_PORT'],
    ['OPEN_GROUP', 'OPEN_GROUPS'],
    ['OPEN_GROPUS', 'OPEN_GROUPS'],
    ['open_groups', 'OPEN_GROUPS'],
    ['APP_SECERT', 'APP_SECRET'],
    ['CAHCE', 'CACHE'],
    ['PROT', 'PORT'],
  ] as const)
    test(`is named, and so is what was meant: ${name}`, () => {
      const { misspelt } = readSettings({ [name]: 'hush-hush' });
      assert.deepEqual(misspelt, [`${name} is set, and nothing here reads it. Did you mean ${meant}?`]);
    });

  test('is named where it begins as those do, without a guess', () => {
    assert.deepEqual(readSettings({ UPSTREAM_TIMEOUT_MS: '1000' }).misspelt, [
      'UPSTREAM_TIMEOUT_MS is set, and nothing here reads it.',
    ]);
  });

  test('is not named where the other one is set, or where it is empty', () => {
    assert.equal(readSettings({ OPEN_GROUP: 'x', OPEN_GROUPS: 'orders' }).misspelt, undefined);
    assert.equal(readSettings({ OPEN_GROUP: '' }).misspelt, undefined);
  });

  test('is none of those that machines have', () => {
    const usual =
      'PATH HOME USER USERNAME LOGNAME SHELL LANG LC_ALL TERM PWD OLDPWD TMPDIR TMP TEMP HOST HOSTNAME EDITOR PAGER DISPLAY MAIL SHLVL CI NODE_ENV NODE_OPTIONS PNPM_HOME NPM_TOKEN GITHUB_TOKEN AWS_REGION AWS_PROFILE AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN XDG_CACHE_HOME CACHE_DIR PORTS BASE_URL APP_ENV APP_NAME APP_URL API_URL API_TOKEN ACCESS_KEY SECRET_KEY DATABASE_URL HTTP_PROXY HTTPS_PROXY NO_PROXY DEBUG COLORTERM SSH_AUTH_SOCK VIRTUAL_ENV JAVA_HOME GOPATH CARGO_HOME npm_config_cache npm_lifecycle_event npm_package_name';
    const env = Object.fromEntries(usual.split(' ').map((name) => [name, 'x']));
    assert.equal(readSettings(env).misspelt, undefined);
  });
});
