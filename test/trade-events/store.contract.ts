/** What every store of trade events must do. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type {
  AcquireCall,
  AddCall,
  LeaseRecord,
  LeaseState,
  OrderChange,
  TradeEvent,
  TradeEventStore,
} from '../../lib/trade-events/index.ts';

let leases = 0;
const now = Date.UTC(2036, 0, 1);
const later = now + 3_600_000;

/** A lease of its own for each check, in the form of a keyed name. */
const nextLease = () => `contract_-${++leases}`.padEnd(22, 'x');

const call = (lease: string, change: Partial<AcquireCall> = {}): AcquireCall => ({
  lease,
  owner: 'one',
  until: now + 10_000,
  endsAt: now + 840_000,
  ...change,
});

const state: LeaseState = { until: now + 10_000, endsAt: now + 840_000 };
/** That of the first owner, as others see it. */
const record: LeaseRecord = { owner: 'one', ...state };

const event = (id: string, change: Partial<TradeEvent> = {}): TradeEvent => ({
  id,
  detailType: 'OrderChanged',
  detail: `{"event_id":"${id}","account_id":"1234567","order":{"qty":1.10, "name":"⚖"}}`,
  ...change,
});

const change = (order: string, more: Partial<OrderChange> = {}): OrderChange => ({
  order,
  expected: undefined,
  state: `{"of":"${order} ⚖"}`,
  isOpen: true,
  expiresAt: later,
  ...more,
});

const add = (lease: string, id: string, more: Partial<AddCall> = {}): AddCall => ({
  lease,
  event: event(id),
  now,
  expiresAt: later,
  ...more,
});

const idsOf = (events: readonly TradeEvent[]) => events.map(({ id }) => id);

type Check = (what: string, run: (store: TradeEventStore, lease: string) => Promise<void>) => void;

export function tradeEventStoreContract(name: string, storeOf: () => TradeEventStore): void {
  const check: Check = (what, run) => test(`${name}: ${what}`, () => run(storeOf(), nextLease()));
  checkLease(check);
  checkOrders(check);
  checkEvents(check);
}

function checkLease(check: Check): void {
  check('one owner acquires the lease, and others see what it has written', async (store, lease) => {
    const acquired = await store.acquire(call(lease));
    assert.deepEqual(acquired, { kind: 'acquired', state });
    const other = call(lease, { owner: 'two', until: later, endsAt: later });
    assert.deepEqual(await store.acquire(other), { kind: 'held', record });
    assert.equal(await store.renew(lease, 'one', { ...state, until: now + 10_001 }), true);
    assert.deepEqual(await store.acquire(other), {
      kind: 'held',
      record: { ...record, until: now + 10_001 },
    });
  });

  check(
    'with any times in it, a lease is taken over when it is as its successor saw it',
    async (store, lease) => {
      const past = { ...state, until: 1, endsAt: 1 };
      await store.acquire(call(lease));
      await store.renew(lease, 'one', past);
      const other = call(lease, { owner: 'two' });
      assert.equal((await store.acquire(other)).kind, 'held', 'no clock decides');
      const changed = [record, { ...record, ...past, owner: 'three' }];
      for (const expired of changed) assert.equal((await store.acquire({ ...other, expired })).kind, 'held');
      const expired = { ...record, ...past };
      assert.equal((await store.acquire({ ...other, expired })).kind, 'acquired');
      assert.equal(await store.renew(lease, 'one', { ...state, until: later }), false);
      const third = await store.acquire({ ...other, owner: 'three', expired });
      assert.deepEqual(third, { kind: 'held', record: { ...record, owner: 'two' } });
    },
  );

  check(
    'of many that saw it expire one takes it over, and of a renewal meanwhile none',
    async (store, lease) => {
      await store.acquire(call(lease));
      const calls = (expired: LeaseRecord) =>
        Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            store.acquire(call(lease, { owner: `owner-${index}`, until: now + index, expired })),
          ),
        );
      await store.renew(lease, 'one', { ...state, until: now + 10_001 });
      assert.ok((await calls(record)).every(({ kind }) => kind === 'held'));
      const kinds = (await calls({ ...record, until: now + 10_001 })).map(({ kind }) => kind);
      assert.equal(kinds.filter((kind) => kind === 'acquired').length, 1);
    },
  );

  check('the same owner acquires it again, when it lost the answer', async (store, lease) => {
    await store.acquire(call(lease));
    const again = await store.acquire(call(lease, { until: now + 10_001 }));
    assert.deepEqual(again, { kind: 'acquired', state: { ...state, until: now + 10_001 } });
  });

  check('a lease that ran out and is no other’s is renewed', async (store, lease) => {
    await store.acquire(call(lease, { until: 1 }));
    assert.equal(await store.renew(lease, 'one', { ...state, until: now + 60_000 }), true);
    assert.equal((await store.acquire(call(lease, { owner: 'two' }))).kind, 'held');
  });

  check('of many at once one acquires it', async (store, lease) => {
    const calls = Array.from({ length: 12 }, (_, index) =>
      store.acquire(call(lease, { owner: `owner-${index}` })),
    );
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === 'acquired').length, 1);
  });

  check('a released lease is free at once, and what it says of the stream stays', async (store, lease) => {
    const first = await store.acquire(call(lease));
    assert.equal(first.kind === 'acquired' && first.state.lastSignAt, undefined);
    const said = {
      lastSignAt: now + 1,
      notBefore: now + 2,
      refusedSecret: 'a-keyed-name',
      refusals: 3,
      comparedAt: now + 4,
      comparedByAccount: { 'another-keyed-name': now + 3 },
    };
    assert.equal(await store.renew(lease, 'one', { ...state, ...said }), true);
    await store.release(lease, 'one', { ...state, ...said, lastSignAt: now + 5 });
    const next = await store.acquire(call(lease, { owner: 'two' }));
    assert.ok(next.kind === 'acquired');
    const { until: _, endsAt: __, ...kept } = next.state;
    assert.deepEqual(kept, { ...said, lastSignAt: now + 5 });
    // A member that is left out is gone.
    await store.renew(lease, 'two', { ...state, lastSignAt: now + 6 });
    await store.release(lease, 'two', { ...state, lastSignAt: now + 6 });
    const last = await store.acquire(call(lease, { owner: 'three' }));
    assert.ok(last.kind === 'acquired');
    assert.deepEqual([last.state.lastSignAt, last.state.notBefore], [now + 6, undefined]);
    assert.deepEqual([last.state.refusedSecret, last.state.comparedAt], [undefined, undefined]);
  });

  check('a lease that is another’s is neither renewed nor released', async (store, lease) => {
    await store.acquire(call(lease));
    await store.renew(lease, 'one', { ...state, lastSignAt: now });
    assert.equal(await store.renew(lease, 'two', { ...state, until: later }), false);
    await store.release(lease, 'two', { ...state, until: 0, lastSignAt: now + 9 });
    const held = await store.acquire(call(lease, { owner: 'three' }));
    assert.deepEqual(held, { kind: 'held', record });
    await store.release(lease, 'one', { ...state, lastSignAt: now + 1 });
    await store.release(lease, 'one', { ...state, lastSignAt: now + 2 });
    const next = await store.acquire(call(lease, { owner: 'three' }));
    assert.equal(next.kind === 'acquired' && next.state.lastSignAt, now + 1);
  });

  check('leases do not know of each other', async (store, lease) => {
    const other = nextLease();
    await store.acquire(call(lease));
    assert.equal((await store.acquire(call(other, { owner: 'two' }))).kind, 'acquired');
    await store.add(add(lease, 'e', { order: change('o') }));
    assert.deepEqual(await store.unpublished(other, 9), []);
    assert.deepEqual(await store.openOrders(other), []);
    assert.equal((await store.known(other, ['o'])).size, 0);
    assert.equal(await store.add(add(other, 'e', { order: change('o') })), 'added');
  });
}

function checkOrders(check: Check): void {
  check('an order is noted when it is as expected, and not otherwise', async (store, lease) => {
    assert.equal((await store.known(lease, ['o'])).size, 0);
    assert.equal(await store.note(lease, change('o', { expected: 'r' })), false);
    assert.equal(await store.note(lease, change('o')), true);
    assert.equal(await store.note(lease, change('o', { state: '{}' })), false);
    const first = (await store.known(lease, ['o', 'none'])).get('o');
    assert.ok(first);
    assert.deepEqual([first.order, first.state, first.isOpen], ['o', '{"of":"o ⚖"}', true]);
    const next = change('o', { expected: first.revision, state: '{"n":2}' });
    assert.equal(await store.note(lease, next), true);
    assert.equal(await store.note(lease, next), false);
    const second = (await store.known(lease, ['o'])).get('o');
    assert.equal(second?.state, '{"n":2}');
    assert.notEqual(second?.revision, first.revision);
  });

  check('a write gives another revision even when it says the same', async (store, lease) => {
    await store.note(lease, change('o'));
    const first = (await store.known(lease, ['o'])).get('o');
    await store.note(lease, change('o', { expected: first?.revision }));
    const second = (await store.known(lease, ['o'])).get('o');
    assert.equal(second?.state, first?.state);
    assert.notEqual(second?.revision, first?.revision);
  });

  check('all open orders are found, however many, and no closed one', async (store, lease) => {
    const names = Array.from({ length: 230 }, (_, index) => `order-${index}`);
    await Promise.all(names.map((order) => store.note(lease, change(order))));
    await store.add(add(lease, 'e', { order: change('by-event') }));
    await store.note(lease, change('closed', { isOpen: false }));
    const closing = (await store.known(lease, ['order-7'])).get('order-7');
    const close = change('order-7', { expected: closing?.revision, isOpen: false });
    assert.equal(await store.note(lease, close), true);
    const open = await store.openOrders(lease);
    const expected = [...names.filter((order) => order !== 'order-7'), 'by-event'].sort();
    assert.deepEqual(open.map(({ order }) => order).sort(), expected);
    const known = await store.known(lease, [...names, 'closed', 'by-event', 'none']);
    assert.equal(known.size, 232);
    for (const one of open) assert.deepEqual(known.get(one.order), one);
    assert.equal(known.get('order-7')?.isOpen, false);
  });

  check('an order that has expired is not known, and may be noted anew', async (store, lease) => {
    await store.note(lease, change('o', { expiresAt: 1_000 }));
    assert.equal((await store.known(lease, ['o'])).size, 0);
    assert.deepEqual(await store.openOrders(lease), []);
    assert.equal(await store.note(lease, change('o')), true);
    assert.equal((await store.openOrders(lease)).length, 1);
  });
}

function checkEvents(check: Check): void {
  check('an event is added once, also after it was published', async (store, lease) => {
    assert.equal(await store.add(add(lease, 'e')), 'added');
    assert.equal(await store.add(add(lease, 'e')), 'known');
    assert.deepEqual(await store.unpublished(lease, 9), [event('e')]);
    await store.published(lease, ['e']);
    assert.deepEqual(await store.unpublished(lease, 9), []);
    assert.equal(await store.add(add(lease, 'e')), 'known');
    assert.equal(await store.add(add(lease, 'e', { now: later + 1000, expiresAt: later * 2 })), 'added');
  });

  check('an event and what it says of its order are written both or not at all', async (store, lease) => {
    assert.equal(await store.add(add(lease, 'e1', { order: change('o') })), 'added');
    assert.equal(await store.add(add(lease, 'e2', { order: change('o') })), 'overtaken');
    assert.equal(await store.add(add(lease, 'e2', { order: change('o', { expected: 'r' }) })), 'overtaken');
    assert.deepEqual(idsOf(await store.unpublished(lease, 9)), ['e1']);
    const before = (await store.known(lease, ['o'])).get('o');
    const expected = before?.revision;
    // The id counts before the order does.
    assert.equal(await store.add(add(lease, 'e1', { order: change('o', { expected }) })), 'known');
    assert.equal(await store.add(add(lease, 'e1', { order: change('o') })), 'known');
    assert.deepEqual((await store.known(lease, ['o'])).get('o'), before);
    const order = change('o', { expected, state: '{"n":2}', isOpen: false });
    assert.equal(await store.add(add(lease, 'e2', { order })), 'added');
    const after = (await store.known(lease, ['o'])).get('o');
    assert.deepEqual([after?.state, after?.isOpen], ['{"n":2}', false]);
    assert.notEqual(after?.revision, expected);
  });

  check('of many that add one event, or change one order, one does', async (store, lease) => {
    const many = Array.from({ length: 8 }, (_, index) => index);
    const same = await Promise.all(many.map(() => store.add(add(lease, 'e'))));
    assert.equal(same.filter((result) => result === 'added').length, 1);
    assert.equal(same.filter((result) => result === 'known').length, 7);
    const others = await Promise.all(
      many.map((index) => store.add(add(lease, `e${index}`, { order: change('o') }))),
    );
    assert.equal(others.filter((result) => result === 'added').length, 1);
    assert.equal(others.filter((result) => result === 'overtaken').length, 7);
    assert.equal((await store.unpublished(lease, 99)).length, 2);
  });

  check('events come back unchanged, the oldest first, up to the limit', async (store, lease) => {
    const detailTypes = ['OrderChanged', 'PositionChanged', 'TradeEventReceived'] as const;
    const events = Array.from({ length: 30 }, (_, index) =>
      event(`id-${(index * 7) % 30}`, { detailType: detailTypes[index % 3]! }),
    );
    for (const [index, one] of events.entries())
      assert.equal(await store.add(add(lease, one.id, { event: one, now: now + index * 10 })), 'added');
    assert.deepEqual(await store.unpublished(lease, 12), events.slice(0, 12));
    await store.published(
      lease,
      events.slice(1, 12).map(({ id }) => id),
    );
    assert.deepEqual(await store.unpublished(lease, 99), [events[0], ...events.slice(12)]);
    await store.published(lease, [...idsOf(events), 'never-added']);
    assert.deepEqual(await store.unpublished(lease, 99), []);
  });

  check('a large event comes back unchanged', async (store, lease) => {
    const large = event('large', { detail: JSON.stringify({ payload: '⚖"1.10'.repeat(12_000) }) });
    assert.equal(await store.add(add(lease, 'large', { event: large })), 'added');
    assert.deepEqual(await store.unpublished(lease, 9), [large]);
  });
}
