/** Which orders leave the open notional by what the upstream shows of them, and after how many reads. */

import assert from 'node:assert/strict';
import type { JournalEntry } from '../../lib/orders/index.ts';
import { type OrderRecord, readRecord } from '../../lib/orders/record.ts';
import type { ExposureSubject } from './exposure-world.ts';

const begunAt = 1_800_000_000_000;

interface Placed extends Partial<OrderRecord> {
  readonly client_order_id: string;
}

function entryOf(given: Placed, index: number): JournalEntry {
  const begun_at = new Date(begunAt).toISOString();
  const record = { operation: 'placeOrder', kind: 'placement', asked: '{}', request_id: 'r', begun_at };
  return {
    key: `key-${String(index).padStart(4, '0')}`,
    attempt: 'first',
    hash: 'h',
    state: 'accepted',
    credential: 'app',
    at: begunAt,
    sendBy: begunAt,
    record: JSON.stringify({ ...record, account_id: 'a', ...given }),
    listedAs: 'placements',
    exposure: '{"counted":{"counter stack":"10"}}',
  };
}

type Shown = Readonly<Record<string, { readonly status: string; readonly filled: string }>>;

/** @returns the ids of orders that count on after a run of so many reads, in the order of their entries */
async function leftAfterRun(
  { createMemoryOrderJournal, createSettlement }: ExposureSubject,
  entries: readonly Placed[],
  shown: Shown,
  reads = 100,
): Promise<readonly (string | undefined)[]> {
  const journal = createMemoryOrderJournal();
  const next = JSON.stringify({ open: `${10 * entries.length}`, recent: [] });
  const counters = [{ key: 'counter stack', revision: 0, next }];
  await journal.beginCounted(entries.map(entryOf), begunAt, { counters, exposures: [] });
  let now = begunAt + 90_000;
  const read = async <T>(found: T): Promise<T> => {
    now += 1000;
    return found;
  };
  const settlement = createSettlement({
    journal,
    orders: {
      openOrders: () => read([]),
      ordersSince: () => read([]),
      order: (account, clientOrderId) => {
        const found = shown[clientOrderId];
        return read(found ? { state: { account, clientOrderId, ...found }, payload: '{}' } : 'not_found');
      },
    },
    names: { nameOf: async (...texts) => texts.join('|') },
    clock: () => now,
    sleep: async () => {},
  });
  await settlement.run(now + reads * 1000);
  const left = await journal.exposed('', 1000);
  const [counter] = await journal.counters(['counter stack']);
  assert.equal(JSON.parse(counter!.state).open, `${10 * left.length}`);
  return left.map(({ record }) => readRecord(record).client_order_id);
}

/** Parts that do not show end with the master of their request, while nothing of it is filled. */
async function partsEndWithTheirMaster(subject: ExposureSubject): Promise<void> {
  const cases: readonly (readonly [types: string, status: string, filled: string, left: string])[] = [
    ['MASTER STOP_PROFIT STOP_LOSS', 'CANCELLED', '0', ''],
    ['MASTER OTO OTOCO', 'CANCELLED', '0', ''],
    ['MASTER STOP_PROFIT STOP_LOSS', 'CANCELLED', '1', '1 2'],
    ['MASTER STOP_PROFIT STOP_LOSS', 'FILLED', '10', '1 2'],
    ['MASTER STOP_PROFIT STOP_LOSS', 'SUBMITTED', '0', '0 1 2'],
    ['MASTER STOP_PROFIT STOP_LOSS', '', '', '0 1 2'],
    ['MASTER MASTER STOP_LOSS', 'CANCELLED', '0', '1 2'],
    ['MASTER NORMAL OCO', 'CANCELLED', '0', '1 2'],
    ['OCO OCO OCO', 'CANCELLED', '0', '1 2'],
  ];
  for (const [types, status, filled, left] of cases) {
    const new_orders = types
      .split(' ')
      .map((combo_type, index) => ({ client_order_id: `${index}`, combo_type }));
    const asked = JSON.stringify({ new_orders });
    const placed = new_orders.map(({ client_order_id }) => ({ client_order_id, asked, list: 'new_orders' }));
    const shown: Shown = status === '' ? {} : { 0: { status, filled } };
    const found = await leftAfterRun(subject, placed, shown);
    assert.equal(found.join(' '), left, `${types}: ${status} ${filled}`);
  }
}

/** The entry of a bracket counts for all of it, until the last of its orders has ended. */
async function bracketsEndWithTheirLast(subject: ExposureSubject): Promise<void> {
  const stock = { instrument_type: 'EQUITY', symbol: 'AAPL', entrust_type: 'QTY', quantity: '10' };
  const new_orders = [
    { ...stock, client_order_id: 'exit', combo_type: 'STOP_PROFIT', side: 'SELL' },
    { ...stock, client_order_id: 'entry', combo_type: 'MASTER', side: 'BUY' },
  ];
  const asked = JSON.stringify({ new_orders });
  const placed = { client_order_id: 'entry', asked, list: 'new_orders' };
  const cases: readonly (readonly [shown: Shown, left: readonly string[]])[] = [
    [{ entry: { status: 'FILLED', filled: '10' } }, ['entry']],
    [{ exit: { status: 'CANCELLED', filled: '0' } }, ['entry']],
    [{ entry: { status: 'CANCELLED', filled: '1' } }, ['entry']],
    [{ entry: { status: 'CANCELLED', filled: '0' } }, []],
    [{ entry: { status: 'FAILED', filled: '0' } }, []],
    [{ entry: { status: 'FILLED', filled: '10' }, exit: { status: 'SUBMITTED', filled: '0' } }, ['entry']],
    [{ entry: { status: 'FILLED', filled: '10' }, exit: { status: 'FILLED', filled: '10' } }, []],
  ];
  for (const [shown, left] of cases)
    assert.deepEqual(await leftAfterRun(subject, [placed], shown), left, JSON.stringify(shown));
  const exit = { ...placed, client_order_id: 'exit' };
  const isOver: Shown = { exit: { status: 'CANCELLED', filled: '0' } };
  assert.deepEqual(await leftAfterRun(subject, [exit], isOver), []);
}

/** Orders of one user that never show keep those of no other user counted. */
async function usersHaveTheirTurns(subject: ExposureSubject): Promise<void> {
  const hidden = Array.from({ length: 500 }, (_, index) => ({
    client_order_id: `hidden-${index}`,
    user: 'greedy',
    account_id: `account-${index % 20}`,
  }));
  const others = [
    { client_order_id: 'one', user: 'other' },
    { client_order_id: 'two', user: 'other', account_id: 'account-1' },
    { client_order_id: 'three', user: 'third' },
    { client_order_id: 'four', account_id: 'of no user' },
  ];
  const shown: Shown = Object.fromEntries(
    others.map(({ client_order_id }) => [client_order_id, { status: 'FILLED', filled: '10' }]),
  );
  assert.equal((await leftAfterRun(subject, [...hidden, ...others], shown, 14)).length, hidden.length);
}

export const releaseRules = [partsEndWithTheirMaster, bracketsEndWithTheirLast, usersHaveTheirTurns];
