/** Every reason of refusal, provoked. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  hashBody,
  parameterString,
  percentEncode,
  signatures,
  stringToSign,
} from '../../lib/signer/canonical.ts';
import {
  createVerifier,
  type ReceivedRequest,
  type VerifierOptions,
  type VerifyRefusal,
} from '../../lib/verifier/index.ts';
import { received, withHeaders } from '../support/received.ts';
import { appKey, appSecret, base, now, timestamp } from '../support/signing.ts';

const secretOf = (key: string) => (key === appKey ? appSecret : undefined);
const createAt = (time: number, more: Partial<VerifierOptions> = {}) =>
  createVerifier({ secretOf, clock: () => time, ...more });
const verifier = createAt(now);

async function refuses(code: VerifyRefusal, request: ReceivedRequest, by = verifier) {
  const verdict = await by.verify(request);
  assert.ok(!verdict.ok, 'accepted');
  assert.equal(verdict.code, code, verdict.detail);
  assert.ok(!JSON.stringify(verdict).includes(appSecret));
  return verdict;
}
const accepts = async (request: ReceivedRequest, by = verifier) =>
  assert.deepEqual(await by.verify(request), { ok: true, appKey });

test('missing_header, each by its name', async () => {
  const request = await received();
  for (const name of Object.keys(request.headers))
    for (const value of [undefined, '']) {
      const { detail } = await refuses('missing_header', withHeaders(request, { [name]: value }));
      assert.equal(detail, name);
    }
  const { detail } = await refuses('missing_header', { ...request, url: '/a' });
  assert.equal(detail, 'host');
  await accepts(request);
});

test('unsupported_algorithm, unsupported_signature_version, unsupported_version', async () => {
  const request = await received();
  for (const value of ['HMAC-SHA1', 'hmac-sha256', 'none'])
    await refuses('unsupported_algorithm', withHeaders(request, { 'x-signature-algorithm': value }));
  for (const value of ['1', '1.1', '2.0'])
    await refuses('unsupported_signature_version', withHeaders(request, { 'x-signature-version': value }));
  for (const value of ['v2', 'v4', 'V3', '3'])
    await refuses('unsupported_version', withHeaders(request, { 'x-version': value }));
});

test('invalid_timestamp: another format, or a time that never was', async () => {
  const request = await received();
  for (const value of [
    '1794907800000',
    '2026-11-17',
    '2026-11-17T09:30:00.000Z',
    '2026-11-17T09:30:00+00:00',
    '2026-11-17T09:30:00',
    '2026-11-17t09:30:00z',
    '2026-02-30T09:30:00Z',
    '2026-13-01T09:30:00Z',
    '2026-11-17T24:00:00Z',
    '2026-11-17T09:30:60Z',
    '+026-11-17T09:30:00Z',
    '2026-11-17T09:30:00Z ',
  ])
    await refuses('invalid_timestamp', withHeaders(request, { 'x-timestamp': value }));
});

test('clock_skew, either way, to the millisecond', async () => {
  for (const way of [-1, 1]) {
    await accepts(await received(), createAt(now + way * 300_000));
    await refuses('clock_skew', await received(), createAt(now + way * 300_001));
    await accepts(await received(), createAt(now + way * 10_000, { toleranceSeconds: 10 }));
    await refuses('clock_skew', await received(), createAt(now + way * 10_001, { toleranceSeconds: 10 }));
  }
});

test('clock_skew: a clock or tolerance that is no number accepts nothing', async () => {
  await refuses('clock_skew', await received(), createAt(Number.NaN));
  await refuses('clock_skew', await received(), createAt(now, { toleranceSeconds: Number.NaN }));
});

test('unknown_app_key', async () => {
  const request = await received();
  for (const secret of [undefined, ''])
    await refuses('unknown_app_key', request, createAt(now, { secretOf: () => secret }));
  await accepts(request, createAt(now, { secretOf: async (key) => secretOf(key) }));
});

test('malformed_url', async () => {
  const request = await received();
  for (const url of [
    '',
    'a',
    '?a=1',
    '/a b',
    '/%61',
    '/a#b',
    '/a?b#c',
    'ftp://api.example.com/a',
    '/a?b=%',
    '/a?b=%zz',
    '/a?%E9=1',
    '/a?b=%ed%a0%80',
    '/é',
  ])
    await refuses('malformed_url', { ...request, url });
});

test('ambiguous_query, in strict mode only', async () => {
  const strict = createAt(now, { strict: true });
  for (const query of [
    [['a&b', '1']],
    [['a=b', '1']],
    [['a', '1&b=2']],
    [['host', 'x']],
    [['x-app-key', 'x']],
    ['1', 'b=2'].map((value) => ['a', value] as const),
    ['1', 'AB'.repeat(32)].map((value) => ['z', value] as const),
  ] as const) {
    const request = await received({ query });
    const { detail } = await refuses('ambiguous_query', request, strict);
    assert.equal(detail, query[0]?.[0]);
    await accepts(request);
  }
  await accepts(await received({ query: { a: 'b=c', 'x-version': 'v3', 'x-signature': 's' } }), strict);
  await accepts(await received({ url: `${base}/a?a=2&a=1&a=` }), strict);
});

test('ambiguous_header, in strict mode only', async () => {
  const strict = createAt(now, { strict: true });
  const request = await received({ query: { b: '1', i: '2', 'x-signature-o': '3', 'x-b': '4' } });
  const nonce = request.headers['x-signature-nonce'];
  for (const [search, headers] of [
    ['b=1&x-b=4&x-signature-o=3', { host: 'api.example.com&i=2' }],
    ['b=1&x-b=4&i=2', { 'x-signature-nonce': `${nonce}&x-signature-o=3` }],
    ['b=1&i=2&x-signature-o=3', { 'x-app-key': `${appKey}&x-b=4` }],
  ] as const) {
    const read = withHeaders({ ...request, url: `${base}/a?${search}` }, headers);
    const by = { secretOf: () => appSecret };
    assert.ok((await createAt(now, by).verify(read)).ok);
    const { detail } = await refuses('ambiguous_header', read, createAt(now, { ...by, strict: true }));
    assert.equal(detail, Object.keys(headers)[0]);
  }
  await accepts(request, strict);
});

test('in strict mode no two requests have one signature', async () => {
  const body = '{}';
  const hash = (await hashBody(body)).toUpperCase();
  const values = ['', '1', 'b=1', '1&b=1', '1&z=1', '1&1', hash, `1&${hash}`];
  const pairs = ['a', 'b', 'z'].flatMap((name) => values.map((value) => [name, value] as const));
  const queries = pairs.flatMap((one, at) => [[one], ...pairs.slice(at).map((other) => [one, other])]);
  const sign = signatures(appSecret);
  const bySignature = new Map<string, ReceivedRequest[]>();
  for (const query of queries)
    for (const host of ['h', 'h&a=1', 'h&b=1', 'h&z=1'])
      for (const sent of ['', body]) {
        const { headers } = await received();
        const str1 = parameterString(query, { appKey, host, nonce: 'n', timestamp });
        const signature = await sign(percentEncode(stringToSign('/a', str1, sent && hash)));
        const alike = bySignature.get(signature) ?? [];
        bySignature.set(signature, alike);
        alike.push({
          url: `/a?${query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')}`,
          headers: { ...headers, host, 'x-signature-nonce': 'n', 'x-signature': signature },
          body: sent,
        });
      }
  const groups = [...bySignature.values()].filter((alike) => alike.length > 1);
  assert.ok(groups.length > 100, `${groups.length}`);
  for (const alike of groups) {
    const read: ReceivedRequest[] = [];
    for (const one of alike) if ((await createAt(now, { strict: true }).verify(one)).ok) read.push(one);
    assert.ok(read.length <= 1, JSON.stringify(read));
  }
});

test('signature_mismatch', async () => {
  const request = await received({ query: { a: '1' }, body: '{}' });
  await refuses('signature_mismatch', { ...request, url: `${base}/a?a=2` });
  await refuses('signature_mismatch', { ...request, url: `${base}/b?a=1` });
  await refuses('signature_mismatch', { ...request, url: `https://other.example.com/a?a=1` });
  await refuses('signature_mismatch', { ...request, body: '{ }' });
  await refuses('signature_mismatch', { ...request, body: null });
  await refuses('signature_mismatch', withHeaders(request, { 'x-signature-nonce': 'other' }));
  await refuses('signature_mismatch', withHeaders(request, { 'x-timestamp': '2026-11-17T09:30:01Z' }));
  await refuses('signature_mismatch', withHeaders(request, { host: 'api.example.com:443' }));
  await refuses('signature_mismatch', withHeaders(request, { 'x-signature-nonce': '\ud800' }));
  await refuses('signature_mismatch', request, createAt(now, { secretOf: () => `${appSecret}x` }));
});

test('signature_mismatch: any text but the one that is sent', async () => {
  const request = await received();
  const sent = request.headers['x-signature'] ?? '';
  const bytes = Buffer.from(sent, 'base64');
  for (const text of [
    'x',
    sent.slice(0, -1),
    `${sent}=`,
    `${sent} `,
    ` ${sent}`,
    `${sent}\n`,
    sent.toLowerCase(),
    bytes.toString('hex'),
    bytes.subarray(0, 31).toString('base64'),
    Buffer.concat([bytes, bytes]).toString('base64'),
    Buffer.alloc(32).toString('base64'),
  ])
    await refuses('signature_mismatch', withHeaders(request, { 'x-signature': text }));
});

test('signature_mismatch: base64 that decodes to the same bytes but is not the one form', async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const request = await received();
  const sent = request.headers['x-signature'] ?? '';
  const last = alphabet.indexOf(sent.at(-2) ?? '');
  for (const spare of [1, 2, 3]) {
    const twin = `${sent.slice(0, -2)}${alphabet[last + spare]}=`;
    assert.deepEqual(Buffer.from(twin, 'base64'), Buffer.from(sent, 'base64'));
    await refuses('signature_mismatch', withHeaders(request, { 'x-signature': twin }));
  }
  const urlSafe = sent.replaceAll('+', '-').replaceAll('/', '_').replace('=', '');
  await refuses('signature_mismatch', withHeaders(request, { 'x-signature': urlSafe }));
  await accepts(request);
});

test('nonce_reused', async () => {
  const request = await received();
  await accepts(request);
  await refuses('nonce_reused', request);
  await accepts(await received());
});
