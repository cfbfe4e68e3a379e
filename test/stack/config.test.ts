import assert from 'node:assert/strict';
import { App } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type * as v from 'valibot';
import { test } from 'vitest';
import { ConfigError, type CountersignConfig } from '../../infra/stack/config.ts';
import { type config, retentionDays } from '../../infra/stack/config-schema.ts';
import { resolveConfig } from '../../infra/stack/resolve-config.ts';
import { CountersignStack } from '../../infra/stack/stack.ts';
import { configOf, stageOf } from '../../infra/stack/stages.ts';
import { limits, openByDefault } from '../../lib/catalogue/index.ts';
import { type Refusals, testRefusals } from './refusals.ts';
import { baseUrl, synthesise } from './synthesise.ts';

const upstream = { baseUrl, limits: 'interface' } as const;

test('logs may be kept as long as CloudWatch has a choice for it, and not for ever', () => {
  const choices = Object.values(RetentionDays).filter((days) => typeof days === 'number');
  assert.deepEqual([...retentionDays, RetentionDays.INFINITE], choices);
});

/** Paths of members whose names the type lists: schemas of groups and scopes take their names from the catalogue. */
type Paths<T> = T extends readonly unknown[]
  ? never
  : T extends object
    ? string extends keyof T
      ? never
      : { [K in keyof T & string]: K | `${K}.${Paths<NonNullable<T[K]>>}` }[keyof T & string]
    : never;
type Loose<T> = T extends readonly (infer I)[]
  ? Loose<I>[]
  : T extends object
    ? { -readonly [K in keyof T]: Loose<T[K]> }
    : T;
type Taken = Paths<v.InferInput<typeof config>>;
type Named =
  | 'groups'
  | 'auth.scopes'
  | 'functions.reservedConcurrency'
  | 'trading.limits'
  | 'upstream.limits';

type Differences =
  | Exclude<Taken, Paths<CountersignConfig>>
  | Exclude<Paths<CountersignConfig>, Taken | `${Named}.${string}`>;

test('the schema takes what the type says, and both have the same members: the compiler compares them', () => {
  // The type says of the days that logs are kept that they are a number.
  const taken = (given: Loose<Omit<CountersignConfig, 'logs'>>): v.InferInput<typeof config> => given;
  const areSame: Differences extends never ? true : Differences = true;
  assert.deepEqual([taken({ upstream }), areSame], [{ upstream }, true]);
});

test('an upstream and what it allows are enough: the rest has defaults that are safe', () => {
  const resolved = resolveConfig({ upstream });
  assert.deepEqual(resolved.upstream, { baseUrl, limits: 'interface', paths: {}, timeoutMs: 10_000 });
  assert.deepEqual(
    resolved.access,
    Object.fromEntries(openByDefault.map((group) => [group, 'api-key'])),
    'open are the groups that the catalogue opens, and only with a key',
  );
  assert.deepEqual(resolved.origins, []);
  assert.deepEqual(resolved.logs, { retentionDays: 30, access: 'off' });
  assert.deepEqual(resolved.functions, {
    timeoutSeconds: 25,
    memoryMiB: 512,
    reservedConcurrency: {},
    rollout: 'all-at-once',
  });
  assert.equal(resolved.stageName, 'v1');
  assert.deepEqual(resolved.limiter, {
    bucket: 'countersign',
    share: 1,
    reserve: undefined,
    operationLimits: {},
  });
  assert.deepEqual(resolved.cache, { tuning: {}, networkPrefix: { ipv4: 24, ipv6: 56 } });
});

test('one key under any plan without figures stays within the upstream’s limit', () => {
  const { requests, perSeconds } = limits['market-data'];
  for (const plan of resolveConfig({ upstream, plans: { partner: { keys: ['a', 'b'] } } }).plans)
    assert.ok(plan.burst + perSeconds * plan.ratePerSecond <= requests, plan.name);
});

test('plans: the default one is there beside others, and can be changed', () => {
  const { plans } = resolveConfig({
    upstream,
    plans: {
      default: { keys: ['ios', 'android'] },
      partner: { ratePerSecond: 0.5, burst: 5, quota: { requests: 1000, per: 'day' } },
    },
  });
  assert.deepEqual(plans, [
    { name: 'default', burst: 60, ratePerSecond: 4, keys: ['ios', 'android'] },
    {
      name: 'partner',
      burst: 5,
      ratePerSecond: 0.5,
      quota: { requests: 1000, per: 'day' },
      keys: ['default'],
    },
  ]);
});

const narrow = { requests: 10, perSeconds: 1, for: ['orders'] };
/** Of the groups whose operations count against the limit. */
const bounded = { instruments: 5, 'market-data': 10, screeners: 5, fundamentals: 5 };

test('a narrower limit is put within the wide one that its operations count against', () => {
  const { limiter } = resolveConfig({
    upstream,
    limiter: {
      share: 0.5,
      operationLimits: { bars: { ...narrow, for: ['screeners', 'getStockSnapshots'] }, narrow },
    },
  });
  assert.equal(limiter.share, 0.5);
  assert.deepEqual(limiter.operationLimits, {
    bars: { ...narrow, for: ['screeners', 'getStockSnapshots'], within: 'market-data' },
    narrow,
  });
});

/** Wrong configurations as a deployer without a type checker could write them. */
const refused: Refusals = [
  ['no upstream', {}, /^upstream is required\.$/],
  ['no base URL', { upstream: {} }, /^upstream\.baseUrl is required\.$/],
  [
    'no choice of limits',
    { upstream: { baseUrl } },
    /^upstream\.limits must be chosen, .*: interface, published, published-sandbox, or an object of limits, see "What the upstream allows" in docs\/limits\.md\.$/,
  ],
  [
    'an unknown choice of limits',
    { upstream: { baseUrl, limits: 'all' } },
    /^upstream\.limits cannot be used: not interface, published, published-sandbox or an object of limits\.$/,
  ],
  [
    'limits that leave nothing of an endpoint to a share',
    { upstream: { baseUrl, limits: 'published' }, limiter: { share: 0.1 } },
    /leave nothing of the limit endpoint\.\w+ to give: raise the share, lower the reserve, or let the stacks on the app key share one limiter\.table\./,
  ],
  [
    'a relative base URL',
    { upstream: { baseUrl: 'api', limits: 'interface' } },
    /^upstream\.baseUrl .*not an absolute URL\.$/,
  ],
  [
    'a path of an unknown operation',
    { upstream: { baseUrl, limits: 'interface', paths: { placeOrders: '/trading/orders/place' } } },
    /^upstream\.paths cannot be used: no operation here is called placeOrders\.$/,
  ],
  [
    'a path that cannot be signed',
    { upstream: { baseUrl, limits: 'interface', paths: { placeOrder: '/trading orders' } } },
    /^upstream\.paths cannot be used: the path of placeOrder .*\.$/,
  ],
  [
    'a path that is no text',
    { upstream: { baseUrl, limits: 'interface', paths: { placeOrder: 1 } } },
    /^upstream\.paths\.placeOrder takes a path\.$/,
  ],
  [
    'http to a host',
    { upstream: { baseUrl: 'http://up.example', limits: 'interface' } },
    /^upstream\.baseUrl .*use https\.$/,
  ],
  [
    'http on loopback',
    { upstream: { baseUrl: 'http://127.0.0.1:8788', limits: 'interface' } },
    /^upstream\.baseUrl .*use https; .*upstream\.allowLoopback\.$/,
  ],
  [
    'http to a host beside allowLoopback',
    { upstream: { baseUrl: 'http://up.example', limits: 'interface', allowLoopback: true } },
    /^upstream\.baseUrl .*use https\.$/,
  ],
  [
    'allowLoopback as a text',
    { upstream: { baseUrl, limits: 'interface', allowLoopback: 'true' } },
    /^upstream\.allowLoopback takes true or false\.$/,
  ],
  [
    'credentials',
    { upstream: { baseUrl: 'https://a:b@up.example', limits: 'interface' } },
    /^upstream\.baseUrl .*do not belong in it\.$/,
  ],
  [
    'an unknown property',
    { upstream, group: {} },
    /^group is not a property .* here\. Did you mean groups\?$/,
  ],
  [
    'a property that is like no other',
    { upstream, metrics: {} },
    /^metrics is not a property that can be configured here\.$/,
  ],
  ['an unknown group', { upstream, groups: { bonds: 'iam' } }, /^groups\.bonds is not a property/],
  ['tokens', { upstream, groups: { auth: 'iam' } }, /^groups\.auth can never be opened/],
  [
    'orders with a key',
    { upstream, groups: { orders: 'api-key' } },
    /^groups\.orders takes jwt or bound-key or iam or closed/,
  ],
  [
    'another access',
    { upstream, groups: { 'market-data': 'open' } },
    /^groups\.market-data takes one of api-key, jwt, iam, closed\.$/,
  ],
  [
    'a rate alone',
    { upstream, plans: { slow: { ratePerSecond: 1 } } },
    /^plans\.slow takes ratePerSecond and burst together/,
  ],
  [
    'a rate of 0',
    { upstream, plans: { slow: { ratePerSecond: 0, burst: 1 } } },
    /^plans\.slow\.ratePerSecond takes a number above 0\.$/,
  ],
  [
    'an endless rate',
    { upstream, plans: { slow: { ratePerSecond: Infinity, burst: 1 } } },
    /^plans\.slow\.ratePerSecond takes/,
  ],
  [
    'half a burst',
    { upstream, plans: { slow: { ratePerSecond: 1, burst: 0.5 } } },
    /^plans\.slow\.burst takes a whole number/,
  ],
  [
    'a quota of 0',
    { upstream, plans: { slow: { quota: { requests: 0, per: 'day' } } } },
    /^plans\.slow\.quota\.requests takes/,
  ],
  [
    'a quota per year',
    { upstream, plans: { slow: { quota: { requests: 1, per: 'year' } } } },
    /^plans\.slow\.quota\.per takes one of/,
  ],
  ['no keys', { upstream, plans: { slow: { keys: [] } } }, /^plans\.slow\.keys takes at least one key\.$/],
  [
    'a key twice',
    { upstream, plans: { slow: { keys: ['a', 'a'] } } },
    /^plans\.slow\.keys has the same key twice\.$/,
  ],
  ['a plan’s name', { upstream, plans: { 'Slow plan': {} } }, /^plans\.Slow plan takes a name/],
  [
    'one function for events',
    { upstream, events: { concurrency: 1 } },
    /^events\.concurrency takes a whole number from 2 to 1000\.$/,
  ],
  [
    'an archive of no days',
    { upstream, events: { archiveDays: 0 } },
    /^events\.archiveDays takes a whole number/,
  ],
  [
    'an archive that outlives the memory of its requests',
    { upstream, events: { archiveDays: 15 } },
    /^events\.archiveDays takes a whole number from 1 to 14\.$/,
  ],
  [
    'no time for a batch',
    { upstream: { ...upstream, timeoutSeconds: 10 }, functions: { timeoutSeconds: 23 }, events: {} },
    /^functions\.timeoutSeconds must be at least twice upstream\.timeoutSeconds \(10\) and 4 more while events/,
  ],
  [
    'a topic’s name',
    { upstream, events: { alarmTopic: 'alarms' } },
    /^events\.alarmTopic takes the ARN of an SNS topic\.$/,
  ],
  ['another property of events', { upstream, events: { bus: 'b' } }, /^events\.bus is not a property/],
  [
    'an origin with a path',
    { upstream, cors: { origins: ['https://a.example/'] } },
    /^cors\.origins\.0 .*without a path\.$/,
  ],
  [
    'an origin with its own port',
    { upstream, cors: { origins: ['https://a.example:443'] } },
    /^cors\.origins\.0 .*leave the port out/,
  ],
  ['the origin null', { upstream, cors: { origins: ['null'] } }, /^cors\.origins\.0 /],
  [
    'an origin that is code',
    { upstream, cors: { origins: ['https://a.example")#end'] } },
    /^cors\.origins\.0 /,
  ],
  [
    '* beside others',
    { upstream, cors: { origins: ['https://a.example', '*'] } },
    /^cors\.origins takes \* only alone/,
  ],
  [
    'an origin twice',
    { upstream, cors: { origins: ['https://a.example', 'https://a.example'] } },
    /twice\.$/,
  ],
  [
    '29 seconds',
    { upstream, functions: { timeoutSeconds: 29 } },
    /^functions\.timeoutSeconds takes a whole number from 3 to 28\.$/,
  ],
  [
    'no room for two attempts',
    { upstream: { baseUrl, limits: 'interface', timeoutSeconds: 13 } },
    /^functions\.timeoutSeconds must be more than twice upstream\.timeoutSeconds \(13\)/,
  ],
  [
    'tiny functions',
    { upstream, functions: { memoryMiB: 64 } },
    /^functions\.memoryMiB takes a whole number from 128/,
  ],
  [
    'a retention of 31 days',
    { upstream, logs: { retentionDays: 31 } },
    /^logs\.retentionDays takes one of 1, 3, 5/,
  ],
  ['logs for ever', { upstream, logs: { retentionDays: 9999 } }, /^logs\.retentionDays takes one of/],
  ['access logs: true', { upstream, logs: { access: true } }, /^logs\.access takes one of off/],
  ['a stage with a slash', { upstream, stageName: 'v/1' }, /^stageName takes/],
  ['another removal', { upstream, onRemoval: 'snapshot' }, /^onRemoval takes one of destroy, retain\.$/],
  [
    'a share of 0',
    { upstream, limiter: { share: 0 } },
    /^limiter\.share takes a number above 0, at most 1\.$/,
  ],
  ['a share of 2', { upstream, limiter: { share: 2 } }, /^limiter\.share takes/],
  [
    'a share of next to nothing',
    { upstream, limiter: { share: 0.001 } },
    /^limiter\.share and .* market-data/,
  ],
  [
    'a reserve of everything',
    { upstream, limiter: { reserve: 1 } },
    /^limiter\.reserve takes a number from 0/,
  ],
  [
    'no instances',
    { upstream, limiter: { instances: 0 } },
    /^limiter\.instances takes a whole number from 1/,
  ],
  [
    'a number of instances for nothing',
    { upstream, limiter: { instances: 20 } },
    /^limiter\.instances divides limiter\.reserve, which is 0: leave it out\.$/,
  ],
  [
    'a reserve for an unbounded number of functions',
    { upstream, limiter: { reserve: 0.1 } },
    /^functions\.reservedConcurrency\.instruments must be a number while limiter\.reserve is above 0: /,
  ],
  [
    'the same, of one function',
    {
      upstream,
      limiter: { reserve: 0.1 },
      functions: { reservedConcurrency: { ...bounded, screeners: 'none' } },
    },
    /^functions\.reservedConcurrency\.screeners must be a number/,
  ],
  [
    'the same, of lookups',
    {
      upstream,
      limiter: { reserve: 0.1 },
      functions: { reservedConcurrency: bounded },
      events: {},
    },
    /^events\.reservedConcurrency must be a number/,
  ],
  [
    'a reserve of less than one request for each function',
    { upstream, limiter: { reserve: 0.05 }, functions: { reservedConcurrency: bounded } },
    /^limiter\.reserve 0\.05 is 15 of the 300 requests of market-data, less than one for each of 25 functions: set at least 0\.084, or reserve fewer\.$/,
  ],
  [
    'more functions than requests',
    {
      upstream,
      limiter: { reserve: 0.5 },
      functions: { reservedConcurrency: { ...bounded, 'market-data': 500 } },
    },
    /^limiter\.reserve 0\.5 is 150 of .* each of 515 functions: reserve fewer, or set limiter\.reserve to 0\.$/,
  ],
  [
    'a reserve in a shared table, for an unknown number of functions',
    {
      upstream,
      limiter: { reserve: 0.1, table: 'shared' },
      functions: { reservedConcurrency: bounded },
    },
    /^limiter\.instances is required beside limiter\.reserve and limiter\.table: .* this one’s 25 included\.$/,
  ],
  [
    'fewer instances than are reserved',
    {
      upstream,
      limiter: { reserve: 0.1, table: 'shared', instances: 24 },
      functions: { reservedConcurrency: bounded },
    },
    /^limiter\.instances 24 is less than the 25 that this stack alone reserves\.$/,
  ],
  [
    'no more functions for lookups than their queue takes',
    { upstream, events: { concurrency: 5, reservedConcurrency: 5 } },
    /^events takes a reservedConcurrency above its concurrency: the rest is for direct calls\.$/,
  ],
  [
    'a table’s name',
    { upstream, limiter: { table: 'a table' } },
    /^limiter\.table takes the name or the ARN/,
  ],
  ['a bucket’s name', { upstream, limiter: { bucket: 'a#b' } }, /^limiter\.bucket takes 1 to 64 letters/],
  ['another property', { upstream, limiter: { reads: 1 } }, /^limiter\.reads is not a property/],
  [
    'a limit’s name',
    { upstream, limiter: { operationLimits: { 'A b': narrow } } },
    /^limiter\.operationLimits\.A b takes a name/,
  ],
  [
    'half a request',
    { upstream, limiter: { operationLimits: { a: { ...narrow, requests: 0.5 } } } },
    /^limiter\.operationLimits\.a\.requests takes a whole number/,
  ],
  [
    'a limit for nothing',
    { upstream, limiter: { operationLimits: { a: { ...narrow, for: [] } } } },
    /^limiter\.operationLimits\.a\.for takes at least one/,
  ],
  [
    'a limit for something unknown',
    { upstream, limiter: { operationLimits: { a: { ...narrow, for: ['getStockBar'] } } } },
    /^limiter\.operationLimits\.a\.for has "getStockBar", which is neither/,
  ],
  [
    'a limit for two kinds',
    { upstream, limiter: { operationLimits: { a: { ...narrow, for: ['orders', 'market-data'] } } } },
    /^limiter\.operationLimits\.a\.for has operations that count/,
  ],
  [
    'two limits without a wide one',
    { upstream, limiter: { operationLimits: { a: narrow, b: { ...narrow, for: ['placeOrder'] } } } },
    /^limiter\.operationLimits cannot be used: a and b are both for placeOrder\.$/,
  ],
  [
    'the upstream’s own limit',
    { upstream, limiter: { operationLimits: { 'market-data': narrow } } },
    /^limiter\.operationLimits cannot be used: market-data is the upstream’s own limit\.$/,
  ],
  ['nothing', undefined, /^The configuration /],
];

testRefusals(refused);

test('a stack without properties is told what it needs', () => {
  assert.throws(
    () => new CountersignStack(new App(), 'x', undefined as never),
    /^ConfigError: upstream is required\.\nmarketDataUse is required, [^\n]+\.$/,
  );
});

test('http on loopback is taken for emulators, where it is asked for', () => {
  const baseUrl = 'http://127.0.0.1:8788';
  assert.deepEqual(
    resolveConfig({ upstream: { baseUrl, limits: 'interface', allowLoopback: true } }).upstream,
    { baseUrl, limits: 'interface', paths: {}, timeoutMs: 10_000 },
  );
});

test('origins of web views and of development are taken', () => {
  const origins = [
    'capacitor://localhost',
    'ionic://localhost',
    'http://localhost:5173',
    'http://[::1]:8080',
  ];
  assert.deepEqual(resolveConfig({ upstream, cors: { origins } }).origins, origins);
});

test('a group cannot be opened before it has operations, and something must be open', () => {
  assert.throws(
    () => synthesise({ operations: [], groups: { orders: 'iam' } }),
    /^ConfigError: groups\.orders cannot be opened: the catalogue has no operations of it yet\.$/,
  );
  assert.throws(() => synthesise({ operations: [] }), /^ConfigError: groups leaves nothing open/);
});

test('stages have names; another one is refused with those that there are', () => {
  assert.equal(stageOf(undefined), 'dev');
  for (const name of ['dev', 'prod', 'prove'])
    assert.doesNotThrow(() => resolveConfig(configOf(stageOf(name))));
  assert.throws(
    () => stageOf('production'),
    /^ConfigError: stage must be one of dev, prod, prove, which stand in infra\/stack\/stages\.ts\.$/,
  );
  assert.throws(() => stageOf('toString'), ConfigError);
});
