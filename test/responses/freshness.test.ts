/** Which operations share answers, for how long, and when two requests are one. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { freshnessFor, responseKey } from '../../lib/cache/responses/index.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import { operations } from '../../lib/catalogue/index.ts';

const shared = ['market-data', 'screeners', 'instruments', 'fundamentals'];

/** Reads of account data whose answers equal requests share. */
const ofAccounts = [
  'listAccounts',
  'getAccountBalance',
  'listAccountPositions',
  'getOrder',
  'listOpenOrders',
  'listOrderHistory',
  'legacyListOpenOrders',
  'legacyListOrderHistory',
  'listWatchlists',
  'listWatchlistInstruments',
];

test('what is the same for every caller has a freshness, and of accounts what is named here; what changes them, never', () => {
  for (const { id, group, sideEffect, freshness } of operations) {
    const has = shared.includes(group) || ofAccounts.includes(id);
    assert.equal(freshness !== undefined, has && !sideEffect, id);
    assert.equal(isAccountData(group), ['accounts', 'orders', 'watchlists'].includes(group), id);
  }
});

test('a parameter that decides names values that the operation knows', () => {
  for (const { id, freshness, query } of operations) {
    const by = typeof freshness === 'object' ? freshness.by : undefined;
    const allowed = by && query[by.parameter]?.json.enum;
    for (const value of allowed ?? []) assert.ok(Object.hasOwn(by!.seconds, value), `${id}: ${value}`);
  }
});

test('what is shared by symbol asks for symbols', () => {
  const bySymbol = operations.filter(({ freshness }) => freshness === 'by-symbol');
  assert.deepEqual(
    bySymbol.map(({ id, query }) => [id, query.symbols?.required, query.category?.required]),
    [['getStockSnapshots', true, true]],
  );
});

test('freshness by a parameter, and staleness in proportion', () => {
  const freshness = { seconds: 5, staleSeconds: 10, by: { parameter: 'timespan', seconds: { D: 30 } } };
  assert.deepEqual(freshnessFor(freshness, { timespan: 'D' }), { freshMs: 30_000, staleMs: 60_000 });
  assert.deepEqual(freshnessFor(freshness, { timespan: 'toString' }), { freshMs: 5000, staleMs: 10_000 });
  assert.deepEqual(freshnessFor({ seconds: 2 }, {}), { freshMs: 2000, staleMs: 0 });
});

test('requests that mean the same have one key, others their own', async () => {
  const key = await responseKey(
    'a',
    [
      ['x', '1'],
      ['y', '2'],
    ],
    '',
  );
  assert.equal(
    await responseKey(
      'a',
      [
        ['y', '2'],
        ['x', '1'],
      ],
      '',
    ),
    key,
  );
  const others = await Promise.all([
    responseKey(
      'b',
      [
        ['x', '1'],
        ['y', '2'],
      ],
      '',
    ),
    responseKey(
      'a',
      [
        ['x', '1'],
        ['y', '3'],
      ],
      '',
    ),
    responseKey('a', [['x', '1']], ''),
    responseKey(
      'a',
      [
        ['x', '1'],
        ['y', '2'],
      ],
      '{}',
    ),
    responseKey(
      'a',
      [
        ['x', '1","y'],
        ['y', '2'],
      ],
      '',
    ),
  ]);
  assert.equal(new Set([...others, key]).size, 6);
  assert.match(key, /^a#[0-9a-f]{32}$/);
});
