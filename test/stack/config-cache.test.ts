/** What may be configured for many clients: plans by tier, shared answers, instances that are kept free. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { FunctionName } from '../../functions/rows.ts';
import { resolveConfig } from '../../infra/stack/resolve-config.ts';
import { appPlan } from '../../lib/catalogue/index.ts';
import { testRefusals } from './refusals.ts';
import { baseUrl } from './synthesise.ts';

const upstream = { baseUrl, limits: 'interface' } as const;

test('a plan of the tier app has room for ten thousand phones under one key', () => {
  const { plans } = resolveConfig({
    upstream,
    plans: { app: { tier: 'app', keys: ['ios', 'android'] }, team: { tier: 'upstream' } },
  });
  const [byDefault, app, team] = plans;
  assert.deepEqual(app, { name: 'app', ...appPlan, keys: ['ios', 'android'] });
  assert.deepEqual({ ...team, name: 'default' }, byDefault);
});

test('an instance is kept free for each order, and for others where it is wanted', () => {
  const groups = { accounts: 'iam', orders: 'iam', watchlists: 'iam' } as const;
  const reservedBy = (reservedConcurrency: Partial<Record<FunctionName, number | 'none'>>) =>
    resolveConfig({ upstream, groups, functions: { reservedConcurrency } }).functions.reservedConcurrency;
  assert.deepEqual(reservedBy({}), { orders: 10, 'order-cancels': 5, watchlists: 10 });
  assert.deepEqual(reservedBy({ orders: 25, watchlists: 'none', 'market-data': 500 }), {
    orders: 25,
    'order-cancels': 5,
    'market-data': 500,
  });
  assert.deepEqual(reservedBy({ 'order-cancels': 20, 'order-reads': 3, watchlists: 'none' }), {
    orders: 10,
    'order-cancels': 20,
    'order-reads': 3,
  });
  // An account that has none to reserve for orders has none for cancels, unless it is said.
  assert.deepEqual(reservedBy({ orders: 'none' }), { watchlists: 10 });
  assert.deepEqual(reservedBy({ orders: 'none', 'order-cancels': 5 }), {
    'order-cancels': 5,
    watchlists: 10,
  });
});

test('the cache: off, or what functions take of it', () => {
  assert.equal(resolveConfig({ upstream, cache: 'off' }).cache, 'off');
  const cache = {
    snapshots: { staleAfterSeconds: 10, expireAfterSeconds: 60 },
    clients: { minMaxAgeSeconds: 0, refreshesPerMinute: 0 },
    networkPrefix: { ipv6: 48 },
  };
  assert.deepEqual(resolveConfig({ upstream, cache }).cache, {
    tuning: { staleAfterMs: 10_000, expireAfterMs: 60_000, minMaxAgeMs: 0, refreshesPerMinute: 0 },
    networkPrefix: { ipv4: 24, ipv6: 48 },
  });
});

testRefusals([
  [
    'a cache that is on',
    { upstream, cache: 'on' },
    /^cache takes off, or an object, such as \{ snapshots: \{ staleAfterSeconds: 30 \} \}\.$/,
  ],
  [
    'a cache: null',
    { upstream, cache: null },
    /^cache takes off, or an object, such as \{ snapshots: \{ staleAfterSeconds: 30 \} \}\.$/,
  ],
  [
    'a cache: false',
    { upstream, cache: false },
    /^cache takes off, or an object, such as \{ snapshots: \{ staleAfterSeconds: 30 \} \}\.$/,
  ],
  ['another property', { upstream, cache: { off: true } }, /^cache\.off is not a property/],
  [
    'snapshots older than the refresh log',
    { upstream, cache: { snapshots: { expireAfterSeconds: 301 } } },
    /^cache\.snapshots\.expireAfterSeconds takes a whole number from 1 to 300\.$/,
  ],
  [
    'snapshots that expire before they are stale',
    { upstream, cache: { snapshots: { expireAfterSeconds: 20 } } },
    /^cache\.snapshots\.staleAfterSeconds \(30\) must not be more than cache\.snapshots\.expireAfterSeconds \(20\)/,
  ],
  [
    'half a second',
    { upstream, cache: { clients: { minMaxAgeSeconds: 0.5 } } },
    /^cache\.clients\.minMaxAgeSeconds takes a whole number from 0 to 300\.$/,
  ],
  [
    'a longer prefix than the address',
    { upstream, cache: { networkPrefix: { ipv4: 33 } } },
    /^cache\.networkPrefix\.ipv4 takes a whole number from 0 to 32\.$/,
  ],
  [
    'more refreshes than there are',
    { upstream, cache: { clients: { refreshesPerMinute: 301 } } },
    /^cache\.clients\.refreshesPerMinute takes a whole number from 0 to 300\.$/,
  ],
  [
    'a reserved 0, which would stop the function',
    { upstream, groups: { orders: 'iam' }, functions: { reservedConcurrency: { orders: 0 } } },
    /^functions\.reservedConcurrency\.orders takes a whole number from 1 to 1000\.$/,
  ],
  [
    'some reserved instances in one word',
    { upstream, functions: { reservedConcurrency: 'some' } },
    /^functions\.reservedConcurrency takes none, or an object with a number or none for each function, such as \{ orders: 10 \}\.$/,
  ],
  [
    'some reserved',
    { upstream, functions: { reservedConcurrency: { 'market-data': 'some' } } },
    /^functions\.reservedConcurrency\.market-data takes a whole number from 1 to 1000, or none\.$/,
  ],
  [
    'instances for a closed group',
    { upstream, functions: { reservedConcurrency: { orders: 5 } } },
    /^functions\.reservedConcurrency\.orders is for a group that is not open/,
  ],
  [
    'instances for cancels of a closed group',
    { upstream, functions: { reservedConcurrency: { 'order-cancels': 5 } } },
    /^functions\.reservedConcurrency\.order-cancels is for a group that is not open/,
  ],
  [
    'instances for tokens',
    { upstream, functions: { reservedConcurrency: { auth: 5 } } },
    /^functions\.reservedConcurrency\.auth is not a property/,
  ],
  [
    'another tier',
    { upstream, plans: { app: { tier: 'phone' } } },
    /^plans\.app\.tier takes one of upstream, app\.$/,
  ],
  [
    'a tier and figures',
    { upstream, plans: { app: { tier: 'app', ratePerSecond: 1, burst: 1 } } },
    /^plans\.app takes a tier or figures of its own, not both\.$/,
  ],
]);
