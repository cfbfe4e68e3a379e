/** A journal that was restored: what is written again, what it waits for, and when it opens. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import {
  createMemoryCheckpoints,
  nextCheckpoint,
  restoredTables,
  type TableNames,
} from '../../lib/guard-rails/checkpoints.ts';
import { readCounter } from '../../lib/guard-rails/counter.ts';
import { createMemoryOrderAudit } from '../../lib/orders/audit.ts';
import { auditLineOf } from '../../lib/orders/audit-line.ts';
import { createMemoryOrderJournal, type JournalEntry } from '../../lib/orders/index.ts';
import { orderOutcome } from '../../lib/orders/order-outcome.ts';
import type { ReadOrder } from '../../lib/orders/order-reads.ts';
import { orderKey } from '../../lib/orders/parts.ts';
import { reconcile } from '../../lib/orders/reconcile.ts';
import { names } from '../support/instances.ts';
import { entryOf } from './journal.contract.ts';

const minute = 60_000;
const account = '1234567';
const counter = 'counter stack';
const start = Date.UTC(2026, 10, 20, 15);
const exposureOf = (notional: string, quantity = '10') =>
  JSON.stringify({ quantity, limitPrice: '5', counted: { [counter]: notional } });

const shown = (
  id: string,
  placedAt: number,
  {
    status = 'SUBMITTED',
    quantity = '10',
    ...terms
  }: Readonly<
    Partial<Record<'status' | 'quantity' | 'order_type' | 'limit_price' | 'stop_price', string>>
  > = {},
): ReadOrder => ({
  state: {
    account,
    clientOrderId: id,
    status,
    filled: '0',
    terms: JSON.stringify({ total_quantity: quantity, limit_price: '5', ...terms }),
  },
  payload: JSON.stringify({ client_order_id: id, order_id: `U-${id}`, place_time: String(placedAt) }),
});

/** A minute ago the journal had its last checkpoint; then it was restored, and lacks what was sent since. */
async function world() {
  const state = { now: start, open: [] as readonly ReadOrder[], fails: false };
  const clock = () => state.now;
  const journal = createMemoryOrderJournal();
  const texts = new Map<string, string>();
  const tables = { journal: 'orders', controls: 'controls', users: 'users' };
  const checkpoints = createMemoryCheckpoints(tables, texts);
  await nextCheckpoint(checkpoints, tables, clock());
  const copy = texts.get('orders')!;
  state.now += minute;
  await nextCheckpoint(checkpoints, tables, clock());
  texts.set('orders', copy);
  const audit = createMemoryOrderAudit();
  let sequence = 0;
  const orderOf = async (id: string, more: Partial<JournalEntry> = {}): Promise<JournalEntry> => ({
    ...entryOf(await orderKey(names, { account, clientOrderId: id })),
    at: start + 30_000,
    sendBy: start + 40_000,
    record: JSON.stringify({
      operation: 'placeOrder',
      kind: 'placement',
      account_id: account,
      client_order_id: id,
      asked: '{}',
      request_id: id,
      begun_at: '',
    }),
    ...more,
  });
  const reads = async () => {
    if (state.fails) throw new Error('no answer');
    return state.open;
  };
  const options = {
    journal,
    checkpoints,
    tables,
    audit,
    names,
    clock,
    sleep: async () => {},
    reportFailure: () => {},
    orders: { accounts: async () => [account], openOrders: reads, ordersSince: reads },
  };
  const run = () => reconcile(options, state.now + minute);
  return {
    state,
    journal,
    texts,
    orderOf,
    run,
    audited: async (after: JournalEntry) =>
      audit.append(auditLineOf({ sequence: `${++sequence}`, at: state.now - 1000, after })!),
    /** Runs each minute. @returns how many until orders are open; undefined where they never are */
    async untilOpen(most = 40) {
      for (let minutes = 0; minutes < most; minutes++, state.now += minute)
        if (!(await run())) return minutes;
      return undefined;
    },
    open: async () => {
      const [stored] = await journal.counters([counter]);
      return stored ? readCounter(stored).open : '0';
    },
    stored: async (id: string) => {
      const key = await orderKey(names, { account, clientOrderId: id });
      return (await journal.read([key])).get(key);
    },
    outcome: (id: string) => orderOutcome({ journal, names }, { account, clientOrderId: id }, state.now),
  };
}

test('what the audit has is written again, and counts; then the journal opens by itself', async () => {
  const { audited, orderOf, run, open, stored, untilOpen, state, outcome } = await world();
  const sent = await orderOf('a', { state: 'accepted', exposure: exposureOf('50') });
  await audited(sent);
  state.open = [shown('a', start + 30_000)];
  assert.deepEqual(await run(), { restored: ['journal'], recovered: 1, uncounted: 0, waitsFor: 'upstream' });
  assert.deepEqual([await stored('a'), await open()], [sent, '50']);
  await assert.rejects(outcome('b'), { code: 'journal_unavailable' });
  const minutes = (await untilOpen())!;
  assert.ok(minutes >= 11 && minutes < 15, `${minutes}`);
  assert.equal((await outcome('b')).state, 'not_recorded');
});

test('what counters have of an attempt leaves them with its entry', async () => {
  const { audited, orderOf, journal, run, open, stored } = await world();
  const before = await orderOf('a', { attempt: 'before', exposure: exposureOf('30') });
  const counted = { key: counter, revision: 0, next: '{"open":"30","recent":[]}' };
  await journal.beginCounted([{ ...before, at: start - minute }], 0, { counters: [counted], exposures: [] });
  const since = await orderOf('a', { attempt: 'since', state: 'accepted', exposure: exposureOf('50') });
  await audited(since);
  await run();
  assert.deepEqual([(await stored('a'))?.attempt, await open()], ['since', '50']);
});

describe('it stays closed', () => {
  test('while an open order has no entry, whose id is taken then', async () => {
    const { state, untilOpen, stored } = await world();
    state.open = [shown('a', start + 30_000)];
    assert.equal(await untilOpen(), undefined);
    assert.equal((await stored('a'))?.state, 'accepted');
    state.open = [shown('a', start + 30_000, { status: 'CANCELLED' })];
    assert.ok((await untilOpen()) !== undefined);
  });

  const limited = { quantity: '10', limitPrice: '5' };
  const unlimited = { quantity: '10', isUnlimited: true };
  const stopped = { order_type: 'STOP_LOSS', stop_price: '400' };
  for (const [name, known, now] of [
    ['more shares', limited, { quantity: '11' }],
    ['a higher limit price', limited, { order_type: 'LIMIT', limit_price: '5.01' }],
    ['a limit price that is further below zero', limited, { order_type: 'LIMIT', limit_price: '-5.01' }],
    ['a limit price that nothing counts', unlimited, { order_type: 'LIMIT' }],
    ['no limit price any more', limited, { order_type: 'MARKET' }],
    ['a stop price', limited, stopped],
    ['a stop price beside its limit price', limited, { order_type: 'STOP_LOSS_LIMIT', stop_price: '400' }],
    ['a stop price that nothing counts', unlimited, stopped],
    ['a higher stop price', { ...unlimited, stopPrice: '399' }, stopped],
  ] as const)
    test(`while an open order has ${name}, and counters have less of it, until it has ended`, async () => {
      const { state, untilOpen, audited, orderOf } = await world();
      const exposure = JSON.stringify({ ...known, counted: { [counter]: '50' } });
      await audited(await orderOf('a', { state: 'accepted', exposure }));
      state.open = [shown('a', start + 30_000, now)];
      assert.equal(await untilOpen(), undefined);
      state.open = [shown('a', start + 30_000, { ...now, status: 'CANCELLED' })];
      assert.ok((await untilOpen()) !== undefined);
    });

  test('while the upstream cannot be read, or does not show what it accepted', async () => {
    const { state, untilOpen, audited, orderOf } = await world();
    await audited(await orderOf('a', { state: 'accepted', exposure: exposureOf('50') }));
    assert.equal(await untilOpen(), undefined);
    state.open = [shown('a', start + 30_000)];
    state.fails = true;
    assert.equal(await untilOpen(), undefined);
    state.fails = false;
    assert.ok((await untilOpen()) !== undefined);
  });

  for (const [name, text] of [
    ['its checkpoint is lost', undefined],
    ['it is older than the lists of the upstream', { at: start - 8 * 24 * 60 * minute }],
  ] as const)
    test(`where ${name}: an operator says what is open`, async () => {
      const { texts, untilOpen, run } = await world();
      const old = { ...JSON.parse(texts.get('orders')!), ...text };
      if (text) texts.set('orders', JSON.stringify(old));
      else texts.delete('orders');
      assert.equal(await untilOpen(), undefined);
      assert.equal((await run())?.waitsFor, 'operator');
    });

  test('for its whole time again where it is restored meanwhile', async () => {
    const { state, run, journal, untilOpen } = await world();
    for (let minutes = 0; minutes < 8; minutes++, state.now += minute) await run();
    const [progress] = await journal.counters(['reconciliation']);
    state.now += 10 * minute;
    assert.ok(progress);
    assert.ok((await untilOpen())! >= 11);
  });
});

for (const [name, known, now] of [
  ['a limit price', { limitPrice: '5' }, { order_type: 'LIMIT' }],
  ['none', { isUnlimited: true }, { order_type: 'MARKET', limit_price: '5' }],
  ['a stop price', { isUnlimited: true, stopPrice: '400' }, { order_type: 'STOP_LOSS', stop_price: '400' }],
  ['both', { limitPrice: '5', stopPrice: '4' }, { order_type: 'STOP_LOSS_LIMIT', stop_price: '4' }],
] as const)
  test(`an open order with ${name}, all of which counters have, keeps nothing closed`, async () => {
    const { state, untilOpen, audited, orderOf } = await world();
    const exposure = JSON.stringify({ quantity: '10', ...known, counted: { [counter]: '50' } });
    await audited(await orderOf('a', { state: 'accepted', exposure }));
    state.open = [shown('a', start + 30_000, now)];
    assert.ok((await untilOpen()) !== undefined);
  });

test('an order of another program, placed before, keeps nothing closed and gets no entry', async () => {
  const { state, untilOpen, stored } = await world();
  state.open = [shown('a', start - 60 * minute)];
  assert.ok((await untilOpen()) !== undefined);
  assert.equal(await stored('a'), undefined);
});

describe('which tables are restored', () => {
  const at = (number: number, tables: TableNames) => JSON.stringify({ number, at: start, tables });
  const both = { journal: 'a', controls: 'b' };
  const cases: readonly (readonly [
    string,
    TableNames,
    Readonly<Record<string, string>>,
    readonly string[],
  ])[] = [
    ['none of a new stage', both, {}, []],
    ['none that has the newest checkpoint', both, { journal: at(2, both), controls: at(2, both) }, []],
    ['one that has an older one', both, { journal: at(1, both), controls: at(2, both) }, ['journal']],
    ['one that has none', both, { journal: at(2, both) }, ['controls']],
    [
      'one of another name',
      { ...both, journal: 'c' },
      { journal: at(2, both), controls: at(2, both) },
      ['journal'],
    ],
    [
      'all of other names, also to one minute',
      { journal: 'c', controls: 'd' },
      { journal: at(2, both), controls: at(2, both) },
      ['journal', 'controls'],
    ],
    [
      'none that is new in the stage',
      { ...both, users: 'u' },
      { journal: at(2, both), controls: at(2, both) },
      [],
    ],
  ];
  for (const [name, tables, texts, restored] of cases)
    test(name, () => {
      const stored = new Map(Object.entries(texts)) as Parameters<typeof restoredTables>[1];
      assert.deepEqual(restoredTables(tables, stored), restored);
    });
});

test('an order that counted as not placed, and that the upstream shows, keeps its entry and counts again', async () => {
  const { state, journal, orderOf, untilOpen, open } = await world();
  const entry = await orderOf('absent', { hash: 'of its request', state: 'refused' });
  const outcome = { evidence: 'absence', at: new Date(start).toISOString(), exposure: exposureOf('50') };
  const record = JSON.stringify({ ...JSON.parse(entry.record), outcome });
  await journal.begin([{ ...entry, record }], 0);
  state.open = [shown('absent', start + 30_100)];
  assert.ok((await untilOpen()) !== undefined);
  const stored = (await journal.read([entry.key])).get(entry.key);
  assert.deepEqual([stored?.state, stored?.hash, await open()], ['accepted', 'of its request', '50']);
});
