import assert from 'node:assert/strict';
import { describe, test } from 'vitest';

import {
  createMemoryOrderJournal,
  createSettlement,
  type JournalEntry,
  JournalUnavailable,
  type OrderJournal,
} from '../../lib/orders/index.ts';
import { orderKey } from '../../lib/orders/parts.ts';
import { accountId } from '../support/core.ts';
import { names } from '../support/instances.ts';
import { entryOf } from './journal.contract.ts';

const minute = 60_000;

const keyOf = (clientOrderId: string) => orderKey(names, { account: accountId, clientOrderId });

const shown = (id: string) => {
  const state = { account: accountId, clientOrderId: id, status: 'SUBMITTED', filled: '0' };
  return { state, payload: JSON.stringify({ client_order_id: id, order_id: `U-${id}` }) };
};

/** An order whose outcome is unknown, in a request that places these together. */
async function beginUnknown(journal: OrderJournal, at: number, id: string, together: readonly object[]) {
  const record = {
    operation: 'placeOrder',
    kind: 'placement',
    account_id: accountId,
    client_order_id: id,
    asked: JSON.stringify({ account_id: accountId, new_orders: together }),
    list: 'new_orders',
    request_id: 'request',
    begun_at: '',
  };
  const entry = { attempt: id === 'alone' ? 'other' : 'first', state: 'unknown', at, sendBy: at } as const;
  await journal.begin([entryOf(await keyOf(id), { ...entry, record: JSON.stringify(record) })], at);
}

const stateIn = async (journal: OrderJournal, id: string) =>
  (await journal.read([await keyOf(id)])).get(await keyOf(id))?.state;

test('a part of a combination that does not show is accepted when another part was', async () => {
  let now = Date.UTC(2026, 10, 20, 15);
  const journal = createMemoryOrderJournal();
  const orders = ['master', 'child', 'alone'].map((id) => ({ client_order_id: id, combo_type: 'MASTER' }));
  const [master, child, alone] = orders as [object, object, object];
  await beginUnknown(journal, now, 'master', [master, child]);
  await beginUnknown(journal, now, 'child', [master, child]);
  await beginUnknown(journal, now, 'alone', [alone, alone]);
  const settlement = createSettlement({
    journal,
    names,
    clock: () => now,
    orders: {
      openOrders: async () => [shown('master')],
      ordersSince: async () => [shown('master')],
      order: async (_, id) => (id === 'master' ? shown(id) : 'not_found'),
    },
  });
  for (let run = 0; run < 20; run++) {
    now += minute;
    await settlement.run(now + minute);
  }
  assert.deepEqual(await Promise.all(['master', 'child', 'alone'].map((id) => stateIn(journal, id))), [
    'accepted',
    'accepted',
    'refused',
  ]);
});

test('what was not found counts from when the look-up was asked, and not from when it was concluded', async () => {
  const sent = Date.UTC(2026, 10, 20, 15);
  let now = sent;
  const journal = createMemoryOrderJournal();
  await beginUnknown(journal, sent, 'alone', [{ client_order_id: 'alone' }]);
  const settlement = createSettlement({
    journal,
    names,
    clock: () => now,
    orders: {
      openOrders: async () => [],
      // Whether look-ups work is known two minutes later.
      ordersSince: async () => {
        now += 2 * minute;
        return [shown('another')];
      },
      order: async (_, id) => (id === 'another' ? shown(id) : 'not_found'),
    },
  });
  const states = [];
  for (const minutes of [5, 12, 19]) {
    now = sent + minutes * minute;
    await settlement.run(now + 5 * minute);
    states.push(await stateIn(journal, 'alone'));
  }
  assert.deepEqual(states, ['unknown', 'unknown', 'refused']);
});

describe('many that stay unknown', () => {
  const at = Date.UTC(2026, 10, 20, 15);
  const entry = (index: number, kind: string, record?: string): JournalEntry => ({
    key: `key-${index}`,
    attempt: 'attempt',
    hash: 'hash',
    state: 'unknown',
    credential: 'credential',
    at: at + index,
    sendBy: at + index,
    listedAs: kind === 'placement' ? 'placements' : 'changes',
    record:
      record ??
      JSON.stringify({
        operation: 'of this test',
        kind,
        account_id: accountId,
        client_order_id: `order-${index}`,
        asked: JSON.stringify({ new_orders: [{ client_order_id: `order-${index}` }] }),
        request_id: 'request',
        begun_at: new Date(at).toISOString(),
      }),
  });
  /** Each read takes a second; every order has that status. */
  async function startWith(entries: readonly JournalEntry[], status = 'SUBMITTED', isListed = false) {
    let now = at + 60 * minute;
    const causes: unknown[] = [];
    const asked: string[] = [];
    const journal = createMemoryOrderJournal();
    await journal.begin(entries, at);
    const settlement = createSettlement({
      journal,
      names,
      clock: () => now,
      reportFailure: (cause) => causes.push(cause),
      orders: {
        openOrders: async () => (isListed ? entries.map((_, index) => shown(`order-${index}`)) : []),
        ordersSince: async () => [],
        async order(account, clientOrderId) {
          now += 1000;
          asked.push(clientOrderId);
          if (status === 'not_found') return status;
          const state = { account, clientOrderId, status, filled: '0' };
          return { state, payload: JSON.stringify({ client_order_id: clientOrderId }) };
        },
      },
    });
    return { settlement, journal, causes, asked, now: () => now };
  }

  test('one list of open orders settles all that are open', async () => {
    const placements = [0, 1, 2, 3, 4].map((index) => entry(index, 'placement'));
    const { settlement, now } = await startWith(placements, 'SUBMITTED', true);
    const { accepted, reads } = await settlement.run(now() + minute);
    assert.deepEqual([accepted, reads], [5, 1]);
  });

  test('an event has the order looked up, which decides also where it tells of a failure', async () => {
    const placed = { ...entry(0, 'placement'), key: await keyOf('order-0') };
    const order = shown('order-0');
    const failed = { ...order, state: { ...order.state, status: 'FAILED' } };
    // It may be that of an earlier order of the same id.
    const { settlement: hidden } = await startWith([placed], 'not_found');
    assert.equal(await hidden.saw(failed), false);
    const { settlement } = await startWith([placed]);
    assert.deepEqual([await settlement.saw(failed), await settlement.saw(order)], [true, false]);
  });

  test('cancellations that do not show do not hold up placements', async () => {
    const cancels = Array.from({ length: 50 }, (_, index) => entry(index + 1, 'cancellation'));
    const { settlement, asked, now } = await startWith([entry(0, 'placement'), ...cancels]);
    const report = await settlement.run(now() + 10_000);
    assert.equal(asked[0], 'order-0');
    assert.equal(report.accepted, 1);
    assert.equal(report.left, 50);
  });

  test('a cancellation whose order failed changed nothing, although the order was placed before it', async () => {
    const { settlement, now } = await startWith([entry(1, 'cancellation')], 'FAILED');
    const { refused, left } = await settlement.run(now() + minute);
    assert.deepEqual([refused, left], [1, 0]);
  });

  test('one that cannot be read is told of, counted, and stops none', async () => {
    const broken = [entry(0, 'placement', ''), entry(1, 'placement', '{}')];
    const { settlement, causes, now } = await startWith([...broken, entry(2, 'placement')]);
    const report = await settlement.run(now() + minute);
    assert.equal(report.accepted, 1);
    assert.equal(report.left, 2);
    assert.ok(report.oldestMs >= 60 * minute);
    assert.equal(causes.length, 2);
  });

  test('one whose end the journal does not take stops none', async () => {
    const { settlement, journal, causes, now } = await startWith(
      [0, 1].map((one) => entry(one, 'placement')),
    );
    const { finish } = journal;
    journal.finish = async (outcome) => {
      if (outcome.key === 'key-1') throw new JournalUnavailable();
      return finish(outcome);
    };
    const report = await settlement.run(now() + minute);
    assert.equal(report.accepted, 1);
    assert.equal(report.left, 1);
    assert.equal(causes.length, 1);
  });

  test('what has expired is left alone', async () => {
    const { settlement, now } = await startWith([{ ...entry(0, 'cancellation'), expiresAt: at + 1 }]);
    assert.deepEqual(await settlement.run(now() + minute), {
      accepted: 0,
      refused: 0,
      left: 0,
      apart: 0,
      oldestMs: 0,
      released: 0,
      reads: 0,
    });
  });
});
