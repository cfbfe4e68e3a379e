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
const untold = { isReleased: true };
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
  const state = {
    now: begunAt + undecidedAfterMs + 120_000,
    /** What the operator's command reads. */
    seen: 'not_found' as ReadOrder | 'not_found' | 'unread',
  };
  const clock = () => state.now;
  const read = async () => {
    if (state.seen === 'unread') throw new Error('account_not_granted');
    return state.seen;
  };
  const orders = {
    order: read,
    openOrders: async () => [await read()].filter((one) => one !== 'not_found'),
  };
  const parts = { journal, orders, names, by: 'arn:operator', clock, sleep: async () => {} };
  const decide = (decision: Decision, reason = 'the desk says so') =>
    decideOrder(parts, { account, clientOrderId, decision, reason });
  const end = () => decideOrder(parts, { account, decision: 'ended', reason: 'the account has left' });
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
  return { journal, state, decide, end, open, outcome, stored, settlement };
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
  assert.deepEqual(await decide('no_effect'), {
    isReleased: true,
    saw: 'The upstream does not show it.',
  });
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

test.each(['an event', 'the list of open orders'] as const)(
  'an order that %s shows after all is accepted, and counts again',
  async (how) => {
    const { decide, open, stored, settlement, state } = await world();
    await decide('no_effect');
    if (how === 'an event') assert.equal(await settlement.saw(shown), true);
    else
      for (let run = 0; run < 5; run++) {
        state.now += 60_000;
        await settlement.run(state.now + 40_000);
      }
    const entry = await stored();
    assert.deepEqual([entry?.state, await open()], ['accepted', '50']);
    assert.equal(readRecord(entry!.record).outcome?.evidence, how === 'an event' ? 'look_up' : 'list');
  },
);

test('accepted: it counts on until its end is seen', async () => {
  const { decide, open, stored, settlement, outcome } = await world();
  await decide('accepted');
  assert.deepEqual([(await stored())?.state, await open()], ['accepted', '50']);
  assert.deepEqual((await outcome()).state, 'accepted');
  await settlement.saw({ ...shown, state: { ...shown.state, status: 'FILLED', filled: '10' } });
  assert.equal(await open(), '0');
});

test('a look-up comes before no_effect, and what it shows is not decided against', async () => {
  const { decide, state, open, outcome, stored } = await world();
  state.seen = shown;
  await assert.rejects(
    decide('no_effect'),
    /shows an order of this id, SUBMITTED: .* this order is accepted/,
  );
  assert.deepEqual([(await outcome()).evidence, await open()], ['look_up', '50']);
  await assert.rejects(decide('no_effect'), /is accepted: what is known/);
  assert.equal(readRecord((await stored())!.record).outcome?.by, undefined);
  const unread = await world();
  unread.state.seen = 'unread';
  const decided = await unread.decide('no_effect');
  assert.match(decided.saw ?? '', /could not be asked about it \(account_not_granted\)/);
  assert.deepEqual([(await unread.outcome()).state, await unread.open()], ['refused', '0']);
});

describe('an operator takes back what an operator decided', () => {
  test('accepted: the id is free, and counters have nothing of it', async () => {
    const { decide, open, stored, outcome } = await world();
    assert.deepEqual(await decide('accepted'), untold);
    await decide('no_effect', 'the desk was wrong');
    assert.deepEqual([(await outcome()).state, await open()], ['refused', '0']);
    assert.equal(readRecord((await stored())!.record).outcome?.reason, 'the desk was wrong');
  });

  test('no effect: it counts again, and once', async () => {
    const { decide, open, outcome } = await world();
    await decide('no_effect');
    for (let time = 0; time < 2; time++) assert.deepEqual(await decide('accepted'), untold);
    assert.deepEqual([(await outcome()).state, await open()], ['accepted', '50']);
  });

  test('but not what a list of open orders has shown since', async () => {
    const { decide, open, outcome, settlement, state } = await world();
    await decide('accepted');
    for (let run = 0; run < 5; run++) {
      state.now += 60_000;
      await settlement.run(state.now + 40_000);
    }
    assert.deepEqual([(await outcome()).evidence, await open()], ['list', '50']);
    await assert.rejects(decide('no_effect'), /is accepted: what is known/);
  });
});

describe('what no read shows the end of', () => {
  const accepted = { state: 'accepted' } as const;
  const told = { isReleased: true, ended: 1, saw: 'The account’s list of open orders does not show it.' };

  test('is ended by name, with who and why, and stays accepted', async () => {
    const { decide, open, stored, outcome } = await world(accepted);
    const before = readRecord((await stored())!.record);
    assert.deepEqual(await decide('ended', 'the account has left the app key'), told);
    assert.deepEqual([(await outcome()).state, await open()], ['accepted', '0']);
    const { by, reason, ended, evidence } = readRecord((await stored())!.record).outcome!;
    assert.deepEqual(
      [by, reason, ended, evidence],
      ['arn:operator', 'the account has left the app key', true, before.outcome?.evidence],
    );
    await assert.rejects(decide('ended'), /count nothing of it/);
    await assert.rejects(decide('no_effect'), /is accepted: what is known/);
  });

  test('is ended with all that counters have of its account, which cannot be read any more', async () => {
    const { end, open, state } = await world(accepted);
    state.seen = 'unread';
    const { ended, saw } = await end();
    assert.equal(ended, 1);
    assert.match(saw ?? '', /account_not_granted/);
    assert.equal(await open(), '0');
  });

  test('counts again when it shows, or when the operator takes it back', async () => {
    for (const takeBack of [false, true]) {
      const { decide, open, settlement, state, outcome } = await world(accepted);
      await decide('ended');
      if (takeBack) await decide('accepted');
      else
        for (let run = 0; run < 5; run++) {
          state.now += 60_000;
          await settlement.run(state.now + 40_000);
        }
      assert.deepEqual([(await outcome()).state, await open()], ['accepted', '50']);
    }
  });

  test('is not ended while the upstream shows it open, or while it is unknown', async () => {
    const { decide, open, state } = await world(accepted);
    state.seen = shown;
    await assert.rejects(decide('ended'), /shows an order as open/);
    assert.equal(await open(), '50');
    const unknown = await world();
    await assert.rejects(unknown.decide('ended'), /not known yet whether it was placed/);
    assert.equal(await unknown.open(), '50');
  });
});

test('no function can decide: none has it in its code', () => {
  const files = readdirSync(join(root, 'functions'), { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.ts')))
    assert.doesNotMatch(readFileSync(join(root, 'functions', file), 'utf8'), /orders\/decide/, file);
});
