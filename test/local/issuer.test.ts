/** The issuer of a local run: what a library for OpenID Connect finds there, and whom it gives tokens. */

import assert from 'node:assert/strict';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { describe, type TestContext, test } from 'vitest';
import { createIssuer } from '../../infra/local/issuer.ts';
import { each } from '../support/each.ts';
import { fine, gatewayFor, refusalOf } from './gateway.ts';

const clock = () => Date.UTC(2026, 10, 23, 10);
const now = clock() / 1000;

/** An issuer beside a local API Gateway. */
async function issuerFor(t: TestContext) {
  let url = '';
  const { pages, forms } = await createIssuer({ issuer: () => url, users: ['ada', 'ben'], clock });
  const gateway = await gatewayFor(t, async () => fine, { pages, forms });
  url = gateway.url;
  const token = (fields: Readonly<Record<string, string>>, headers = {}) =>
    fetch(`${url}/token`, { method: 'POST', headers, body: new URLSearchParams(fields) });
  return { ...gateway, token };
}

const part = (token: string, index: number): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());

const password = { grant_type: 'password', username: 'ben' };

describe('the issuer', () => {
  test('is found by its name, and signs with a key that it publishes', async (t) => {
    const { url, token } = await issuerFor(t);
    const found = await fetch(`${url}/.well-known/openid-configuration`);
    const { issuer, jwks_uri, token_endpoint } = (await found.json()) as Record<string, string>;
    assert.deepEqual([issuer, token_endpoint], [url, `${url}/token`]);
    const { keys } = (await (await fetch(jwks_uri ?? '')).json()) as {
      keys: Record<string, string>[];
    };
    assert.deepEqual(
      Object.keys(keys[0] ?? {}).filter((name) => name === 'd'),
      [],
    );

    const response = await token(password);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    const { access_token, ...rest } = (await response.json()) as { access_token: string };
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 3600, scope: 'read trade write' });
    const { alg, typ, kid } = part(access_token, 0);
    assert.deepEqual([alg, typ, kid], ['ES256', 'at+jwt', keys[0]?.kid]);
    const [header, payload, signature = ''] = access_token.split('.');
    const key = createPublicKey({ key: keys[0]!, format: 'jwk' });
    const signed = Buffer.from(`${header}.${payload}`);
    const encoding = { key, dsaEncoding: 'ieee-p1363' } as const;
    assert.ok(verify('sha256', signed, encoding, Buffer.from(signature, 'base64url')));
    const { jti, ...claims } = part(access_token, 1);
    assert.deepEqual(claims, {
      iss: url,
      sub: 'ben',
      aud: 'countersign-local',
      client_id: 'local',
      scope: 'read trade write',
      iat: now,
      exp: now + 3600,
    });
    const other = (await (await token(password)).json()) as { access_token: string };
    assert.notEqual(part(other.access_token, 1).jti, jti);
  });

  test('gives narrower, shorter and expired tokens, to another app, and to a shell the token alone', async (t) => {
    const { token } = await issuerFor(t);
    const fields = { ...password, scope: 'read', expires_in: '-120', client_id: 'phone' };
    const response = await token(fields, { accept: 'text/plain' });
    assert.equal(response.headers.get('content-type'), 'text/plain');
    const { scope, client_id, iat, exp } = part(await response.text(), 1);
    assert.deepEqual([scope, client_id, iat, exp], ['read', 'phone', now - 121, now - 120]);
  });

  for (const [fields, error, description] of [
    [{}, 'unsupported_grant_type', /grant_type=password&username=NAME/],
    [{ ...password, grant_type: 'refresh_token' }, 'unsupported_grant_type', /grant_type=password/],
    [{ grant_type: 'password' }, 'invalid_grant', /ada, ben/],
    [{ ...password, username: 'eve' }, 'invalid_grant', /ada, ben/],
    [{ ...password, scope: 'read admin' }, 'invalid_scope', /read, trade, write/],
    [{ ...password, expires_in: 'soon' }, 'invalid_request', /expires_in/],
    [{ ...password, client_id: 'a b' }, 'invalid_request', /client_id/],
  ] as const)
    test(`refuses ${new URLSearchParams(fields) || 'an empty form'} and says what to send`, async (t) => {
      const { token } = await issuerFor(t);
      const response = await token(fields);
      assert.equal(response.status, 400);
      const body = (await response.json()) as { error: string; error_description: string };
      assert.equal(body.error, error);
      assert.match(body.error_description, description);
    });
});

describe('forms beside the API', () => {
  test('need no key and answer POST alone, up to a size', async (t) => {
    const { url, logged } = await issuerFor(t);
    const got = await fetch(`${url}/token`);
    assert.equal(got.headers.get('allow'), 'POST');
    assert.equal((await refusalOf(got)).status, 405);
    const large = await fetch(`${url}/token`, { method: 'POST', body: 'x'.repeat(20_000) });
    assert.deepEqual((await refusalOf(large)).code, 'payload_too_large');
    assert.deepEqual(each(logged, 'apiKeyId'), [null, null]);
  });

  test('that fail are the gateway’s error', async (t) => {
    const broken = new Error('broken');
    const { url, errors } = await gatewayFor(t, async () => fine, {
      forms: new Map([['/form', async () => Promise.reject(broken)]]),
    });
    const response = await fetch(`${url}/form`, { method: 'POST' });
    assert.equal((await refusalOf(response)).code, 'gateway_error');
    assert.deepEqual(errors, [broken]);
  });
});

describe('a sign-in by authorization code', () => {
  const verifier = 'a-verifier-that-is-forty-three-letters-long';
  const asked = {
    response_type: 'code',
    client_id: 'phone',
    redirect_uri: 'com.example.app:/back',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope: 'openid read',
    state: 'of-the-app',
    login_hint: 'ben',
  };
  const form = {
    grant_type: 'authorization_code',
    code_verifier: verifier,
    client_id: 'phone',
    redirect_uri: asked.redirect_uri,
  };

  async function signIn(url: string, change: Readonly<Record<string, string>> = {}) {
    const response = await fetch(`${url}/authorize?${new URLSearchParams({ ...asked, ...change })}`, {
      redirect: 'manual',
    });
    const location = response.headers.get('location');
    return { response, answer: location === null ? undefined : new URL(location).searchParams };
  }

  test('leads back to the app with a code, which is worth one token to who asked for it', async (t) => {
    const { url, token } = await issuerFor(t);
    const { response, answer } = await signIn(url);
    assert.equal(response.status, 303);
    assert.equal(answer?.get('state'), 'of-the-app');
    const code = answer?.get('code') ?? '';
    const given = await token({ ...form, code });
    const { access_token, scope } = (await given.json()) as Record<string, string>;
    assert.equal(scope, 'read');
    const { sub, client_id } = part(access_token ?? '', 1);
    assert.deepEqual([sub, client_id], ['ben', 'phone']);
    assert.equal((await token({ ...form, code })).status, 400, 'a code is taken once');
  });

  for (const change of [
    { code_verifier: 'another' },
    { client_id: 'another' },
    { redirect_uri: 'com.example.other:/' },
  ])
    test(`gives no token with another ${Object.keys(change)[0]}`, async (t) => {
      const { url, token } = await issuerFor(t);
      const { answer } = await signIn(url);
      const refused = await token({ ...form, code: answer?.get('code') ?? '', ...change });
      assert.equal(refused.status, 400);
      assert.equal(((await refused.json()) as { error: string }).error, 'invalid_grant');
    });

  test('asks who signs in, where no user is named', async (t) => {
    const { url } = await issuerFor(t);
    const { response } = await signIn(url, { login_hint: '' });
    const html = await response.text();
    for (const name of ['ada', 'ben'])
      assert.match(html, new RegExp(`login_hint=${name}">Sign in as ${name}`));
  });

  test('sends a browser to no other server, and answers a wrong request with its error', async (t) => {
    const { url } = await issuerFor(t);
    for (const redirect_uri of [
      'https://elsewhere.example/',
      'http://localhost.elsewhere.example/',
      'javascript:alert(1)',
      'data:text/html,a',
      'intent://scan/#Intent;scheme=https;end',
      'ftp://elsewhere.example/',
      'vbscript:a',
      'file:///etc/hosts',
      'ms-settings:privacy',
      'tel:1',
    ])
      assert.equal((await signIn(url, { redirect_uri })).response.status, 400, redirect_uri);
    const plain = await signIn(url, { code_challenge_method: 'plain' });
    assert.equal(plain.answer?.get('error'), 'invalid_request');
    const wide = await signIn(url, { scope: 'everything' });
    assert.equal(wide.answer?.get('error'), 'invalid_scope');
  });
});
