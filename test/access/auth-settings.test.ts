/** The settings of access tokens: which are refused, by the verifier, by a function and by the stack alike. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { authorizer } from '../../functions/compose/functions.ts';
import { authSettingsFaults, createTokenVerifier } from '../../lib/access/index.ts';

const least = { issuer: 'https://issuer.example.com', audience: 'https://api.example.com' };

const good: Readonly<Record<string, object>> = {
  'issuer and audience': least,
  'issuer and apps': { issuer: least.issuer, clientIds: ['app-1', 'app-2'] },
  everything: {
    ...least,
    audience: ['a', 'b'],
    clientIds: ['app-1'],
    scopes: { read: ['orders.read'], trade: ['orders.write', 'admin'], write: ['w'] },
    accountsClaim: 'https://example.com/accounts',
    jwksUri: 'https://keys.example.com/jwks.json',
    algorithms: ['RS256', 'EdDSA'],
  },
  'an issuer on loopback': {
    ...least,
    issuer: 'http://127.0.0.1:4011',
    jwksUri: 'http://localhost:4011/keys',
  },
};

const wrong: Readonly<Record<string, readonly [settings: unknown, named: RegExp]>> = {
  'no object': ['https://issuer.example.com', /^not an object$/],
  'a list': [[], /^not an object$/],
  null: [null, /^not an object$/],
  'no issuer': [{ audience: 'a' }, /^issuer: /],
  'neither audience nor apps': [{ issuer: least.issuer }, /^audience, clientIds: at least one/],
  'an empty list of audiences': [{ ...least, audience: [] }, /^audience: /],
  'an empty audience': [{ ...least, audience: '' }, /^audience: /],
  'an empty list of apps': [{ ...least, clientIds: [] }, /^clientIds: /],
  'an app that is no text': [{ ...least, clientIds: [1] }, /^clientIds: /],
  'an app as audience': [{ ...least, clientIds: [least.audience] }, /stands in both/],
  'an app among audiences': [{ ...least, audience: ['x', 'y'], clientIds: ['y'] }, /stands in both/],
  'an issuer by http': [{ ...least, issuer: 'http://issuer.example.com' }, /^issuer: not https/],
  'an issuer that is no URL': [{ ...least, issuer: 'issuer.example.com' }, /^issuer: not an absolute URL/],
  'an issuer in a file': [{ ...least, issuer: 'file:///issuer' }, /^issuer: not https/],
  'an issuer with a query': [{ ...least, issuer: 'https://issuer.example.com?a=1' }, /^issuer: a query/],
  'an issuer with credentials': [
    { ...least, issuer: 'https://a:b@issuer.example.com' },
    /^issuer: credentials/,
  ],
  'an issuer with a space': [{ ...least, issuer: 'https://issuer.example.com ' }, /^issuer: not a text/],
  'keys by http': [{ ...least, jwksUri: 'http://issuer.example.com/keys' }, /^jwksUri: not https/],
  'keys on loopback, issuer not': [{ ...least, jwksUri: 'http://127.0.0.1/keys' }, /^jwksUri: must be https/],
  'an algorithm with a shared secret': [{ ...least, algorithms: ['HS256'] }, /^algorithms: /],
  'no signature at all': [{ ...least, algorithms: ['none'] }, /^algorithms: /],
  'no algorithm': [{ ...least, algorithms: [] }, /^algorithms: /],
  'a scope that is not ours': [{ ...least, scopes: { admin: ['a'] } }, /^scopes: its members are read/],
  'a scope that is text': [{ ...least, scopes: { read: 'a' } }, /^scopes: not a list/],
  'a setting that is not known': [{ ...least, audiences: ['a'] }, /^a setting is not known$/],
};

describe('accepts', () => {
  for (const [name, settings] of Object.entries(good))
    test(name, () => {
      assert.deepEqual(authSettingsFaults(settings), []);
      assert.deepEqual(authorizer.read({ AUTH: JSON.stringify(settings) }), { ok: true, settings });
    });
});

describe('refuses', () => {
  for (const [name, [settings, named]] of Object.entries(wrong))
    test(name, () => {
      const faults = authSettingsFaults(settings);
      assert.equal(faults.length, 1, faults.join('; '));
      assert.match(faults[0] ?? '', named);
      const read = authorizer.read({ AUTH: JSON.stringify(settings) });
      assert.deepEqual(read, { ok: false, faults: faults.map((fault) => `AUTH: ${fault}`) });
      if (typeof settings === 'object' && settings !== null && !Array.isArray(settings))
        assert.throws(
          () => createTokenVerifier(settings as Parameters<typeof createTokenVerifier>[0]),
          (error: unknown) => error instanceof TypeError && error.message.includes(faults[0] ?? '?'),
        );
    });

  test('what is no JSON', () =>
    assert.deepEqual(authorizer.read({ AUTH: '{' }), { ok: false, faults: ['AUTH: not JSON'] }));

  test('without a word of what was written', () => {
    for (const [settings] of Object.values(wrong))
      for (const fault of authSettingsFaults(settings)) assert.doesNotMatch(fault, /example\.com|admin|a:b/);
  });
});
