/** A JSON number where the interface wants a decimal in a string, as generated clients with a number type write it. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { batchPlaceOrders, operations, placeOrder, replaceOrder } from '../../lib/catalogue/index.ts';
import { compactJson } from '../../lib/gateway/index.ts';
import { accountId, ask, coreFor, newOrder, orderPath, problemOf } from '../support/core.ts';

/** In place of the decimals of a body: what cannot be mistaken for another value. */
const mark = (at: number) => `"decimal-${at}"`;

const isDecimalName =
  /^(quantity|total_cash_amount|(stop|limit|strike)_price|trailing_stop_step|current_(ask|bid))$/;

/** The example of each operation whose body has decimals, with a mark in place of each of them. */
const templates = operations.flatMap(({ id, body, example }) => {
  let count = 0;
  const text = JSON.stringify(example.body, (name, value: unknown) =>
    isDecimalName.test(name) ? `decimal-${count++}` : value,
  );
  return body && count > 0 ? [{ id, body, text, count }] : [];
});

/** Tokens that JSON has for numbers, without an exponent. */
const plainToken = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,30})?$/);
const exponentToken = fc.stringMatching(/^-?(0|[1-9]\d{0,4})(\.\d{1,4})?[eE][+-]?\d{1,3}$/);

const filled = (text: string, write: (at: number) => string, count: number) =>
  [...Array(count).keys()].reduce((done, at) => done.replace(mark(at), () => write(at)), text);

describe('a JSON number in place of a decimal', () => {
  test('stands in the examples of every operation that takes decimals', () => {
    assert.deepEqual(templates.map(({ id }) => id).sort(), [
      'batchPlaceOrders',
      'placeOrder',
      'previewOrder',
      'replaceOrder',
    ]);
  });

  test('becomes the same characters in quotes, and nothing else changes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...templates),
        fc.array(fc.tuple(plainToken, fc.boolean()), { minLength: 12, maxLength: 12 }),
        ({ text, body, count }, values) => {
          const inQuotes = (at: number) => `"${values[at]![0]}"`;
          const mixed = filled(text, (at) => (values[at]![1] ? values[at]![0] : inQuotes(at)), count);
          const result = compactJson(mixed, body);
          assert.ok(result.ok);
          assert.equal(result.text, filled(text, inQuotes, count));
          assert.deepEqual(result.value, JSON.parse(result.text));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('stays a number where it has an exponent', () => {
    fc.assert(
      fc.property(fc.constantFrom(...templates), exponentToken, ({ text, body, count }, token) => {
        const source = filled(text, () => token, count);
        const result = compactJson(source, body);
        assert.ok(result.ok);
        assert.equal(result.text, source);
      }),
    );
  });
});

describe('other numbers stay as they are', () => {
  for (const [where, body, source] of [
    [
      'of members that the schema does not name',
      placeOrder.body,
      '{"figure":1.10,"new_orders":[{"note":10,"legs":[{"note":[1]}]}]}',
    ],
    ['of members that are no decimal', placeOrder.body, '{"account_id":1,"new_orders":[{"symbol":2}]}'],
    ['outside the list that has the decimals', placeOrder.body, '{"quantity":1,"new_orders":{"quantity":2}}'],
    [
      'in a list in place of a decimal',
      placeOrder.body,
      '{"new_orders":[{"quantity":[1]},[{"quantity":1}]]}',
    ],
    ['under a name that every object has', placeOrder.body, '{"constructor":1,"__proto__":{"quantity":1}}'],
    ['where there is no schema', undefined, '{"quantity":1}'],
  ] as const)
    test(where, () => {
      const result = compactJson(source, body);
      assert.ok(result.ok);
      assert.equal(result.text, source);
    });

  test('before and behind a decimal', () => {
    const result = compactJson(
      '{"a":1,"batch_orders":[{"n":[2],"quantity":3,"n2":4},{"quantity":5}],"b":6}',
      batchPlaceOrders.body,
    );
    assert.ok(result.ok);
    assert.equal(
      result.text,
      '{"a":1,"batch_orders":[{"n":[2],"quantity":"3","n2":4},{"quantity":"5"}],"b":6}',
    );
  });

  test('in a leg of an order that is replaced', () => {
    const result = compactJson('{"modify_orders":[{"legs":[{"id":1,"quantity":2.50}]}]}', replaceOrder.body);
    assert.ok(result.ok);
    assert.equal(result.text, '{"modify_orders":[{"legs":[{"id":1,"quantity":"2.50"}]}]}');
  });
});

const withNumbers = (change: string) => {
  const { quantity: _, ...order } = newOrder({ order_type: 'LIMIT' });
  return `{"account_id":"${accountId}","new_orders":[${JSON.stringify(order).replace(/\}$/, `,${change}}`)}]}`;
};

test('an order with numbers is the order with the same decimals in strings', async (t) => {
  const { gateway, simulator } = await coreFor(t);
  const body = withNumbers('"quantity": 10, "limit_price": 228.50');
  const reply = await ask(gateway, orderPath, { body });
  assert.equal(reply.status, 200, reply.text);
  const received = simulator.received[0];
  assert.equal(received?.outcome, 'ok');
  assert.match(received?.body ?? '', /,"quantity":"10","limit_price":"228\.50"\}\]\}$/);
  const { client_order_id } = (JSON.parse(body) as { new_orders: { client_order_id: string }[] })
    .new_orders[0]!;
  const shown = await ask(
    gateway,
    `/trading/orders/get?account_id=${accountId}&client_order_id=${client_order_id}`,
  );
  const { orders } = JSON.parse(shown.text) as {
    orders: { total_quantity: string; limit_price: string }[];
  };
  assert.deepEqual([orders[0]?.total_quantity, orders[0]?.limit_price], ['10', '228.50']);
});

for (const token of ['1e1', '1.0E1', '1E+1'])
  test(`an order with ${token} is refused, and the answer says what is right`, async (t) => {
    const { gateway, simulator } = await coreFor(t);
    const { errors, code } = problemOf(
      await ask(gateway, orderPath, { body: withNumbers(`"quantity":${token}`) }),
    );
    assert.equal(code, 'invalid_parameter');
    assert.deepEqual(errors, [
      {
        in: 'body',
        name: '/new_orders/0/quantity',
        detail: 'not an allowed value',
        allowed: 'a decimal number in a string, or a JSON number without an exponent',
        received: '10',
      },
    ]);
    assert.equal(simulator.received.length, 0);
  });
