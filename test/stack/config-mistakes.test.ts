/** All mistakes of a configuration in one error, each in the sentence that it has alone, and what was probably meant. */

import assert from 'node:assert/strict';
import { App } from 'aws-cdk-lib';
import * as v from 'valibot';
import { describe, test } from 'vitest';
import { ConfigError, type CountersignConfig } from '../../infra/stack/config.ts';
import { exampleAt } from '../../infra/stack/config-examples.ts';
import { config } from '../../infra/stack/config-schema.ts';
import { sentencesOf } from '../../infra/stack/config-sentences.ts';
import { resolveConfig } from '../../infra/stack/resolve-config.ts';
import { CountersignStack } from '../../infra/stack/stack.ts';

const upstream = { baseUrl: 'https://api.example.com', limits: 'published' } as const;

function linesOf(run: () => unknown): readonly string[] {
  try {
    run();
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message.split('\n');
  }
}

const refusalOf = (given: unknown) => linesOf(() => resolveConfig(given as CountersignConfig));

/** None of them needs the part of another one. */
const apart = [
  { events: true },
  { limiter: { share: 0.5, instances: 3 } },
  { cors: { origins: ['https://a.example/', 'https://b.example/'] } },
  { domain: { name: 'api.example.com' } },
  { cache: { snapshots: { staleAfterSeconds: 60, expireAfterSeconds: 30 } } },
  { plans: { partner: { burst: 1 } } },
  { logs: { retentionDays: 31, acces: 'off' } },
  { throtle: { burst: 1 } },
  { onRemoval: 'snapshot' },
];

describe('several mistakes', () => {
  test('have a line each, as each has alone', () => {
    const alone = apart.flatMap((mistake) => refusalOf({ upstream, ...mistake }));
    assert.equal(alone.length, apart.length + 2);
    const together = refusalOf(Object.assign({ upstream }, ...apart));
    assert.deepEqual([...together].sort(), alone.sort());
  });

  test('of one part have a line each', () => {
    for (const [given, patterns] of [
      [
        { upstream: { baseUrl: 'http://127.0.0.1/openapi', paths: { placeOrders: '/a' } } },
        [
          /use https/,
          /^upstream\.paths .* placeOrders\.$/,
          /ends with \/openapi/,
          /^upstream\.limits must be chosen/,
        ],
      ],
      [
        { upstream, events: { groups: ['orders', 'accounts'] } },
        [/^events\.groups names orders, which is closed/, /^events\.groups names accounts, which is closed/],
      ],
      [
        {
          upstream,
          groups: { accounts: 'jwt' },
          auth: { issuer: 'http://127.0.0.1/a', jwksUri: 'http://127.0.0.1/b' },
        },
        [/^auth must have audience/, /^auth\.issuer cannot/, /^auth\.jwksUri cannot/],
      ],
      [
        { upstream, functions: { reservedConcurrency: { orders: 1, accounts: 1 } } },
        [
          /^functions\.reservedConcurrency\.accounts is for/,
          /^functions\.reservedConcurrency\.orders is for/,
        ],
      ],
      [
        { upstream, limiter: { operationLimits: { a: { requests: 1, perSeconds: 1, for: ['x', 'y'] } } } },
        [/for has "x"/, /for has "y"/],
      ],
      [
        { upstream, live: { maxStreams: 5 }, cache: 'off', groups: { 'market-data': 'closed' } },
        [/^live\.maxStreams needs groups\.market-data/, /^live\.maxStreams needs the cache/],
      ],
      [{ upstream, live: {} }, [/^live needs maxStreams, maxOrderStreams or both/]],
      [
        { upstream, functions: { reservedConcurrency: { 'quote-streams': 5 } } },
        [/^functions\.reservedConcurrency\.quote-streams is not a property/],
      ],
      [{ upstream, ordres: {}, acounts: {} }, [/^ordres is not/, /^acounts is not/]],
      [{ upstream, logs: { retention: 1, acess: 1 } }, [/^logs\.retention is not/, /^logs\.acess is not/]],
    ] as const) {
      const lines = [...refusalOf(given)].sort();
      assert.equal(lines.length, patterns.length, lines.join('\n'));
      for (const pattern of patterns)
        assert.ok(
          lines.some((line) => pattern.test(line)),
          `${pattern} in ${lines.join('\n')}`,
        );
    }
  });

  test('leave out what would only follow from them', () => {
    for (const given of [
      { upstream, groups: { orders: 'api-key' }, functions: { reservedConcurrency: { orders: 5 } } },
      { upstream, groups: { orders: 'api-key' }, auth: { issuer: 'https://i.example', clientIds: ['a'] } },
      { upstream: { ...upstream, timeoutSeconds: 'ten' }, functions: { timeoutSeconds: 3 } },
      {
        upstream,
        events: { concurrency: 1 },
        limiter: { reserve: 0.1 },
        functions: {
          reservedConcurrency: Object.fromEntries(
            ['market-data', 'instruments', 'screeners', 'fundamentals'].map((group) => [group, 4]),
          ),
        },
      },
    ])
      assert.equal(refusalOf(given).length, 1, refusalOf(given).join('\n'));
  });

  test('are found by the stack, with those that only it knows', () => {
    const given = { upstream, events: { groups: ['orders'] }, logs: { retentionDays: 31 } };
    const lines = linesOf(() => new CountersignStack(new App(), 'x', given as unknown as CountersignConfig));
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      ['logs.retentionDays', 'events.groups', 'marketDataUse'],
    );
  });
});

describe('a property that is no property', () => {
  for (const [given, name, meant] of [
    [{ upstream, group: {} }, 'group', 'groups'],
    [{ upstream, stage: 'v1' }, 'stage', 'stageName'],
    [{ upstream: { ...upstream, baseURL: '' } }, 'upstream.baseURL', 'baseUrl'],
    [{ upstream: { ...upstream, timeout: 1 } }, 'upstream.timeout', 'timeoutSeconds'],
    [{ upstream, groups: { order: 'jwt' } }, 'groups.order', 'orders'],
    [{ upstream, plans: { partner: { teir: 'app' } } }, 'plans.partner.teir', 'tier'],
    [{ upstream, cache: { network: {} } }, 'cache.network', 'networkPrefix'],
    [{ upstream, events: { archiveDay: 1 } }, 'events.archiveDay', 'archiveDays'],
    [
      { upstream, domain: { name: 'a.example.com', hostedZone: { id: 'Z1', name: 'example.com', nam: '' } } },
      'domain.hostedZone.nam',
      'name',
    ],
  ] as const)
    test(`${name} is probably ${meant}`, () => {
      assert.deepEqual(refusalOf(given), [
        `${name} is not a property that can be configured here. Did you mean ${meant}?`,
      ]);
    });

  test('is not guessed at where nothing is near', () => {
    for (const name of ['metrics', 'x', 'charts', 'toString'])
      assert.deepEqual(refusalOf({ upstream, [name]: {} }), [
        `${name} is not a property that can be configured here.`,
      ]);
  });
});

/** The parts of a valibot schema that lead to others. */
type Walkable = v.GenericSchema & {
  readonly entries?: Readonly<Record<string, Walkable>>;
  readonly wrapped?: Walkable;
  readonly value?: Walkable;
  readonly getter?: (given: unknown) => Walkable;
};

/** Paths of all objects; what has a name of its own is `any`. */
function objectsIn(schema: Walkable, path: readonly string[]): readonly (readonly string[])[] {
  const { entries, wrapped, value, getter } = schema;
  if (wrapped) return objectsIn(wrapped, path);
  if (schema.type === 'lazy' && getter) return objectsIn(getter({}), path);
  if (schema.type === 'record' && value) return [path, ...objectsIn(value, [...path, 'any'])];
  if (!entries) return [];
  return [path, ...Object.entries(entries).flatMap(([name, one]) => objectsIn(one, [...path, name]))];
}

const objects = objectsIn(config as unknown as Walkable, []).filter(({ length }) => length > 0);

/** The sentences about a value at a place, or within it. */
const refusalAt = (path: readonly string[], value: unknown) => {
  const nested = [...path].reverse().reduce<unknown>((inner, name) => ({ [name]: inner }), value);
  const { issues = [] } = v.safeParse(config, nested);
  return issues
    .filter((issue) => path.every((name, index) => String(issue.path?.[index]?.key) === name))
    .flatMap((issue) => sentencesOf(config, issue));
};

describe('an object of the configuration', () => {
  test('of each kind has an example', () => {
    assert.ok(objects.length > 20, String(objects.length));
  });

  for (const path of objects)
    test(`${path.join('.')} is told by an example what it takes, which can be configured`, () => {
      const example = exampleAt(path);
      assert.ok(example, 'no example');
      assert.deepEqual(refusalAt(path, example), []);
      for (const wrong of [true, 'on', 7, null]) {
        const [line, ...others] = refusalAt(path, wrong);
        assert.deepEqual(others, []);
        assert.match(
          line ?? '',
          /takes (an object|off, or an object|none, or an object .*), such as (\{\} or )?\{ .* \}\.$/,
        );
      }
    });

  test('says it in one short line: events: true', () => {
    assert.deepEqual(refusalOf({ upstream, events: true }), [
      'events takes an object, such as {} or { archiveDays: 7 }.',
    ]);
  });
});

/** Paths of all members, of objects or not. */
function membersIn(schema: Walkable, path: readonly string[]): readonly (readonly string[])[] {
  const { entries, wrapped, value, getter } = schema;
  if (wrapped) return membersIn(wrapped, path);
  if (schema.type === 'lazy' && getter) return membersIn(getter({}), path);
  const within = schema.type === 'record' && value ? { any: value } : (entries ?? {});
  return [path, ...Object.entries(within).flatMap(([name, one]) => membersIn(one, [...path, name]))];
}

describe('a value of another kind', () => {
  test('is refused in the project’s words at each place, not in those of the schema library', () => {
    const places = membersIn(config as unknown as Walkable, []).filter(({ length }) => length > 0);
    assert.ok(places.length > 60, String(places.length));
    for (const path of places)
      for (const wrong of [true, 'on', -0.5, null, ['on'], [7], { on: 7 }])
        for (const line of refusalAt(path, wrong))
          assert.doesNotMatch(line, /Invalid|Expected|received|undefined/, `${path.join('.')}: ${line}`);
  });

  test('where a list belongs is told so, and a list where an object belongs', () => {
    assert.deepEqual(
      [
        ...refusalOf({ upstream, cors: { origins: '*' }, plans: { app: { tier: 'app', keys: 'ios' } } }),
      ].sort(),
      [
        "cors.origins takes a list, such as ['https://app.example.com'].",
        "plans.app.keys takes a list, such as ['ios', 'android'].",
      ],
    );
    assert.deepEqual([...refusalOf({ upstream, cors: ['*'], plans: ['app'], tradeEvents: true })].sort(), [
      "cors takes an object, such as { origins: ['https://app.example.com'] }.",
      "plans takes an object, such as { partner: { tier: 'app' } }.",
      'tradeEvents takes an object, such as {} or { compareEveryMinutes: 5 }.',
    ]);
    assert.deepEqual(refusalOf(['x']), ['The configuration takes an object.']);
  });
});

test('a base URL that ends with what paths begin with is told what to write instead', () => {
  const given = { upstream: { ...upstream, baseUrl: 'https://api.example.com/v3/openapi/' } };
  assert.deepEqual(refusalOf(given), [
    'upstream.baseUrl "https://api.example.com/v3/openapi/" cannot be used: it ends with /openapi, with which paths begin: write https://api.example.com/v3.',
  ]);
});
