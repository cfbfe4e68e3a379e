/**
 * What synth accepts, each function takes: both ends of every range that the schema of the stage has, and random stages.
 * Beyond both ends synth refuses, and it refuses what a function's environment cannot hold.
 */

import assert from 'node:assert/strict';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import * as functions from '../../functions/compose/functions.ts';
import { offerOf } from '../../functions/compositions.ts';
import { apiNames, composedOf, workerNames, workerRows } from '../../functions/rows.ts';
import type { Environment } from '../../functions/settings/parts.ts';
import type { AuthConfig } from '../../infra/stack/auth-config.ts';
import { ConfigError, type CountersignConfig } from '../../infra/stack/config.ts';
import { exampleAt } from '../../infra/stack/config-examples.ts';
import { config as schema } from '../../infra/stack/config-schema.ts';
import { resolvedFor } from '../../infra/stack/countersign.ts';
import { placesIn, type Walkable } from '../../infra/stack/places.ts';
import { CountersignStack } from '../../infra/stack/stack.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { everythingOn, managed } from './everything-on.ts';
import { base, createApp, textIn } from './synthesise.ts';

type Reader = (env: Environment) => { readonly ok: boolean; readonly faults?: readonly string[] };

const compositions = { ...functions };
const lookups = functions.lookups(operations).read;

/** By the construct's path; of workers by the title of their row. */
const readers: Readonly<Record<string, Reader>> = {
  ...Object.fromEntries(
    apiNames.map((name) => {
      const offer = offerOf(name);
      return [name, (offer ? functions.group(offer) : functions.quoteStreams).read] as const;
    }),
  ),
  'quote-streams-managed': functions.quoteStreams.read,
  'order-streams': functions.orderStreams.read,
  ...Object.fromEntries(
    workerNames.flatMap((name) => {
      const composition = composedOf(name);
      return composition ? [[workerRows[name].title, compositions[composition].read] as const] : [];
    }),
  ),
  [workerRows.authorizer.title]: functions.authorizer.read,
  [workerRows['order-audit'].title]: functions.orderAudit.read,
  [workerRows['quote-lookup'].title]: lookups,
  'Direct lookups': lookups,
};

interface Choices {
  readonly path: readonly string[];
  /** Both ends of a range, or choices. */
  readonly values: readonly unknown[];
  readonly isRange: boolean;
}

const text = (length: number) => 'x'.repeat(length);
const texts = (count: number, length: number) =>
  Array.from({ length: count }, (_, at) => `${at}`.padEnd(length, 'x'));

/** Values of what is no range, and how else the same can be written. Together they fit an environment. */
const samples: Readonly<Record<string, readonly unknown[]>> = {
  'upstream.baseUrl': ['https://a:443/v3', 'http://localhost:9000'],
  'upstream.limits': [
    'interface',
    'published',
    'published-sandbox',
    { token: { requests: 1, perSeconds: 3600 } },
  ],
  'upstream.paths.placeOrder': ['/moved'],
  'auth.issuer': ['https://a:443', 'http://localhost:9000', 'http://127.0.0.1'],
  'auth.jwksUri': ['https://a:443/keys', 'http://[::1]:9000/keys'],
  'auth.audience': [text(1), texts(20, 3)],
  'auth.clientIds': [texts(1, 50), texts(20, 3)],
  'auth.accountsClaim': [text(50)],
  'auth.scopes.write': [text(1)],
  'auth.scopes.read': [text(1), texts(5, 3)],
  'auth.scopes.trade': [text(50)],
  'limiter.share': [1, 1 / 3, 0.999999],
  'limiter.reserve': [0, 0.1 + 0.2, 0.999, 1e-7, 0.0000012345678901234567],
  'limiter.operationLimits.x.for': [['orders']],
  'limiter.table': ['shared', 'arn:aws:dynamodb:eu-central-1:123456789012:table/shared'],
  'limiter.bucket': ['a', `${text(60)}-.:_`],
  'tradeEvents.endpoint': ['events.example:443', '[::1]', 'events.example:65535'],
  'trading.limits': ['none', { max_orders_per_minute: 1 }],
  'trading.orderMembers': [[], ['a'], texts(20, 8).map((one) => `a${one}`)],
  'marketStream.url': ['wss://quotes.example:443/mqtt', 'mqtt://127.0.0.1'],
  'cors.origins': [['*'], ['https://a', 'capacitor://localhost', 'http://[::1]:65535']],
  'events.groups': [['market-data'], ['orders', 'market-data']],
  'canary.symbol': ['A', 'BRK.B'],
};

/** No variable of a function depends on them: on times of Lambda, on names and ARNs, and on what is beside the functions. */
const besides =
  /^(domain|logs|plans|throttle|live\.capacity|accessToken|dashboard|alarm\w*|marketDataUse|stageName|onRemoval|\w+Key|existingSecret)\b|Topic$|Arn$|rollout$|archiveDays$|^trading\.stopOnAlarms\.names$/;

function choicesAt(path: readonly string[], { type, options, literal, pipe = [] }: Walkable): Choices {
  const known = samples[path.join('.')];
  if (known) return { path, isRange: false, values: known };
  const ends = pipe.filter((one) => /^(min|max)_value$/.test(one.type)).map(({ requirement }) => requirement);
  if (ends.length === 2) return { path, isRange: true, values: ends };
  const all = type === 'boolean' ? [true, false] : type === 'literal' ? [literal] : options;
  return { path, isRange: false, values: all ?? [] };
}

/** Stands for a name that the deployer chooses. */
const nameIn = ([property]: readonly string[]) => (property === 'upstream' ? 'placeOrder' : 'x');

const places = placesIn(schema)
  .map(({ path, schema: one }) =>
    choicesAt(
      path.map((name) => (name === '*' ? nameIn(path) : name)),
      one,
    ),
  )
  .filter(
    ({ path }) => !besides.test(path.join('.')) || path.join('.') === 'live.capacity.streamsPerEnvironment',
  );

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param around what an object begins with that is not there yet */
function withValue(
  given: unknown,
  { path, value }: Change,
  around: (path: readonly string[]) => object,
  at = 0,
): unknown {
  const name = path[at];
  if (name === undefined) return value;
  const object = isObject(given) ? given : { ...around(path.slice(0, at)) };
  const member = (object as Readonly<Record<string, unknown>>)[name];
  return { ...object, [name]: withValue(member, { path, value }, around, at + 1) };
}

const valueAt = (given: unknown, path: readonly string[]) =>
  path.reduce((one, name) => (isObject(one) ? one[name] : undefined), given);

function isAccepted(given: CountersignConfig): boolean {
  try {
    resolvedFor(given, 'eu-central-1', operations);
    return true;
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return false;
  }
}

/** As far as synth accepts them. */
const withChanges = (start: CountersignConfig, wanted: readonly Change[]) =>
  wanted.reduce((given, change) => {
    const changed = [() => ({}), exampleAt].map((around) =>
      withValue(given, change, (at) => around(at) ?? {}),
    );
    return (changed as CountersignConfig[]).find(isAccepted) ?? given;
  }, start);

interface Change {
  readonly path: readonly string[];
  readonly value: unknown;
}

const closed = Object.fromEntries(
  ['market-data', 'instruments', 'fundamentals', 'screeners'].map((group) => [group, 'closed']),
);
const wide = { requests: 1_000_000, perSeconds: 1, for: ['placeOrder'] };

const starts: readonly CountersignConfig[] = [
  everythingOn,
  managed,
  // As many instances as can be reserved.
  {
    ...everythingOn,
    upstream: { ...base.upstream, limits: 'published' as const },
    limiter: { reserve: 0.5, operationLimits: { wide } },
    live: { maxStreams: 300, maxOrderStreams: 1 },
  },
  // None is reserved, and the upstream is an emulator.
  {
    ...everythingOn,
    upstream: { ...base.upstream, allowLoopback: true },
    tradeEvents: { endpoint: '127.0.0.1:9001' },
    limiter: {},
    functions: {},
    events: { groups: everythingOn.events.groups },
  },
  {
    functions: { timeoutSeconds: 28 },
    groups: { orders: 'jwt' as const, 'market-data': 'jwt' as const },
    auth: everythingOn.auth,
    trading: { limits: 'none' as const },
  },
  // Nothing of it counts against a limit, until limits are tightened.
  { groups: { ...closed, orders: 'iam' as const }, limiter: { reserve: 0.1 } },
  {
    upstream: { ...base.upstream, timeoutSeconds: 1 },
    groups: { ...closed, orders: 'iam' as const },
    limiter: { reserve: 0.1, instances: 1 },
  },
]
  .map((more): CountersignConfig => ({ ...base, ...more, alarms: 'off', dashboard: 'off' }))
  .filter(isAccepted);

const changes = places.flatMap(({ path, values }) => values.map((value): Change => ({ path, value })));

const has = (given: unknown, { path, value }: Change) =>
  JSON.stringify(valueAt(given, path)) === JSON.stringify(value);

/** With one value of each place: the first that synth accepts. */
function cornerOf(start: CountersignConfig, wanted: readonly Change[]): CountersignConfig {
  const done = new Set<string>();
  return wanted.reduce((given, change) => {
    if (done.has(`${change.path}`)) return given;
    const changed = withChanges(given, [change]);
    if (has(changed, change)) done.add(`${change.path}`);
    return changed;
  }, start);
}

/** Stages that have all values of all places, and those that none of them has. */
function corners() {
  const stages = starts.flatMap((start) => [
    start,
    cornerOf(start, changes),
    cornerOf(start, changes.toReversed()),
  ]);
  let open = changes.filter((change) => !stages.some((stage) => has(stage, change)));
  for (const start of starts)
    for (let before = Number.POSITIVE_INFINITY; open.length < before; ) {
      const corner = cornerOf(start, open);
      before = open.length;
      open = open.filter((change) => !has(corner, change));
      if (open.length < before) stages.push(corner);
    }
  return { stages, open };
}

function environmentsOf(given: CountersignConfig) {
  const stack = new CountersignStack(createApp(), 'Countersign-test', given);
  return stack.node.findAll().flatMap((one) => {
    if (!(one instanceof CfnFunction)) return [];
    const variables = stack.resolve(one.environment)?.variables ?? {};
    // Names and ARNs of AWS have a hundred characters at most.
    const env = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, textIn(value, () => text(100))]),
    );
    const title = String(one.description).split(':')[0] ?? '';
    return [{ path: title in readers ? title : one.node.path.split('/').slice(2, -2).join('/'), env }];
  });
}

function read(path: string, env: Environment) {
  const reader = readers[path];
  assert.ok(reader, `no reader of ${path}`);
  return reader(env);
}

const faultsOf = (path: string, env: Environment): readonly string[] => read(path, env).faults ?? [];

const { stages, open } = corners();
const environments = stages.flatMap(environmentsOf);

test('synth accepts each value in one stage or another', () => {
  const refused = open.map(({ path, value }) => `${path.join('.')}: ${JSON.stringify(value).slice(0, 60)}`);
  assert.deepEqual(refused, []);
  const unknown = places.filter(({ values }) => values.length === 0).map(({ path }) => path.join('.'));
  assert.deepEqual(unknown, [], 'neither a range nor a choice: `samples` has none of it');
});

test('with each value, the functions take their variables', () => {
  const faults = environments.flatMap(({ path, env }) =>
    faultsOf(path, env).map((fault) => `${path}: ${fault}`),
  );
  assert.deepEqual([...new Set(faults)], []);
});

test('no figure is lost between the stack and a function', () => {
  for (const { path, env } of environments)
    for (const [name, text] of Object.entries(env))
      assert.doesNotMatch(text, /null|NaN|undefined/, `${path} ${name}`);
});

test('synth refuses the numbers beyond both ends of each range', () => {
  const beyond = places.flatMap(({ path, values, isRange }) => {
    const [min, max] = values as readonly number[];
    return isRange
      ? [
          { path, value: min! - 1 },
          { path, value: max! + 1 },
          { path, value: min! + 0.5 },
        ]
      : [];
  });
  assert.ok(beyond.length > 60);
  const taken = beyond.filter((change) => starts.some((start) => has(withChanges(start, [change]), change)));
  assert.deepEqual(
    taken.map(({ path, value }) => `${path.join('.')}: ${value}`),
    [],
  );
});

test('of whose tokens count synth and functions refuse the same', () => {
  const [start] = starts.filter(({ upstream }) => upstream.allowLoopback);
  assert.ok(start);
  const env = environmentsOf(start).find(({ path }) => path === 'accounts')?.env ?? {};
  const loopback = ['http://localhost', 'http://127.1.2.3:9000', 'http://[::1]', 'http://a'];
  const urls = [...loopback, 'https://a:443', 'https://a\\b', 'https://a?b', 'https://a b', 'https://b:c@a'];
  const lengths = [256, 257, 512, 513];
  const apps = [...lengths.map((one) => texts(1, one)), ...[0, 20, 21, 50, 51].map((one) => texts(one, 3))];
  const cases: Readonly<Record<string, readonly unknown[]>> = {
    issuer: urls,
    jwksUri: urls,
    accountsClaim: lengths.map(text),
    clientIds: apps,
  };
  const different = Object.entries(cases).flatMap(([name, values]) =>
    values.flatMap((value) => {
      const auth = { ...everythingOn.auth, [name]: value };
      const isTaken = faultsOf('accounts', { ...env, AUTH: JSON.stringify(auth) }).length === 0;
      return isTaken === isAccepted({ ...start, auth: auth as AuthConfig })
        ? []
        : `${name}: ${JSON.stringify(value).slice(0, 60)}`;
    }),
  );
  assert.deepEqual(different, []);
});

describe('each function’s environment holds 3 kB at most, with names of a hundred characters', () => {
  const bytesOf = (env: Environment) => Buffer.byteLength(Object.entries(env).flat().join(''));

  test('in all stages', () => {
    for (const { path, env } of environments) assert.ok(bytesOf(env) <= 3000, path);
  });

  const symbols = (count: number) => Array.from({ length: count }, (_, at) => `SYM${at}`);
  const manyLimits = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        `a${at}`,
        { requests: 1000, perSeconds: 1, for: ['getStockBars'] },
      ]),
    );
  const fits = (make: () => unknown) => {
    try {
      make();
      return true;
    } catch (error) {
      assert.ok(error instanceof ConfigError, String(error));
      return false;
    }
  };

  const lists: readonly (readonly [string, (count: number) => object])[] = [
    ['auth', (count) => ({ auth: { ...everythingOn.auth, clientIds: texts(count, 29) } })],
    ['cors.origins', (count) => ({ cors: { origins: texts(count, 30).map((one) => `https://a${one}`) } })],
    [
      'trading',
      (count) => ({
        trading: {
          ...everythingOn.trading,
          limits: { ...everythingOn.trading.limits, allowed_symbols: symbols(count) },
        },
      }),
    ],
    [
      'limiter.operationLimits',
      (count) => ({ limiter: { ...everythingOn.limiter, operationLimits: manyLimits(count) } }),
    ],
  ];
  for (const [property, withList] of lists)
    test(`a list in ${property} that is too long is refused in words`, () => {
      const made = (count: number) =>
        environmentsOf({ ...starts[0], ...withList(count) } as CountersignConfig);
      let count = 1;
      for (let step = 32; step >= 1; step /= 2) while (fits(() => made(count + step))) count += step;
      const longest = Math.max(...made(count).map(({ env }) => bytesOf(env)));
      assert.ok(longest > 2900 && longest <= 3000, `${longest}`);
      assert.throws(
        () => made(count + 1),
        new RegExp(`${property}.* characters\\).* too long together for the function`),
      );
    });
});

test('in random stages the functions take their variables', () => {
  const change = fc.constantFrom(...places).chain(({ path, values, isRange }) => {
    const [min, max] = values as readonly number[];
    const value = isRange
      ? fc.oneof(fc.constantFrom(min, max), fc.integer({ min: min!, max: max! }))
      : fc.constantFrom(...values);
    return value.map((one: unknown): Change => ({ path, value: one }));
  });
  fc.assert(
    fc.property(fc.constantFrom(...starts), fc.array(change, { maxLength: 40 }), (start, wanted) => {
      for (const { path, env } of environmentsOf(withChanges(start, wanted)))
        assert.deepEqual(faultsOf(path, env), [], path);
    }),
    { numRuns: 10 },
  );
});
