/** The app secret is in nothing that the signer returns or throws, in any printed form. */

import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { test } from 'vitest';
import {
  createSignedFetch,
  createSigner,
  explain,
  type SignErrorCode,
  type SignInput,
} from '../../lib/signer/index.ts';
import { appKey, base, nonce, rejectsWith, timestamp, untyped } from '../support/signing.ts';

const appSecret = 'hunter2-hunter2-hunter2';
const signer = createSigner({ appKey, appSecret });
const everything = { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true } as const;

function assertClean(what: unknown): void {
  for (const text of [inspect(what, everything), JSON.stringify(what) ?? '', `${what}`])
    for (const form of [appSecret, btoa(appSecret), Buffer.from(appSecret).toString('hex')])
      assert.ok(!text.includes(form), text);
}

test('the signer itself', () => {
  assertClean(signer);
  assertClean(signer.sign);
  assertClean(createSignedFetch({ signer }));
  assertClean(structuredClone(JSON.parse(JSON.stringify(signer))));
});

test('what it returns', async () => {
  assertClean(await signer.sign({ url: `${base}/a`, query: { a: 1 }, body: { b: 2 } }));
});

test('every error', async () => {
  const url = `${base}/a`;
  const provoked: readonly (readonly [SignErrorCode, SignInput])[] = [
    ['invalid_url', { url: 'x' }],
    ['path_not_plain', { url: `${base}/a b` }],
    ['invalid_method', { url, method: 'GET', body: 'x' }],
    ['invalid_body', untyped({ url, body: 1n })],
    ['lone_surrogate', { url, query: { a: '\ud800' } }],
  ];
  for (const [code, input] of provoked) assertClean(await rejectsWith(code, () => signer.sign(input)));
  const broken = createSigner({ appKey, appSecret, nonce: () => '' });
  assertClean(await rejectsWith('invalid_nonce_or_time', () => broken.sign({ url })));
  assertClean(await rejectsWith('invalid_credentials', () => createSigner({ appKey: '', appSecret })));
  assertClean(
    await rejectsWith('lone_surrogate', () => createSigner({ appKey, appSecret: `${appSecret}\ud800` })),
  );
});

test('an explanation, even when the caller passes the secret to it', async () => {
  const input = { url: `${base}/a`, appKey, nonce, timestamp, appSecret, secret: appSecret };
  assertClean(await explain(input));
  assertClean(await explain({ ...input, compareWith: '/a&x' }));
});
