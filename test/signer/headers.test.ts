import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createSigner } from '../../lib/signer/index.ts';
import { appKey, appSecret, base, fixedSigner, now, rejectsWith, timestamp } from '../support/signing.ts';

const url = `${base}/a`;
const signer = createSigner({ appKey, appSecret });

test('the method follows from the body unless it is given', async () => {
  assert.equal((await signer.sign({ url })).method, 'GET');
  assert.equal((await signer.sign({ url, body: '' })).method, 'GET');
  assert.equal((await signer.sign({ url, body: '{}' })).method, 'POST');
  assert.equal((await signer.sign({ url, method: 'POST' })).method, 'POST');
});

test('every POST says that it is JSON, no GET does', async () => {
  for (const body of ['{}', ''])
    assert.equal(
      (await signer.sign({ url, method: 'POST', body })).headers['content-type'],
      'application/json',
    );
  assert.ok(!('content-type' in (await signer.sign({ url })).headers));
});

test('each call has a nonce of its own, of 128 bits in hexadecimal', async () => {
  const nonces = new Set<string | undefined>();
  await Promise.all(
    Array.from({ length: 1000 }, async () =>
      nonces.add((await signer.sign({ url })).headers['x-signature-nonce']),
    ),
  );
  assert.equal(nonces.size, 1000);
  for (const nonce of nonces) assert.match(nonce ?? '', /^[0-9a-f]{32}$/);
});

test('the timestamp is UTC in whole seconds, and is read at each call', async () => {
  const before = Date.now();
  const sent = (await signer.sign({ url })).headers['x-timestamp'] ?? '';
  assert.match(sent, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.ok(Math.abs(Date.parse(sent) - before) < 60_000);

  let time = now + 999;
  const ticking = createSigner({ appKey, appSecret, clock: () => time });
  assert.equal((await ticking.sign({ url })).headers['x-timestamp'], timestamp);
  for (const [moved, text] of [
    [now + 1000, '2026-11-17T09:30:01Z'],
    [now + 999, timestamp],
    [-999, '1969-12-31T23:59:59Z'],
    // A time is cut to whole milliseconds first: this is 0.
    [-0.5, '1970-01-01T00:00:00Z'],
  ] as const) {
    time = moved;
    assert.equal((await ticking.sign({ url })).headers['x-timestamp'], text);
  }
  time = Number.NaN;
  await rejectsWith('invalid_nonce_or_time', () => ticking.sign({ url }));
  time = now;
  assert.equal((await ticking.sign({ url })).headers['x-timestamp'], timestamp);
});

test('the headers are these and no others', async () => {
  const signing = [
    'x-app-key',
    'x-signature',
    'x-signature-algorithm',
    'x-signature-nonce',
    'x-signature-version',
    'x-timestamp',
    'x-version',
  ];
  assert.deepEqual(Object.keys((await fixedSigner.sign({ url })).headers).sort(), signing);
  assert.deepEqual(
    Object.keys((await fixedSigner.sign({ url, body: '{}' })).headers).sort(),
    ['content-type', ...signing].sort(),
  );
});
