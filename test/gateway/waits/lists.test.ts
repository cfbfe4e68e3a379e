/** A list of a query that comes as several parameters of one name, as many generated clients write an array. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { responseKey } from '../../../lib/cache/responses/request.ts';
import { operations } from '../../../lib/catalogue/index.ts';
import { checkQuery } from '../../../lib/catalogue/validation.ts';
import {
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  limiterLimits,
} from '../../../lib/gateway/index.ts';
import { ask, coreFor, problemOf, snapshotPath } from '../../support/core.ts';
import { each } from '../../support/each.ts';
import { useCalmTime } from '../../world/test-time.ts';

useCalmTime();

const lists = operations.flatMap((operation) =>
  Object.entries(operation.query).flatMap(([name, { list, json }]) =>
    list ? [{ operation, name, maxItems: list.maxItems ?? 200, values: json.enum }] : [],
  ),
);

/** A good list of an operation, in any split over several parameters, among the others of its example. */
const split = fc.constantFrom(...lists).chain(({ operation, name, maxItems, values }) => {
  const others = Object.entries(operation.example.query ?? {}).filter(([other]) => other !== name);
  const item = values ? fc.constantFrom(...values) : fc.stringMatching(/^[A-Z0-9]{1,5}( [A-Z])?$/);
  return fc.record({
    operation: fc.constant(operation),
    name: fc.constant(name),
    others: fc.constant(others),
    items: fc.array(item, { minLength: 1, maxLength: Math.min(maxItems, 8) }),
    cuts: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    places: fc.array(fc.nat(others.length), { minLength: 8, maxLength: 8 }),
  });
});

describe('a list as several parameters', () => {
  test('is the list in one parameter, for every list, split and order of the other parameters', async () => {
    let splits = 0;
    await fc.assert(
      fc.asyncProperty(split, async ({ operation, name, others, items, cuts, places }) => {
        const parts: string[] = [];
        for (const [at, item] of items.entries())
          if (at === 0 || cuts[at]) parts.push(item);
          else parts.push(`${parts.pop()},${item}`);
        if (parts.length > 1) splits++;
        const given: [string, string][] = [...others];
        // Each goes somewhere behind the one before it.
        let after = 0;
        for (const [at, part] of parts.entries()) {
          const place = Math.max(after, Math.min(places[at] ?? 0, given.length));
          given.splice(place, 0, [name, part]);
          after = place + 1;
        }
        const several = checkQuery(operation, given);
        const one = checkQuery(operation, [...others, [name, items.join(',')]]);
        assert.deepEqual(several.errors, []);
        assert.deepEqual(new Map(several.pairs), new Map(one.pairs));
        assert.equal(several.pairs.length, one.pairs.length);
        // The response cache knows them as one request.
        const keyOf = ({ pairs }: typeof one) => responseKey(operation.id, pairs, '');
        assert.equal(await keyOf(several), await keyOf(one));
      }),
      { numRuns: 500 },
    );
    assert.ok(splits > 100, `${splits} lists were split`);
  });

  const errorOf = (query: readonly (readonly [string, string])[]) =>
    checkQuery(lists.find(({ operation }) => operation.path === snapshotPath)!.operation, [
      ['category', 'US_STOCK'],
      ...query,
    ]).errors.map(({ name, detail }) => `${name}: ${detail}`);

  for (const [what, values] of [
    ['an empty one', ['AAPL', '']],
    ['an empty one first', ['', 'AAPL']],
    ['none but empty ones', ['', '']],
    ['one that ends in a comma', ['AAPL,', 'MSFT']],
    ['one with a space before its value', ['AAPL', ' MSFT']],
  ] as const)
    test(`is refused with ${what}`, () => {
      assert.deepEqual(errorOf(values.map((value) => ['symbols', value])), ['symbols: not an allowed value']);
    });

  test('may have as many items as the list in one parameter', () => {
    const many = (count: number) =>
      errorOf(Array.from({ length: count }, (_, at) => ['symbols', `S${at}`] as const));
    assert.deepEqual(many(100), []);
    assert.deepEqual(many(101), ['symbols: not an allowed value']);
    assert.deepEqual(errorOf([...Array(60)].map(() => ['symbols', 'A,B'] as const)), [
      'symbols: not an allowed value',
    ]);
  });

  test('cannot bring in what the signature cannot carry', () => {
    for (const value of ['A&B', '\ud800'])
      assert.equal(errorOf(['A', value].map((one) => ['symbols', one] as const)).length, 1);
  });
});

const several = `${snapshotPath}?symbols=MSFT&category=US_STOCK&symbols=AAPL,NVDA&symbols=GOOGL`;
const one = `${snapshotPath}?symbols=MSFT,AAPL,NVDA,GOOGL&category=US_STOCK`;

test('the strict upstream gets one parameter, in the order asked', async (t) => {
  const { gateway, simulator } = await coreFor(t);
  const { status, text } = await ask(gateway, several);
  assert.equal(status, 200, text);
  assert.equal(decodeURIComponent(simulator.received[0]?.target ?? ''), one);
  assert.deepEqual(each(JSON.parse(text) as { symbol: string }[], 'symbol'), [
    'MSFT',
    'AAPL',
    'NVDA',
    'GOOGL',
  ]);
});

test('both forms share their cached answer', async (t) => {
  const limiter = createLimiter({
    store: createMemoryLimiterStore(),
    limits: limiterLimits(),
    bucket: 'test',
  });
  const { gateway, simulator } = await coreFor(t, {}, { limiter, cache: createMemoryCacheStores() });
  const profiles = (symbols: string) =>
    `/trading/instruments/stocks/profiles/list?category=US_STOCK&${symbols}`;
  const first = await ask(gateway, profiles('symbols=AAPL&symbols=MSFT'));
  assert.equal(first.status, 200, first.text);
  const sent = simulator.received.length;
  const second = await ask(gateway, profiles('symbols=AAPL,MSFT'));
  assert.equal(second.text, first.text);
  assert.match(second.headers['cache-status'] ?? '', /; hit/);
  assert.equal(simulator.received.length, sent);
});

test('a parameter that is no list comes once', async (t) => {
  const { gateway } = await coreFor(t);
  const { errors } = problemOf(await ask(gateway, `${one}&category=US_STOCK`));
  assert.deepEqual(
    errors?.map(({ name, detail }) => [name, detail]),
    [['category', 'given more than once']],
  );
});
