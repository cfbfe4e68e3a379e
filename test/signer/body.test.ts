import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'vitest';
import { explain } from '../../lib/signer/index.ts';
import { appKey, base, fixedSigner, nonce, timestamp } from '../support/signing.ts';

const url = `${base}/trade/place_order`;
const explained = (body: string | object) => explain({ url, body, appKey, nonce, timestamp });

test('text is sent verbatim, spaces, escapes, long numbers and all', async () => {
  for (const body of [
    '{ "b": 1.10, "a": 12345678901234567890 }\n',
    'not JSON',
    '"\\u003c"',
    ' ',
    '\ufeff{}',
    'é',
  ]) {
    const signed = await fixedSigner.sign({ url, body });
    assert.equal(signed.body, body);
    const hash = createHash('sha256').update(body, 'utf8').digest('hex').toUpperCase();
    assert.equal((await explained(body)).str2, hash);
  }
});

test('an object is written once, compactly, in its own order', async () => {
  let written = 0;
  const order = {
    symbol: 'A<&>B',
    2: 'two',
    qty: {
      toJSON() {
        written++;
        return `1.${written}`;
      },
    },
    gone: undefined,
  };
  const signed = await fixedSigner.sign({ url, body: order });
  assert.equal(signed.body, '{"2":"two","symbol":"A<&>B","qty":"1.1"}');
  assert.equal(written, 1);
  const again = await fixedSigner.sign({ url, body: signed.body ?? '' });
  assert.equal(signed.headers['x-signature'], again.headers['x-signature']);
});

test('instances and arrays are written as JSON writes them', async () => {
  class Order {
    readonly qty = '1';
  }
  assert.equal((await fixedSigner.sign({ url, body: new Order() })).body, '{"qty":"1"}');
  assert.equal((await fixedSigner.sign({ url, body: [1, null] })).body, '[1,null]');
  assert.equal((await fixedSigner.sign({ url, body: Object.create(null) })).body, '{}');
});

test('only the empty text is no body', async () => {
  for (const body of ['', null, undefined]) {
    const signed = await fixedSigner.sign({ url, method: 'POST', ...(body !== undefined && { body }) });
    assert.ok(!('body' in signed));
    assert.equal(signed.method, 'POST');
  }
  for (const body of ['{}', {}]) assert.equal((await explained(body)).str2.length, 64);
  assert.equal((await explained('')).str2, '');
});
