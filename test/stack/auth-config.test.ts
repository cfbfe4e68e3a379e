/** Whose access tokens are accepted: what is missing or weak is refused at synth. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { resolveConfig } from '../../infra/stack/resolve-config.ts';
import { authSettingsFaults } from '../../lib/access/auth-settings.ts';
import { type Refusals, testRefusals } from './refusals.ts';
import { baseUrl } from './synthesise.ts';

const upstream = { baseUrl, limits: 'interface' } as const;
const issuer = 'https://issuer.example/pool';
const auth = { issuer, clientIds: ['app'] } as const;
const groups = { orders: 'jwt' } as const;
const loopback = { ...upstream, allowLoopback: true } as const;

test('an issuer and its apps are enough, as Cognito’s tokens name no audience', () => {
  const resolved = resolveConfig({ upstream, groups, auth });
  assert.deepEqual(resolved.auth, auth);
  assert.equal(resolved.authorizerConcurrency, 10);
  assert.deepEqual(authSettingsFaults(resolved.auth), []);
});

test('one text stands for a list of one, and all is passed on as functions read it', () => {
  const { auth: resolved } = resolveConfig({
    upstream,
    groups,
    auth: {
      issuer,
      audience: 'https://api.example',
      scopes: { read: 'quotes.read', trade: ['orders.write', 'orders.admin'] },
      accountsClaim: 'custom:accounts',
      jwksUri: 'https://keys.example/jwks.json',
    },
  });
  assert.deepEqual(resolved, {
    issuer,
    audience: ['https://api.example'],
    scopes: { read: ['quotes.read'], trade: ['orders.write', 'orders.admin'] },
    accountsClaim: 'custom:accounts',
    jwksUri: 'https://keys.example/jwks.json',
  });
  assert.deepEqual(authSettingsFaults(resolved), []);
});

test('the authorizer’s instances: the deployer’s, none in an account without room, and none without it', () => {
  const concurrency = (more: object) =>
    resolveConfig({ upstream, groups, auth, ...more }).authorizerConcurrency;
  assert.equal(concurrency({ auth: { ...auth, reservedConcurrency: 3 } }), 3);
  assert.equal(concurrency({ auth: { ...auth, reservedConcurrency: 'none' } }), undefined);
  assert.equal(concurrency({ functions: { reservedConcurrency: 'none' } }), undefined);
  assert.equal(concurrency({ groups: { orders: 'bound-key' } }), undefined);
});

test('keys that are bound need no issuer, and take tokens of one', () => {
  assert.equal(resolveConfig({ upstream, groups: { orders: 'bound-key' } }).auth, undefined);
  assert.deepEqual(resolveConfig({ upstream, groups: { orders: 'bound-key' }, auth }).auth, auth);
});

test('an emulator’s issuer may be http on loopback', () => {
  const local = { issuer: 'http://127.0.0.1:9000', clientIds: ['app'] };
  assert.equal(resolveConfig({ upstream: loopback, groups, auth: local }).auth?.issuer, local.issuer);
});

test('the throttle has defaults, and takes figures', () => {
  assert.deepEqual(resolveConfig({ upstream }).throttle, { ratePerSecond: 100, burst: 200 });
  assert.deepEqual(resolveConfig({ upstream, throttle: { ratePerSecond: 5 } }).throttle, {
    ratePerSecond: 5,
    burst: 200,
  });
});

const refused: Refusals = [
  ['tokens without an issuer', { upstream, groups }, /^groups\.orders opens with jwt, so auth must say/],
  [
    'market facts by token without an issuer',
    { upstream, groups: { 'market-data': 'jwt' } },
    /^groups\.market-data opens with jwt/,
  ],
  [
    'neither audience nor apps',
    { upstream, groups, auth: { issuer } },
    /^auth must have audience, clientIds/,
  ],
  ['no issuer', { upstream, groups, auth: { clientIds: ['app'] } }, /^auth\.issuer /],
  [
    'an issuer over http',
    { upstream, groups, auth: { ...auth, issuer: 'http://issuer.example' } },
    /^auth\.issuer cannot be used: use https/,
  ],
  [
    'an issuer over http, for an emulator',
    { upstream: loopback, groups, auth: { ...auth, issuer: 'http://issuer.example' } },
    /^auth cannot be used: issuer: not https; http is for loopback/,
  ],
  [
    'an issuer on loopback that is for no emulator',
    { upstream, groups, auth: { ...auth, issuer: 'http://127.0.0.1:9000' } },
    /^auth\.issuer cannot be used: use https/,
  ],
  [
    'keys over http',
    { upstream, groups, auth: { ...auth, jwksUri: 'http://127.0.0.1:9000/jwks' } },
    /^auth\.jwksUri cannot be used: use https|^auth cannot be used: jwksUri/,
  ],
  ['a query', { upstream, groups, auth: { ...auth, issuer: `${issuer}?a=b` } }, /^auth .* issuer: a query/],
  [
    'a fragment',
    { upstream, groups, auth: { ...auth, issuer: `${issuer}#a` } },
    /^auth .* issuer: a query, fragment/,
  ],
  [
    'credentials',
    { upstream, groups, auth: { ...auth, issuer: 'https://a:b@issuer.example' } },
    /^auth cannot be used: issuer: credentials/,
  ],
  [
    'an empty list of apps',
    { upstream, groups, auth: { issuer, clientIds: [] } },
    /^auth .* clientIds: not a/,
  ],
  [
    'an empty audience',
    { upstream, groups, auth: { issuer, audience: '' } },
    /^auth .* audience: not a list/,
  ],
  [
    'an app that is the audience, as of ID tokens',
    { upstream, groups, auth: { issuer, audience: 'app', clientIds: ['app'] } },
    /^auth cannot be used: audience, clientIds: a value stands in both/,
  ],
  [
    'a scope that no operation has',
    { upstream, groups, auth: { ...auth, scopes: { admin: ['a'] } } },
    /^auth\.scopes\.admin is not a property/,
  ],
  [
    'a scope that nothing gives',
    { upstream, groups, auth: { ...auth, scopes: { trade: [] } } },
    /^auth cannot be used: scopes: not a list/,
  ],
  [
    'an issuer for groups without tokens',
    { upstream, groups: { orders: 'iam' }, auth },
    /^auth is of no use: no group opens with jwt or bound-key\.$/,
  ],
  [
    'market facts by bound key',
    { upstream, groups: { 'market-data': 'bound-key' } },
    /^groups\.market-data takes one of api-key, jwt, iam, closed\.$/,
  ],
  [
    'half an instance',
    { upstream, groups, auth: { ...auth, reservedConcurrency: 0 } },
    /^auth\.reservedConc/,
  ],
  ['a throttle of nothing', { upstream, throttle: { ratePerSecond: 0 } }, /^throttle\.ratePerSecond takes/],
];

testRefusals(refused);
