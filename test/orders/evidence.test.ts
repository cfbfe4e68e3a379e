/** What the gateway may conclude from what the upstream shows of an order, and what it may not. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { settledBy } from '../../lib/orders/evidence.ts';
import type { JournalEntry } from '../../lib/orders/index.ts';
import { orderIn } from '../../lib/orders/order-reads.ts';
import type { Refusal } from '../../lib/problem.ts';

const account = 'A1';
const id = 'order-of-this-test';
const bytes = (json: unknown) => new TextEncoder().encode(JSON.stringify(json));

const shown = (members: Readonly<Record<string, unknown>>) => {
  const found = orderIn(account, id, bytes({ orders: [{ client_order_id: id, order_id: '7', ...members }] }));
  assert.ok(found !== 'not_found' && 'state' in found);
  return found;
};

const replacement = (asked: Readonly<Record<string, unknown>>): JournalEntry => ({
  key: 'key',
  attempt: 'attempt',
  hash: 'hash',
  state: 'unknown',
  credential: 'credential',
  at: 0,
  sendBy: 0,
  listedAs: 'changes',
  record: JSON.stringify({
    operation: 'replaceOrder',
    kind: 'replacement',
    account_id: account,
    client_order_id: id,
    asked: JSON.stringify({ account_id: account, modify_orders: [{ client_order_id: id, ...asked }] }),
    request_id: 'request',
    begun_at: '2026-01-01T00:00:00.000Z',
  }),
});

const look = (entry: JournalEntry, members: Readonly<Record<string, unknown>>) =>
  settledBy(entry, { by: 'look_up', found: shown(members) })?.state;

describe('a replacement whose answer was lost', () => {
  const open = { status: 'SUBMITTED', total_quantity: '8', limit_price: '1.10' };

  test('is accepted where the order shows each term that was asked for', () => {
    assert.equal(look(replacement({ quantity: '8' }), open), 'accepted');
    assert.equal(look(replacement({ quantity: '8.0', limit_price: '1.1' }), open), 'accepted');
    assert.equal(look(replacement({ quantity: '9' }), open), undefined);
  });

  test('stays unknown where the order does not show a term that was asked for', () => {
    assert.equal(look(replacement({ legs: [{ id: 'leg', quantity: '3' }] }), open), undefined);
    assert.equal(look(replacement({ quantity: '8', legs: [{ id: 'leg', quantity: '3' }] }), open), undefined);
    assert.equal(look(replacement({ trailing_stop_step: '0.5' }), open), undefined);
    assert.equal(look(replacement({ expire_date: '2027-01-01' }), open), undefined);
    assert.equal(look(replacement({ a_new_member: '1' }), open), undefined);
  });

  // It may have been executed, and another replacement after it.
  test('is not called refused because the order ended with other terms', () => {
    for (const status of ['FILLED', 'CANCELLED', 'FAILED'])
      assert.equal(look(replacement({ quantity: '9' }), { ...open, status }), undefined);
  });
});

describe('a placement that leaves out what it may leave out', () => {
  const asked = {
    client_order_id: id,
    symbol: 'AAPL',
    side: 'BUY',
    order_type: 'LIMIT',
    limit_price: '1',
    quantity: '1',
  };
  const placement = (order: object, ...others: readonly object[]): JournalEntry => ({
    ...replacement({}),
    listedAs: 'placements',
    record: JSON.stringify({
      operation: 'placeOrder',
      kind: 'placement',
      account_id: account,
      client_order_id: id,
      asked: JSON.stringify({ new_orders: [order, ...others] }),
      list: 'new_orders',
      request_id: 'request',
      begun_at: '2026-01-01T00:00:00.000Z',
    }),
  });
  const same = {
    status: 'SUBMITTED',
    symbol: 'AAPL',
    side: 'BUY',
    instrument_type: 'EQUITY',
    combo_type: 'NORMAL',
    order_type: 'LIMIT',
    limit_price: '1',
    total_quantity: '1',
  };

  test('is the order that is shown with what it left out', () => {
    assert.equal(look(placement(asked), same), 'accepted');
    const { combo_type: _, ...unsaid } = same;
    assert.equal(look(placement(asked), unsaid), 'accepted');
    assert.equal(
      look(placement(asked, { ...asked, client_order_id: 'other' }), { ...same, combo_type: 'MASTER' }),
      'accepted',
    );
  });

  test('is no part of a combination where it is alone, and not of another side or symbol', () => {
    assert.equal(look(placement(asked), { ...same, combo_type: 'MASTER' }), 'refused');
    assert.equal(look(placement(asked), { ...same, side: 'SELL' }), 'refused');
    assert.equal(look(placement(asked), { ...same, symbol: 'TSLA' }), 'refused');
  });

  test('of options in its legs alone is compared as one of options', () => {
    const { symbol: _, ...unnamed } = asked;
    const legs = [{ instrument_type: 'OPTION', symbol: 'SPXW', side: 'BUY' }];
    const ofOptions = { ...same, symbol: 'SPX', instrument_type: 'OPTION' };
    assert.equal(look(placement({ ...unnamed, legs }), ofOptions), 'accepted');
  });
});

describe('that there is no such order', () => {
  test('is what the upstream says so of, or shows as an empty list', () => {
    const refusal: Refusal = {
      code: 'upstream_rejected',
      upstream: { status: 404, errorCode: 'OPENAPI_ORDER_NOT_FOUND' },
    };
    assert.equal(orderIn(account, id, refusal), 'not_found');
    assert.equal(orderIn(account, id, bytes({ orders: [] })), 'not_found');
  });

  test('is not what an answer says that cannot be read', () => {
    for (const answer of [
      null,
      {},
      [],
      { error_code: 'SYSTEM_ERROR', message: 'later' },
      { orders: null },
      { orders: [{ client_order_id: id, order_state: 'SUBMITTED' }] },
      { orders: [{ client_order_id: id.toUpperCase(), status: 'SUBMITTED' }] },
    ])
      assert.notEqual(orderIn(account, id, bytes(answer)), 'not_found', JSON.stringify(answer));
  });
});
