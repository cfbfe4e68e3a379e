/** Every code of SignError, provoked by everything that must provoke it and by none of its neighbours. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createSigner } from '../../lib/signer/index.ts';
import { appKey, appSecret, base, fixedSigner, rejectsWith, untyped } from '../support/signing.ts';

const url = `${base}/a`;

test('invalid_credentials', async () => {
  for (const wrong of ['', ' ', 'a b', 'a\nb', 'é', undefined, null, 7])
    await rejectsWith('invalid_credentials', () =>
      createSigner({ appKey: wrong as unknown as string, appSecret }),
    );
  for (const wrong of ['', undefined, null, 7])
    await rejectsWith('invalid_credentials', () =>
      createSigner({ appKey, appSecret: wrong as unknown as string }),
    );
  createSigner({ appKey: '!~', appSecret: 'any text, 日本 too' });
});

test('invalid_url: not absolute', async () => {
  for (const wrong of ['', '/a', 'a', 'api.example.com/a', 'https://', '//api.example.com/a', undefined])
    await rejectsWith('invalid_url', () => fixedSigner.sign(untyped({ url: wrong })));
});

test('invalid_url: neither https nor loopback', async () => {
  for (const wrong of [
    'http://api.example.com/a',
    'http://localhost.example.com/a',
    'http://not-localhost/a',
    'http://127.0.0.1.example.com/a',
    'http://example.com/?localhost',
    'http://localhost@example.com/a',
    'http://128.0.0.1/a',
    'http://0.0.0.0/a',
    'http://[::2]/a',
    'ftp://localhost/a',
    'ws://localhost/a',
    'file:///a',
    'data:text/plain,a',
  ])
    await rejectsWith('invalid_url', () => fixedSigner.sign({ url: wrong }));
});

test('http is signed for a loopback address', async () => {
  for (const right of [
    'localhost',
    'LOCALHOST',
    '127.0.0.1',
    '127.9.8.7',
    '127.10.20.30',
    '[::1]',
    '127.1',
  ]) {
    const signed = await fixedSigner.sign({ url: `http://${right}:8788/a` });
    assert.equal(new URL(signed.url).port, '8788');
  }
});

test('path_not_plain', async () => {
  for (const wrong of [
    'a b',
    'a%20b',
    '%2F',
    'é',
    'a;b',
    "a'b",
    'a@b',
    'a:b',
    'a+b',
    'a*b',
    'a(b)',
    'a!',
    'a&b=c',
  ])
    await rejectsWith('path_not_plain', () => fixedSigner.sign({ url: `${base}/${wrong}` }));
  const plain = '/aZ09-._~/b/';
  assert.equal((await fixedSigner.sign({ url: base + plain })).url, base + plain);
  assert.equal((await fixedSigner.sign({ url: base })).url, `${base}/`);
});

test('invalid_method', async () => {
  for (const method of ['PUT', 'DELETE', 'get', 'post', 'GETPOST', ' GET', 'GET\n', ''])
    await rejectsWith('invalid_method', () => fixedSigner.sign(untyped({ url, method })));
  for (const body of ['x', '{}', {}, []])
    await rejectsWith('invalid_method', () => fixedSigner.sign({ url, method: 'GET', body }));
  assert.equal((await fixedSigner.sign({ url, method: 'GET', body: '' })).method, 'GET');
});

test('invalid_body', async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  for (const body of [
    1n,
    { qty: 1n },
    cyclic,
    () => 1,
    Symbol('s'),
    1,
    true,
    new Uint8Array([1]),
    new DataView(new ArrayBuffer(1)),
    new ArrayBuffer(1),
    new Map([['a', 1]]),
    new URLSearchParams('a=1'),
    new FormData(),
    new Blob(['a']),
    new ReadableStream(),
    { toJSON: () => undefined },
    { quantity: Number.NaN },
    { list: [Number.POSITIVE_INFINITY] },
    { list: [undefined] },
    { nested: new Map([['a', 1]]) },
    { nested: new Uint8Array([1]) },
    { later: () => 1 },
    {
      toJSON() {
        throw new Error('never shown');
      },
    },
  ])
    await rejectsWith('invalid_body', () => fixedSigner.sign(untyped({ url, body })));
});

test('invalid_query: what would be sent as another text', async () => {
  for (const value of [
    ['A', undefined],
    ['A', null],
    [['A']],
    {},
    [{}],
    Number.NaN,
    -1 / 0,
    () => 1,
    new Date(0),
  ])
    await rejectsWith('invalid_query', () => fixedSigner.sign(untyped({ url, query: { a: value } })));
});

test('lone_surrogate: in the URL, a name, a value, the body, the secret', async () => {
  for (const half of ['\ud83d', '\ude00', 'a\ude00\ud83d']) {
    await rejectsWith('lone_surrogate', () => fixedSigner.sign({ url: `${url}?a=${half}` }));
    await rejectsWith('lone_surrogate', () => fixedSigner.sign({ url: `${url}/${half}` }));
    await rejectsWith('lone_surrogate', () => fixedSigner.sign({ url, query: { [half]: 'x' } }));
    await rejectsWith('lone_surrogate', () => fixedSigner.sign({ url, query: { a: half } }));
    await rejectsWith('lone_surrogate', () => fixedSigner.sign({ url, body: half }));
    await rejectsWith('lone_surrogate', () => createSigner({ appKey, appSecret: half }));
  }
});

test('lone_surrogate: two halves in neighbouring texts do not make a whole', async () => {
  await rejectsWith('lone_surrogate', () => fixedSigner.sign({ url, query: { '\ud83d': '\ude00' } }));
  const query = [
    ['a', '\ud83d'],
    ['\ude00', 'b'],
  ] as const;
  await rejectsWith('lone_surrogate', () => fixedSigner.sign({ url, query }));
});

test('an object that holds half a pair is sent with JSON’s escape, which has a UTF-8 form', async () => {
  const { body } = await fixedSigner.sign({ url, body: { a: '\ud83d' } });
  assert.equal(body, '{"a":"\\ud83d"}');
});

test('invalid_nonce_or_time', async () => {
  const signerWith = (options: object) => createSigner({ appKey, appSecret, ...options });
  for (const nonce of ['', 'a b', 'a\r\nb', 'é', undefined, 7])
    await rejectsWith('invalid_nonce_or_time', () => signerWith({ nonce: () => nonce }).sign({ url }));
  for (const time of [Number.NaN, Number.POSITIVE_INFINITY, 8.7e15, Date.UTC(10_000, 0), Date.UTC(-1, 0)])
    await rejectsWith('invalid_nonce_or_time', () => signerWith({ clock: () => time }).sign({ url }));
  await signerWith({ clock: () => Date.UTC(9999, 11, 31) }).sign({ url });
});

test('a SignError has its name', async () => {
  const error = await rejectsWith('invalid_url', () => fixedSigner.sign({ url: '' }));
  assert.ok(error instanceof Error);
  assert.match(`${error}`, /^SignError: ./);
});
