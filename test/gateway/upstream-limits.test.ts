/** What the upstream allows, as the limiter's limits and each operation's list of them, under any preset and figures. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import {
  type EndpointLimits,
  limits,
  type Operation,
  operations,
  type UpstreamLimits,
} from '../../lib/catalogue/index.ts';
import { limitsText, stricterFigures, tighterLimits } from '../../lib/catalogue/limits.ts';
import {
  createLimiter,
  createMemoryLimiterStore,
  endpointKinds,
  endpointLimitsOf,
  limiterLimits,
  limitPresets,
  type OperationLimits,
  operationLimitsFault,
  upstreamLimitsFault,
} from '../../lib/gateway/index.ts';
import { limitsOf } from '../../lib/gateway/limits/operation-limits.ts';

const preset = fc.constantFrom(...(Object.keys(limitPresets) as (keyof typeof limitPresets)[]));
const figures = fc.record({
  requests: fc.integer({ min: 1, max: 1000 }),
  perSeconds: fc.integer({ min: 1, max: 600 }),
});
const own: fc.Arbitrary<UpstreamLimits> = fc.dictionary(fc.constantFrom(...endpointKinds), figures, {
  noNullPrototype: true,
}) as fc.Arbitrary<EndpointLimits>;
const upstreamLimits = fc.oneof(preset, own);
const narrow = { requests: 10, perSeconds: 60 };
const operationLimits = fc.constantFrom<OperationLimits>(
  {},
  { trading: { ...narrow, for: ['orders'] } },
  { bars: { ...narrow, for: ['market-data'], within: 'market-data' } },
  {
    placing: { ...narrow, for: ['placeOrder'] },
    accounts: { ...narrow, for: ['accounts'] },
    lists: { ...narrow, for: ['instruments'], within: 'instruments' },
  },
);
const operation = fc.constantFrom<Operation>(...operations);
const byId = (id: string) => operations.find((one) => one.id === id)!;

describe('any operation, under any choice and with any limits of the deployer', () => {
  test('counts against limits that the limiter has, the first of which holds all others', async () => {
    await fc.assert(
      fc.asyncProperty(
        upstreamLimits,
        operationLimits,
        operation,
        fc.boolean(),
        async (given, narrowOnes, one, callers) => {
          assert.equal(operationLimitsFault(narrowOnes, operations, given), undefined);
          const names = limitsOf(one, { operationLimits: narrowOnes, upstreamLimits: given }, callers);
          if (!names) return;
          const all = limiterLimits(narrowOnes, 1, { upstreamLimits: given, operations: [one] });
          const limiter = createLimiter({ store: createMemoryLimiterStore(), limits: all, bucket: 'test' });
          // It throws for limits that it does not have, or that are not within the first.
          assert.equal((await limiter.acquire({ appKey: 'k', limits: names })).ok, true, names.join());
        },
      ),
    );
  });

  test('counts against its endpoint’s figures and against those of the interface text, whichever are stricter', () => {
    fc.assert(
      fc.property(upstreamLimits, operationLimits, operation, (given, narrowOnes, one) => {
        const names: readonly string[] =
          limitsOf(one, { operationLimits: narrowOnes, upstreamLimits: given }) ?? [];
        const all = limiterLimits(narrowOnes, 1, { upstreamLimits: given, operations });
        const isKept = (asked: { readonly requests: number; readonly perSeconds: number } | undefined) =>
          !asked ||
          names.some(
            (name) => all[name]!.requests === asked.requests && all[name]!.perSeconds === asked.perSeconds,
          );
        const kind = one.limit ?? one.endpointKind;
        assert.ok(isKept(kind && endpointLimitsOf(given)[kind]), `${one.id}: ${names}`);
        if (one.limit === 'market-data') assert.ok(isKept(limits['market-data']));
        if (one.limit === 'instruments') assert.ok(names.includes('instruments-callers'));
      }),
    );
  });

  test('shares its counter with its older form, and with no other operation', () => {
    fc.assert(
      fc.property(upstreamLimits, operation, operation, (given, one, other) => {
        const endpointOf = (of: Operation) =>
          limitsOf(of, { operationLimits: {}, upstreamLimits: given })?.find((name) =>
            name.startsWith('endpoint.'),
          );
        const isSame = (one.legacyOf ?? one.id) === (other.legacyOf ?? other.id);
        if (isSame) assert.equal(endpointOf(one), endpointOf(other));
        else if (endpointOf(one)) assert.notEqual(endpointOf(one), endpointOf(other));
      }),
      { examples: [['published', byId('legacyListOpenOrders'), byId('listOpenOrders')]] },
    );
  });
});

describe('the tighter choice', () => {
  test('keeps all that the choice keeps, for every kind, and each step is another choice until there is none', () => {
    fc.assert(
      fc.property(upstreamLimits, (given) => {
        const seen = new Set([limitsText(given)]);
        for (
          let [one, next] = [given, tighterLimits(given)];
          next;
          [one, next] = [next, tighterLimits(next)]
        ) {
          assert.ok(!seen.has(limitsText(next)), limitsText(next));
          seen.add(limitsText(next));
          assert.equal(upstreamLimitsFault(next), undefined);
          for (const kind of endpointKinds) {
            const [before, after] = [endpointLimitsOf(one)[kind], endpointLimitsOf(next)[kind]];
            assert.ok(after, kind);
            // In the longest stretch that begins with both windows, as many as both allow.
            if (before)
              assert.ok(after.requests * Math.ceil(before.perSeconds / after.perSeconds) <= before.requests);
          }
        }
        assert.ok(seen.size <= 3);
      }),
    );
  });

  test('of figures: the stricter of them and the published ones', () => {
    const first = { 'market-data': { requests: 120, perSeconds: 60 }, token: { requests: 1, perSeconds: 1 } };
    assert.deepEqual(tighterLimits(first), {
      ...limitPresets.published,
      token: { requests: 1, perSeconds: 1 },
    });
    assert.deepEqual(tighterLimits(tighterLimits(first)!), {
      ...limitPresets['published-sandbox'],
      token: { requests: 1, perSeconds: 1 },
    });
    assert.equal(tighterLimits(limitPresets['published-sandbox']), undefined);
    // Neither keeps the other: 100 in 200 s may all come within the minute of the 60.
    assert.deepEqual(stricterFigures({ requests: 100, perSeconds: 200 }, { requests: 60, perSeconds: 60 }), {
      requests: 60,
      perSeconds: 200,
    });
  });
});

test('the interface’s limits are those of a limiter that names no choice', () => {
  assert.deepEqual(limiterLimits({}, 1, { upstreamLimits: 'interface', operations }), limiterLimits());
});

test('the presets: which figures each operation counts against', () => {
  const rows = (given: UpstreamLimits) =>
    [
      'getStockSnapshots',
      'listStockInstruments',
      'placeOrder',
      'getOrder',
      'listAccounts',
      'createToken',
      'previewOrder',
    ].map((id) => {
      const all = limiterLimits({}, 1, { upstreamLimits: given, operations });
      const names = limitsOf(byId(id), { operationLimits: {}, upstreamLimits: given }) ?? [];
      return `${id} ${names.map((name) => `${all[name]!.requests}/${all[name]!.perSeconds}`).join(' ')}`;
    });
  assert.deepEqual(rows('published'), [
    'getStockSnapshots 300/60 60/60',
    'listStockInstruments 60/60 45/60',
    'placeOrder 600/60',
    'getOrder 2/2',
    'listAccounts 6/60',
    'createToken 10/10',
    'previewOrder ',
  ]);
  assert.deepEqual(rows('published-sandbox').slice(0, 2), [
    'getStockSnapshots 300/60 30/60',
    'listStockInstruments 30/60 23/60',
  ]);
});

test('what is no choice is refused in words', () => {
  for (const [given, words] of [
    ['vendor', /^not interface, published, published-sandbox or an object of limits$/],
    [null, /^not interface/],
    [[], /^not interface/],
    [{ orders: narrow }, /^"orders" is none of market-data,/],
    [{ token: { requests: 0, perSeconds: 1 } }, /^token needs requests, from 1/],
    [{ token: null }, /^token needs requests/],
  ] as const)
    assert.match(upstreamLimitsFault(given) ?? '', words);
});

test('a deployer’s limit that is for an older form and not for its operation is refused where both have one counter', () => {
  const given = { queries: { ...narrow, for: ['legacyListOpenOrders'] } };
  assert.equal(operationLimitsFault(given, operations), undefined);
  assert.match(
    operationLimitsFault(given, operations, 'published') ?? '',
    /^queries must be for listOpenOrders and its older form/,
  );
});
