/** What a 200 has to be for a caller to know what became of an order, a batch, a watchlist or a token. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { operations } from '../../lib/catalogue/index.ts';
import { leavesOutcomeOpen } from '../../lib/catalogue/outcomes.ts';

const withSideEffect = operations.filter(({ sideEffect }) => sideEffect);
const named = (id: string) => withSideEffect.find((one) => one.id === id)!;

const ids = ['order_id', 'client_order_id', 'combo_order_id', 'client_combo_order_id'];

describe('of one order', () => {
  for (const operation of ['placeOrder', 'replaceOrder', 'cancelOrder'].map(named))
    test(`${operation.id}: any of its ids says it, nothing else does`, () => {
      for (const id of ids) {
        assert.equal(leavesOutcomeOpen(operation, { [id]: 'X1', more: null }), false);
        for (const empty of ['', null, {}, [], true])
          assert.equal(leavesOutcomeOpen(operation, { [id]: empty }), true);
      }
      for (const answer of [null, true, false, 7, 'X1', [], {}, [{ order_id: 'X1' }], { success: true }])
        assert.equal(leavesOutcomeOpen(operation, answer), true, JSON.stringify(answer));
    });
});

describe('of a batch', () => {
  const batch = named('batchPlaceOrders');

  test('each order has to be named, a failed one too', () => {
    const orders = [
      { order_id: 'X1' },
      { client_order_id: 'c-2', error_code: 'INVALID_SYMBOL', message: 'no' },
    ];
    assert.equal(leavesOutcomeOpen(batch, { total: 2, batch_orders: orders }), false);
    for (const batch_orders of [undefined, null, [], {}, [...orders, {}], [null]])
      assert.equal(leavesOutcomeOpen(batch, { total: 2, success: 2, batch_orders }), true);
    // What became of the third is not said.
    assert.equal(leavesOutcomeOpen(batch, { total: 3, batch_orders: orders }), true);
    assert.equal(leavesOutcomeOpen(batch, { batch_orders: orders }), false);
  });
});

describe('of a watchlist', () => {
  test('true, false and an object that says either are statements', () => {
    for (const operation of withSideEffect.filter(({ group }) => group === 'watchlists')) {
      for (const answer of [true, false, { success: true }, { success: false }, { watchlist_id: '1' }])
        assert.equal(
          leavesOutcomeOpen(operation, answer),
          false,
          `${operation.id} ${JSON.stringify(answer)}`,
        );
      for (const answer of [null, 0, '', 'true', [], {}, { success: 'true' }, { watchlist_id: '' }])
        assert.equal(leavesOutcomeOpen(operation, answer), true, `${operation.id} ${JSON.stringify(answer)}`);
    }
  });
});

test('an answer with an error code is none, whatever else it says', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...withSideEffect),
      fc.oneof(fc.string({ minLength: 1 }), fc.integer()),
      (operation, error_code) => {
        const all = {
          order_id: 'X',
          batch_orders: [{ order_id: 'X' }],
          success: true,
          token: 't',
          error_code,
        };
        assert.equal(leavesOutcomeOpen(operation, all), true);
        for (const none of ['', null, undefined])
          assert.equal(leavesOutcomeOpen(operation, { ...all, error_code: none }), false);
      },
    ),
  );
});

test('a read leaves nothing open', () => {
  for (const operation of operations.filter(({ sideEffect }) => !sideEffect))
    assert.equal(leavesOutcomeOpen(operation, { error_code: 'X' }), false);
});
