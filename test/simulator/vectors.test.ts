import assert from 'node:assert/strict';
import { test } from 'vitest';
import { canonicalString, type Field, signatureOf } from '../../infra/simulator/canonical.ts';
import { type VerifyOptions, verifyRequest } from '../../infra/simulator/verify.ts';
import { type Vector, vectors } from '../support/vectors.ts';

function headersOf({ request }: Vector): readonly Field[] {
  return [
    ['x-app-key', request.appKey],
    ['x-signature-algorithm', 'HMAC-SHA256'],
    ['x-signature-version', '1.0'],
    ['x-signature-nonce', request.nonce],
    ['x-timestamp', request.timestamp],
    ['host', request.host],
  ];
}

test('there are vectors', () => assert.ok(vectors.length >= 19));

for (const vector of vectors) {
  const { request } = vector;
  const body = Buffer.from(request.body ?? '', 'utf8');

  test(`vector: ${vector.name}`, () => {
    const encoded = canonicalString({ ...request, headers: headersOf(vector), body });
    assert.equal(encoded, vector.encodedString);
    assert.equal(signatureOf(encoded, request.appSecret), vector.signature);
  });

  test(`vector on the wire: ${vector.name}`, () => {
    const query = request.query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
    const rawHeaders = [...headersOf(vector), ['x-signature', vector.signature], ['X-Version', 'v3']].flat();
    const wire = { method: 'GET', rawTarget: `${request.path}?${query}`, rawHeaders, body };
    const options: VerifyOptions = {
      secretOf: (appKey) => (appKey === request.appKey ? request.appSecret : undefined),
      toleranceSeconds: 0,
    };
    const verified = verifyRequest({ ...wire, now: Date.parse(request.timestamp) }, options);
    assert.deepEqual(verified, {
      ok: true,
      appKey: request.appKey,
      nonce: request.nonce,
      timestamp: Date.parse(request.timestamp),
      path: request.path,
      query: request.query,
    });
  });
}
