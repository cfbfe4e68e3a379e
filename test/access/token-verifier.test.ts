/** The verifier of access tokens: what it accepts, and every forged token that it must not. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { createTokenVerifier, type TokenVerifierOptions, tokenFaults } from '../../lib/access/index.ts';
import { forgedTokens } from './forged-tokens.ts';
import {
  audience,
  issuer,
  jwkOf,
  jwks,
  jwksUri,
  keys,
  now,
  otherCurve,
  publisher,
  seconds,
  signatureOf,
  type Token,
  tokenOf,
  weakKey,
} from './issuer.ts';

function verifierWith(options: Partial<TokenVerifierOptions> = {}) {
  const world = publisher();
  // Keys that must not verify anything, as an issuer may publish them.
  const more = [
    jwkOf('weak', weakKey),
    jwkOf('p384', otherCurve),
    jwkOf('encryption', keys.stranger, { use: 'enc' }),
    { kty: 'oct', kid: 'shared', k: Buffer.from('shared').toString('base64url') },
    null,
    'no key',
  ];
  world.published.set(jwksUri, JSON.stringify({ keys: [...jwks().keys, ...more] }));
  const verifier = createTokenVerifier({
    issuer,
    audience,
    clientIds: ['app-1'],
    accountsClaim: 'accounts',
    readText: world.readText,
    clock: () => now,
    ...options,
  });
  return { ...world, verifier };
}

/** The claims, or the fault. */
async function verdict(token: string, options?: Partial<TokenVerifierOptions>) {
  const verification = await verifierWith(options).verifier.verify(token);
  return verification.ok ? verification.claims : verification.fault;
}

const expected = {
  issuer,
  subject: 'user-1',
  scopes: ['read', 'trade'],
  issuedAt: seconds - 10,
  expiresAt: seconds + 600,
  clientId: 'app-1',
  tokenId: 'token-1',
  accounts: [],
};

describe('accepts', () => {
  for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA'])
    test(`a token of ${alg}`, async () => assert.deepEqual(await verdict(tokenOf({ alg })), expected));

  test('EdDSA by its later name', async () =>
    assert.deepEqual(
      await verdict(tokenOf({ alg: 'Ed25519', key: keys.EdDSA, header: { kid: 'EdDSA' } })),
      expected,
    ));

  const alike: Readonly<Record<string, Token>> = {
    'typ JWT': { header: { typ: 'JWT' } },
    'no typ': { header: { typ: undefined } },
    'typ application/AT+JWT': { header: { typ: 'application/AT+JWT' } },
    'headers that name keys elsewhere, signed by the issuer': {
      header: { jku: 'https://elsewhere.example.com', x5t: 'a' },
    },
    'one audience of several': { claims: { aud: ['other', audience] } },
    'expired 59 s ago': { claims: { exp: seconds - 59 } },
    'nbf and iat in 60 s': { claims: { nbf: seconds + 60, iat: seconds + 60 } },
    'azp instead of client_id': { claims: { client_id: undefined, azp: 'app-1' } },
    'cid instead of client_id': { claims: { client_id: undefined, cid: 'app-1' } },
    'a payload of the kind Bearer with nonce': {
      header: { typ: 'JWT' },
      claims: { typ: 'Bearer', nonce: 'n' },
    },
    'claims that are not known': { claims: { __proto__: 1, constructor: 'x', realm: { sub: 'other' } } },
  };
  for (const [name, token] of Object.entries(alike))
    test(name, async () => {
      const claims = await verdict(tokenOf(token));
      assert.ok(typeof claims !== 'string', `${claims}`);
      assert.equal(claims.subject, 'user-1');
      assert.equal(claims.clientId, 'app-1');
    });

  test('the other of the two signatures that ECDSA has for the same content: it is no other token', async () => {
    const input = tokenOf({ alg: 'ES256' }).split('.').slice(0, 2).join('.');
    const one = signatureOf(input, 'ES256', keys.ES256);
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
    const s = order - BigInt(`0x${one.subarray(32).toString('hex')}`);
    const other = Buffer.concat([one.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]);
    assert.deepEqual(await verdict(`${input}.${other.toString('base64url')}`), expected);
  });

  test('scopes as text, as a list, and as permissions', async () => {
    const claims = { scope: 'a  b', scp: ['b', 'c'], permissions: ['d e'] };
    const read = await verdict(tokenOf({ claims }));
    assert.ok(typeof read !== 'string');
    assert.deepEqual(read.scopes, ['a', 'b', 'c', 'd e']);
  });

  test('accounts as a list and as one text, and only from the claim that is named', async () => {
    for (const [accounts, found] of [
      [
        ['A1', 'A2'],
        ['A1', 'A2'],
      ],
      ['A1', ['A1']],
    ]) {
      const read = await verdict(tokenOf({ claims: { accounts } }));
      assert.ok(typeof read !== 'string');
      assert.deepEqual(read.accounts, found);
    }
    const verifier = createTokenVerifier({
      issuer,
      audience,
      jwksUri,
      readText: publisher().readText,
      clock: () => now,
    });
    const verification = await verifier.verify(tokenOf({ claims: { accounts: ['A1'] } }));
    assert.ok(verification.ok && !('accounts' in verification.claims));
    const inherited = await verdict(tokenOf(), { accountsClaim: 'constructor' });
    assert.ok(typeof inherited !== 'string');
    assert.deepEqual(inherited.accounts, []);
  });

  test('an access token without audience, by its app alone; one that names an audience must not', async () => {
    const { readText } = publisher();
    const verifier = createTokenVerifier({ issuer, clientIds: ['app-1'], readText, clock: () => now });
    const pool = { aud: undefined, token_use: 'access', version: 2, 'cognito:groups': ['g'] };
    const found = await verifier.verify(tokenOf({ header: { typ: undefined }, claims: pool }));
    assert.ok(found.ok);
    assert.equal(found.claims.clientId, 'app-1');
    for (const aud of [audience, 'app-1', ['x'], []]) {
      const refused = await verifier.verify(tokenOf({ claims: { ...pool, aud } }));
      assert.deepEqual(refused, { ok: false, fault: 'wrong_audience' }, `${aud}`);
    }
    const id = await verifier.verify(
      tokenOf({ header: { typ: undefined }, claims: { ...pool, token_use: 'id' } }),
    );
    assert.deepEqual(id, { ok: false, fault: 'not_an_access_token' });
  });

  test('a token without key id where the issuer has one key for the algorithm', async () => {
    const { verifier, published } = verifierWith();
    published.set(jwksUri, JSON.stringify({ keys: [jwkOf('RS256'), jwkOf('ES256')] }));
    assert.ok((await verifier.verify(tokenOf({ header: { kid: undefined } }))).ok);
  });

  test('a key whose id another key has, too', async () => {
    const { verifier, published } = verifierWith();
    const twins = [jwkOf('RS256', keys.stranger), jwkOf('RS256', keys.ES256), jwkOf('RS256')];
    published.set(jwksUri, JSON.stringify({ keys: twins }));
    assert.ok((await verifier.verify(tokenOf())).ok);
    assert.ok((await verifier.verify(tokenOf({ alg: 'ES256', header: { kid: 'RS256' } }))).ok);
  });

  test('only the algorithms that are named', async () => {
    assert.equal(await verdict(tokenOf(), { algorithms: ['ES256'] }), 'wrong_algorithm');
    assert.deepEqual(await verdict(tokenOf({ alg: 'ES256' }), { algorithms: ['ES256'] }), expected);
  });
});

describe('refuses', () => {
  for (const { name, token, fault } of forgedTokens)
    test(`${fault}: ${name}`, async () => assert.equal(await verdict(token), fault));

  test('all of them with one verifier, which reads nothing but its own issuer’s', async () => {
    const { verifier, read } = verifierWith();
    const verdicts = await Promise.all(forgedTokens.map(({ token }) => verifier.verify(token)));
    assert.equal(verdicts.filter(({ ok }) => ok).length, 0);
    assert.ok(forgedTokens.length >= 150, `${forgedTokens.length}`);
    assert.deepEqual(read, [`${issuer}/.well-known/openid-configuration`, jwksUri]);
    assert.ok((await verifier.verify(tokenOf())).ok);
  });

  test('with every fault that a verifier has', () => {
    const elsewhere = ['missing', 'wrong_scheme', 'several_tokens', 'revoked', 'issuer_unavailable'];
    const shown = new Set<string>(forgedTokens.map(({ fault }) => fault));
    assert.deepEqual([...shown, ...elsewhere].sort(), Object.keys(tokenFaults).sort());
  });

  test('every token of which one character was changed', async () => {
    const { verifier } = verifierWith();
    const token = tokenOf({ alg: 'ES256' });
    for (let at = 0; at < token.length; at++) {
      const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
      assert.ok(!(await verifier.verify(changed)).ok, `${at}`);
    }
  });

  test('in words that repeat nothing of the token', () => {
    for (const { token, fault } of forgedTokens)
      for (const part of [token, ...token.split('.')])
        if (part.length > 3) assert.ok(!tokenFaults[fault].includes(part));
  });

  test('in words that a header and a text of JSON can hold as they are', () => {
    for (const sentence of Object.values(tokenFaults)) assert.match(sentence, /^[ !#-[\]-~]+$/);
  });
});
