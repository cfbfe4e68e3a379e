/** What an operator may decide, what comes of it, and what shows after all. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { readCounter } from '../../lib/guard-rails/counter.ts';
import { type Decision, decideOrder, undecidedAfterMs } from '../../lib/orders/decide.ts';
import { createMemoryOrderJournal, createSettlement, type JournalEntry } from '../../lib/orders/index.ts';
import { orderOutcome } from '../../lib/orders/order-outcome.ts';
import type { ReadOrder } from '../../lib/orders/order-reads.ts';
import { orderKey } from '../../lib/orders/parts.ts';
import { readRecord } from '../../lib/orders/record.ts';
import { root } from '../support/bundle.ts';
import { names } from '../support/instances.ts';
import { entryOf } from './journal.contract.ts';

const account = '1234567';
const clientOrderId = 'lost-order';
const counter = 'counter stack';
const exposure = JSON.stringify({ quantity: '10', limitPrice: '5', counted: { [counter]: '50' } });
const begunAt = Date.UTC(2026, 10, 20, 15);
const shown: ReadOrder = {
  state: { account, clientOrderId, status: 'SUBMITTED', filled: '0', terms: '{"total_quantity":"10"}' },
  payload: JSON.stringify({ client_order_id: clientOrderId, order_id: 'U1', place_time: String(begunAt) }),
};

async function world(entry: Partial<JournalEntry> | null = {}) {
  const journal = createMemoryOrderJournal();
  const key = await orderKey(names, { account, clientOrderId });
  const asked = JSON.stringify({ client_order_id: clientOrderId, instrument_type: 'EQUITY', quantity: '10' });
  const record = JSON.stringify({
    operation: 'placeOrder',
    kind: 'placement',
    account_id: account,
    client_order_id: clientOrderId,
    asked,
    request_id: 'request-1',
    begun_at: new Date(begunAt).toISOString(),
  });
  const own = {
    state: 'unknown',
    at: begunAt,
    sendBy: begunAt,
    record,
    listedAs: 'placements',
    exposure,
  } as const;
  const counted = { key: counter, revision: 0, next: '{"open":"50","recent":[]}' };
  if (entry)
    await journal.beginCounted([{ ...entryOf(key), ...own, ...entry }], 0, {
      counters: [counted],
      exposures: [],
    });
  const state = { now: begunAt + undecidedAfterMs + 120_000 };
  const clock = () => state.now;
  const parts = { journal, names, by: 'arn:operator', clock, sleep: async () => {} };
  const decide = (decision: Decision, reason = 'the desk says so') =>
    decideOrder(parts, { account, clientOrderId, decision, reason });
  const open = async () => readCounter((await journal.counters([counter]))[0]!).open;
  const outcome = () => orderOutcome({ journal, names }, { account, clientOrderId }, state.now);
  const stored = async () => (await journal.read([key])).get(key);
  const settlement = createSettlement({
    journal,
    names,
    clock,
    sleep: async () => {},
    orders: { openOrders: async () => [shown], ordersSince: async () => [shown], order: async () => shown },
  });
  return { journal, state, decide, open, outcome, stored, settlement };
}

describe('refused', () => {
  const cases: readonly (readonly [string, RegExp, Partial<JournalEntry> | null, number])[] = [
    ['an order that is not in the journal', /no order of this id/, null, 0],
    ['one that was accepted', /is accepted/, { state: 'accepted' }, 0],
    ['one that was refused', /is refused/, { state: 'refused' }, 0],
    ['one that evidence may still decide', /Evidence may still decide/, {}, -120_000],
    ['one whose instance may be at it', /Evidence may still decide/, { state: 'pending' }, -120_000],
  ];
  for (const [name, message, entry, laterMs] of cases)
    test(name, async () => {
      const { decide, state, open } = await world(entry);
      state.now += laterMs;
      for (const decision of ['accepted', 'no_effect'] as const)
        await assert.rejects(decide(decision), message);
      if (entry) assert.equal(await open(), '50');
    });

  test('a decision without a reason', async () => {
    const { decide, open } = await world();
    await assert.rejects(decide('no_effect', ' \n '), /A reason/);
    assert.equal(await open(), '50');
  });

  test('what evidence settles at the same moment', async () => {
    const { decide, journal, open, stored } = await world();
    const { finish } = journal;
    Object.assign(journal, {
      async finish(outcome: Parameters<typeof finish>[0]) {
        await finish({ ...outcome, state: 'accepted', record: (await stored())!.record });
        return finish(outcome);
      },
    });
    await assert.rejects(decide('no_effect'), /Evidence was faster/);
    assert.deepEqual([(await stored())?.state, await open()], ['accepted', '50']);
  });
});

test('no effect: the id is free, the counter has nothing of it, and the record has who, when and why', async () => {
  const { decide, open, stored, outcome, state } = await world();
  assert.equal(await decide('no_effect'), true);
  const entry = await stored();
  assert.deepEqual([entry?.state, entry?.exposure, await open()], ['refused', undefined, '0']);
  const { by, reason, at, evidence } = readRecord(entry!.record).outcome!;
  assert.deepEqual(
    [by, reason, at, evidence],
    ['arn:operator', 'the desk says so', new Date(state.now).toISOString(), 'operator'],
  );
  const told = await outcome();
  assert.deepEqual([told.state, told.evidence], ['refused', 'operator']);
  // Who decided, and why, is for operators.
  assert.ok(!JSON.stringify(told).includes('desk') && !JSON.stringify(told).includes('arn:'));
});

test('an order that shows after all is accepted, and counts again', async () => {
  const { decide, open, stored, settlement } = await world();
  await decide('no_effect');
  assert.equal(await settlement.saw(shown), true);
  const entry = await stored();
  assert.deepEqual([entry?.state, await open()], ['accepted', '50']);
  assert.equal(readRecord(entry!.record).outcome?.evidence, 'look_up');
});

test('accepted: it counts on until its end is seen', async () => {
  const { decide, open, stored, settlement, outcome } = await world();
  await decide('accepted');
  assert.deepEqual([(await stored())?.state, await open()], ['accepted', '50']);
  assert.deepEqual((await outcome()).state, 'accepted');
  await settlement.saw({ ...shown, state: { ...shown.state, status: 'FILLED', filled: '10' } });
  assert.equal(await open(), '0');
});

test('no function can decide: none has it in its code', () => {
  const files = readdirSync(join(root, 'functions'), { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.ts')))
    assert.doesNotMatch(readFileSync(join(root, 'functions', file), 'utf8'), /orders\/decide/, file);
});
