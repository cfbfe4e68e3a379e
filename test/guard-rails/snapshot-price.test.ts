/** The price of a snapshot: the upstream's own characters, or none. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { priceIn } from '../../lib/guard-rails/last-price.ts';

const priceOf = (json: string) => priceIn(new TextEncoder().encode(json));

test('it comes as the upstream wrote it', () => {
  for (const [json, price] of [
    ['{"symbol":"AAPL","price":"227.10"}', '227.10'],
    ['{"price":"0.0001","symbol":"AAPL"}', '0.0001'],
    ['{"symbol":"BRK A","price":"1.78E8"}', '1.78E8'],
    ['{"price":"12345678901234567890.123456789"}', '12345678901234567890.123456789'],
    // A number instead of the text.
    ['{"price": 1.10 ,"volume":"3"}', '1.10'],
    // Of a later time than the regular hours, and of a record within it.
    ['{"extend_hour_last_price":"9","ovn_price":"8","price":"7","last":{"price":"6"}}', '7'],
    ['{"pri\\u0063e":"5"}', '5'],
  ] as const)
    assert.equal(priceOf(json), price, json);
});

test('what is no price above zero is none', () => {
  for (const json of [
    '{"symbol":"AAPL"}',
    '{"price":null}',
    '{"price":""}',
    '{"price":"-"}',
    '{"price":"0.00"}',
    '{"price":"-1.10"}',
    '{"price":"NaN"}',
    '{"price":{"price":"1"}}',
    '{"price":["1"]}',
    '{"price":true}',
    '{"last":{"price":"6"}}',
    '[]',
    '{"price"',
    '',
  ])
    assert.equal(priceOf(json), undefined, json);
});

test('no bytes make it throw', () =>
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      priceOf(text);
      priceOf(`{"price":${text}}`);
    }),
  ));
