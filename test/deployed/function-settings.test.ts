/** What a function's environment must say, and what it makes of it. The stack's schemas have checked each value. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { readFunctionSettings } from '../../functions/settings/function-settings.ts';
import { type Environment, writePart } from '../../functions/settings/parts.ts';
import {
  getStockSnapshots,
  listAccounts,
  type Operation,
  operations,
  placeOrder,
  previewOrder,
} from '../../lib/catalogue/index.ts';
import { part, parts } from '../support/parts.ts';

const known = parts('UPSTREAM', 'ACCESS');
const limited = { ...known, ...parts('LIMITER') };

const settingsOf = (env: Environment, ...offered: readonly Operation[]) => {
  const read = readFunctionSettings(env, offered);
  assert.ok(read.ok, JSON.stringify(read));
  return read.settings;
};
const faultsOf = (env: Environment, ...offered: readonly Operation[]) => {
  const read = readFunctionSettings(env, offered);
  return read.ok ? [] : read.faults;
};

test('one variable is enough', () => {
  assert.deepEqual(settingsOf(parts('UPSTREAM')), {
    upstreamBaseUrl: 'https://upstream.example',
    upstreamPaths: {},
    secretId: 'secret',
    upstreamTimeoutMs: undefined,
    corsOrigins: [],
    limiter: undefined,
    cache: undefined,
    access: undefined,
    journalTable: undefined,
    lastPrices: undefined,
    guard: undefined,
  });
});

test('a part is read as it was written', () => {
  const settings = settingsOf({
    ...part('UPSTREAM', { paths: { placeOrder: '/moved' }, timeoutMs: 2500 }),
    ...writePart('CORS', ['https://app.example', 'capacitor://localhost']),
    ...part('CACHE', { tuning: { staleAfterMs: 10_000, refreshesPerMinute: 0 } }),
  });
  assert.deepEqual(settings.upstreamPaths, { placeOrder: '/moved' });
  assert.equal(settings.upstreamTimeoutMs, 2500);
  assert.deepEqual(settings.corsOrigins, ['https://app.example', 'capacitor://localhost']);
  assert.deepEqual(settings.cache?.tuning, { staleAfterMs: 10_000, refreshesPerMinute: 0 });
  assert.equal(settingsOf({ ...known, ...writePart('CORS', '*') }).corsOrigins, '*');
});

test('a function has a limiter when its operations count against a limit; then it needs a table', () => {
  const { limiter } = settingsOf(limited, getStockSnapshots);
  assert.deepEqual(
    [limiter?.tableName, limiter?.share, limiter?.reserve, limiter?.upstreamLimits],
    ['limiter', 1, undefined, 'interface'],
  );
  assert.equal(settingsOf(limited, previewOrder).limiter, undefined);
  assert.deepEqual(faultsOf(known, ...operations), ['LIMITER: not set']);
  const limits = { trading: { requests: 10, perSeconds: 1, for: ['orders'] } };
  const named = settingsOf({ ...known, ...part('LIMITER', { operationLimits: limits }) }, placeOrder);
  assert.deepEqual(named.limiter?.operationLimits, limits);
});

test('what the upstream allows decides which functions count', () => {
  const published = part('UPSTREAM', { limits: 'published' });
  assert.equal(settingsOf({ ...limited, ...published }, placeOrder).limiter?.upstreamLimits, 'published');
  assert.deepEqual(faultsOf({ ...known, ...published }, placeOrder), ['LIMITER: not set']);
  // Tighter limits may count them later, where the deployment has given them the table.
  assert.equal(settingsOf(limited, placeOrder).limiter?.upstreamLimits, 'interface');
  assert.equal(settingsOf(known, placeOrder).limiter, undefined);
});

test('account data is for callers who are known, and so are entries of the journal', () => {
  assert.deepEqual(faultsOf(parts('UPSTREAM'), listAccounts), ['ACCESS: not set']);
  assert.deepEqual(faultsOf(parts('UPSTREAM', 'LIMITER', 'JOURNAL'), placeOrder), ['ACCESS: not set']);
  const auth = { issuer: 'https://issuer.example', audience: 'api' };
  const { access } = settingsOf({ ...known, ...writePart('AUTH', auth) }, listAccounts);
  assert.deepEqual(access, {
    tableName: 'users',
    identityKeySecretId: 'identity-key',
    userGroups: [],
    auth,
  });
});

test('whose tokens count is checked once more', () => {
  const faults = faultsOf(
    { ...known, ...writePart('AUTH', { issuer: 'http://canary.example' }) },
    listAccounts,
  );
  assert.match(faults.join(), /^AUTH: /);
  assert.doesNotMatch(faults.join(), /canary/);
});

test('a variable that is missing or no JSON is named once, and its text not repeated', () => {
  const faults = faultsOf({ UPSTREAM: '', LIMITER: 'canary', CORS: '{canary' }, ...operations);
  assert.deepEqual(faults, ['ACCESS: not set', 'UPSTREAM: not set', 'CORS: not JSON', 'LIMITER: not JSON']);
});
