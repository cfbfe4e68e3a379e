/** A view's id names all that its calls ask for beside symbols, and ids in stored items stay what they are. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { plainId, viewOf, viewOfId } from '../../lib/cache/snapshots/view.ts';

type Query = readonly (readonly [name: string, value: string])[];

test('ids in stored items stay what they are', () => {
  const flags = (extended: string, overnight: string): Query => [
    ['category', 'US_STOCK'],
    ['symbols', 'A,B'],
    ['extend_hour_required', extended],
    ['overnight_required', overnight],
  ];
  assert.equal(viewOf([['category', 'US_ETF']]).id, 'US_ETF');
  assert.equal(viewOf(flags('false', 'false')).id, 'US_STOCK');
  assert.equal(viewOf(flags('true', 'false')).id, 'US_STOCK+e');
  assert.equal(viewOf(flags('false', 'true')).id, 'US_STOCK+o');
  const view = viewOf(flags('true', 'true'));
  assert.deepEqual(view, {
    id: 'US_STOCK+eo',
    category: 'US_STOCK',
    query: [
      ['category', 'US_STOCK'],
      ['extend_hour_required', 'true'],
      ['overnight_required', 'true'],
    ],
  });
  assert.equal(plainId(view.id), 'US_STOCK');
});

test('other parameters are part of the id, in an order of their own', () => {
  const query: Query = [
    ['symbols', 'A'],
    ['depth', '5'],
    ['overnight_required', 'true'],
    ['category', 'US_STOCK'],
    ['a/b', 'x;y=z+1'],
  ];
  const view = viewOf(query);
  assert.equal(view.id, 'US_STOCK+o;a%002fb=x%003by%003dz%002b1;depth=5');
  assert.deepEqual(viewOf(query.toReversed()), view);
  assert.equal(plainId(view.id), 'US_STOCK;a%002fb=x%003by%003dz%002b1;depth=5');
});

const text = fc.oneof(
  fc.constantFrom(
    'true',
    'false',
    '',
    'US_STOCK',
    'US_STOCK+e',
    'a=b',
    ';',
    '+eo',
    '%',
    '%003b',
    '__proto__',
  ),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('+', ';', '=', '/', '%', 'e', 'o', '\n', '\ud800') }),
);
const name = fc.oneof(
  fc.constantFrom('category', 'extend_hour_required', 'overnight_required', 'symbols', 'depth'),
  text,
);
const parameters = fc.uniqueArray(fc.tuple(name, text), { selector: ([one]) => one, maxLength: 5 });

/** What a query asks of the upstream beside symbols, whatever its order. */
const meaning = (query: Query) =>
  JSON.stringify(
    query
      .filter(([one]) => one !== 'symbols')
      .filter(([one, value]) => !(/^(extend_hour|overnight)_required$/.test(one) && value === 'false'))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

test('two queries share an id only if they ask the same', () => {
  fc.assert(
    fc.property(parameters, parameters, (one, other) => {
      assert.equal(viewOf(one).id === viewOf(other).id, meaning(one) === meaning(other));
    }),
    { numRuns: 1500 },
  );
  fc.assert(
    fc.property(parameters, (query) => {
      const view = viewOf(query);
      assert.deepEqual(viewOfId(view.id), view);
      assert.equal(meaning(view.query), meaning(query));
      // Keys of pending misses are cut at slashes.
      assert.doesNotMatch(view.id, /[/\n]/);
    }),
    { numRuns: 1500 },
  );
});
