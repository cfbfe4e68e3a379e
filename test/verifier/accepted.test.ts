/** Forms in which the same request may arrive, and the two readings that the algorithm cannot distinguish. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createSigner } from '../../lib/signer/index.ts';
import { createVerifier, type ReceivedRequest } from '../../lib/verifier/index.ts';
import { received } from '../support/received.ts';
import { appKey, appSecret, base, now } from '../support/signing.ts';
import { isPlain, vectors } from '../support/vectors.ts';

const verify = (request: ReceivedRequest) =>
  createVerifier({ secretOf: () => appSecret, clock: () => now }).verify(request);
const accepts = async (request: ReceivedRequest) =>
  assert.deepEqual(await verify(request), { ok: true, appKey });

for (const vector of vectors)
  test(`vector: ${vector.name}`, async () => {
    const { appKey, appSecret, nonce, timestamp, query, body, host, path } = vector.request;
    const search = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
    const verdict = await createVerifier({
      secretOf: () => appSecret,
      clock: () => Date.parse(timestamp),
    }).verify({
      url: `${path}?${search}`,
      headers: {
        host,
        'x-app-key': appKey,
        'x-timestamp': timestamp,
        'x-signature': vector.signature,
        'x-signature-algorithm': 'HMAC-SHA256',
        'x-signature-version': '1.0',
        'x-signature-nonce': nonce,
        'x-version': 'v3',
      },
      ...(body !== undefined && { body }),
    });
    // Of a path that is not plain, it is unknown which form was signed.
    assert.deepEqual(
      verdict.ok ? verdict : verdict.code,
      isPlain(vector) ? { ok: true, appKey } : 'malformed_url',
    );
  });

test('without a Host header the URL’s own host counts, with its port', async () => {
  for (const origin of ['http://localhost:8443', 'https://api.example.com'])
    await accepts(await received({ url: `${origin}/a` }));
});

test('headers in any case, as Headers or as a record', async () => {
  const cases: readonly ((text: string) => string)[] = [
    (name) => name.toLowerCase(),
    (name) => name.toUpperCase(),
    (name) => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
  ];
  for (const inCase of cases) {
    const request = await received({ body: '{}' });
    const headers = Object.fromEntries(
      Object.entries({ ...request.headers, host: 'api.example.com' }).map(([name, value]) => [
        inCase(name),
        value,
      ]),
    );
    await accepts({ ...request, url: '/a', headers });
    await accepts({ ...request, url: '/a', headers: new Headers(headers) });
  }
});

test('Headers and a record give the same verdicts', async () => {
  const request = await received();
  for (const name of [...Object.keys(request.headers), 'none'])
    for (const value of ['', 'x', 'v2', '2026-11-17T09:30:01Z']) {
      const headers = { ...request.headers, [name]: value };
      assert.deepEqual(
        await verify({ ...request, headers: new Headers(headers) }),
        await verify({ ...request, headers }),
      );
    }
});

test('Host counts before the URL’s', async () => {
  const request = await received();
  const url = request.url.replace('api.example.com', '127.0.0.1:8788');
  await accepts({ ...request, url, headers: { ...request.headers, host: 'api.example.com' } });
});

test('a plus is a space, an escaped plus a plus', async () => {
  const request = await received({ query: { a: 'b c d', e: '+' } });
  assert.equal(request.url, `${base}/a?a=b%20c%20d&e=%2B`);
  await accepts({ ...request, url: `${base}/a?a=b+c+d&e=%2B` });
  assert.equal((await verify({ ...request, url: `${base}/a?a=b+c+d&e=+` })).ok, false);
});

test('escapes in either case, needless ones, empty parts, a name without =, another order', async () => {
  const request = await received({ query: { a: 'é', b: '', c: 'x' } });
  for (const search of ['a=%c3%a9&b=&c=x', '%61=%C3%A9&b&c=%78', '&a=%C3%A9&&b=&c=x&', 'c=x&b=&a=%C3%A9'])
    await accepts({ ...request, url: `${base}/a?${search}` });
  assert.equal((await verify({ ...request, url: `${base}/a?a=%C3%A9&c=x` })).ok, false);
});

test('a body as text or as its bytes', async () => {
  const request = await received({ body: '{"a":"日本"}' });
  await accepts(request);
  await accepts({ ...request, body: new TextEncoder().encode('{"a":"日本"}') });
  const none = await received();
  for (const body of [undefined, null, '', new Uint8Array()])
    await accepts({ ...none, ...(body !== undefined && { body }) });
});

test('the algorithm’s own collision: two queries, one signature; strict mode takes one of them', async () => {
  const signer = createSigner({ appKey, appSecret, clock: () => now });
  const two = await signer.sign({ url: `${base}/a`, query: { a: '1', b: '2' } });
  const asOne = { url: `${base}/a?a=1%26b%3D2`, headers: two.headers };
  await accepts(asOne);
  const strict = () => createVerifier({ secretOf: () => appSecret, clock: () => now, strict: true });
  assert.equal((await strict().verify(asOne)).ok, false);
  assert.equal((await strict().verify(two)).ok, true);
});
