/** What operators change of trading, what functions read of it, and what the history says. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { createIdentity } from '../../lib/access/identity.ts';
import { keyOfControl } from '../../lib/guard-rails/control-changes.ts';
import {
  type ControlAdminStore,
  type ControlChange,
  createControlAdmin,
  createMemoryControls,
  type LimitChanges,
  type TradingLimits,
} from '../../lib/guard-rails/index.ts';
import { readLimitChanges, readLimits, withChanges } from '../../lib/guard-rails/limits.ts';
import { each } from '../support/each.ts';

const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');
const gateway = { kind: 'gateway' } as const;
const account = { kind: 'account', id: '1234567' } as const;
const user = {
  kind: 'user',
  user: { kind: 'user', issuer: 'https://issuer.example', subject: 'alice' },
} as const;

function world(change: (store: ControlAdminStore) => Partial<ControlAdminStore> = () => ({})) {
  const memory = createMemoryControls();
  const store = { ...memory, ...change(memory) };
  const state = { now: Date.UTC(2026, 10, 22, 15) };
  const adminOf = (by: string, key = identity) =>
    createControlAdmin({ store, identity: key, by, clock: () => state.now });
  return { admin: adminOf('operator'), adminOf, state, memory };
}

const limits = (changes: LimitChanges, subject: ControlChange['subject'] = gateway): ControlChange => ({
  action: 'limits',
  subject,
  changes,
});

test('each change is a version of its scope, and a record with who, when, why and what', async () => {
  const { admin, adminOf, state } = world();
  const first = limits({ max_order_notional: '100', max_orders_per_minute: 3 }, account);
  assert.equal((await admin.apply(first)).isChanged, true);
  state.now += 1000;
  const second = { action: 'stop', subject: account, reason: 'a strategy runs wild' } as const;
  const { control } = await adminOf('another').apply(second);
  assert.deepEqual(control, {
    version: 2,
    limits: first.action === 'limits' && first.changes,
    stopped: { at: state.now },
    name: await identity.names.nameOf('account', account.id),
    about: { subject: account, stopped: { by: 'another', reason: 'a strategy runs wild' } },
  });
  assert.deepEqual(await admin.history(10), [
    { at: '2026-11-22T15:00:01.000Z', by: 'another', version: 2, change: second },
    { at: '2026-11-22T15:00:00.000Z', by: 'operator', version: 1, change: first, limitsBefore: {} },
  ]);
  assert.deepEqual(await admin.history(1), (await admin.history(10)).slice(0, 1));
});

test('functions read it under the keys that they ask for: stack, account and user by their keyed names', async () => {
  const { admin, memory } = world();
  for (const [index, subject] of [gateway, account, user].entries())
    await admin.apply(limits({ max_orders_per_minute: index }, subject));
  const { names } = identity;
  const keys = [
    'stack',
    `account ${await names.nameOf('account', '1234567')}`,
    `user ${await names.nameOf('user', 'user', 'https://issuer.example', 'alice')}`,
  ];
  const read = await memory.read(keys);
  assert.deepEqual(
    keys.map((key) => read.get(key)?.limits.max_orders_per_minute),
    [0, 1, 2],
  );
  assert.deepEqual(await Promise.all([gateway, account, user].map((one) => keyOfControl(names, one))), keys);
});

test('a limit that is taken away is gone; of the gateway’s scope the null stays, and hides the deployed one', async () => {
  const { admin, memory } = world();
  for (const subject of [gateway, account]) {
    await admin.apply(
      limits({ max_orders_per_minute: 3, actions: { max_orders_per_minute: 'notify' } }, subject),
    );
    await admin.apply(
      limits({ max_orders_per_minute: null, actions: { max_orders_per_minute: null } }, subject),
    );
  }
  assert.deepEqual((await admin.find(account))?.limits, {});
  const set = (await memory.read(['stack'])).get('stack')?.limits ?? {};
  assert.deepEqual(set, { max_orders_per_minute: null, actions: { max_orders_per_minute: null } });
  const deployed: TradingLimits = {
    max_orders_per_minute: 30,
    max_order_notional: '10',
    actions: { max_orders_per_minute: 'notify', price_collar: 'notify' },
  };
  assert.deepEqual(withChanges(deployed, set), {
    max_order_notional: '10',
    actions: { price_collar: 'notify' },
  });
});

test('a stop leaves the limits, and a change of limits leaves the stop with its reason', async () => {
  const { admin, adminOf, state } = world();
  await admin.apply(limits({ max_orders_per_minute: 3 }));
  await admin.apply({ action: 'stop', subject: gateway, reason: 'why' });
  const at = state.now;
  state.now += 5000;
  await adminOf('another').apply(limits({ max_orders_per_minute: 2 }));
  const found = await admin.find(gateway);
  assert.deepEqual(
    [found?.limits, found?.stopped, found?.about?.stopped],
    [{ max_orders_per_minute: 2 }, { at }, { by: 'operator', reason: 'why' }],
  );
  const { control } = await admin.apply({ action: 'resume', subject: gateway, reason: 'over' });
  assert.deepEqual(control, {
    version: 4,
    limits: { max_orders_per_minute: 2 },
    about: { subject: gateway },
  });
});

test('what is so already is no change, and leaves no record', async () => {
  const { admin, state } = world();
  const resume = { action: 'resume', subject: user, reason: 'why' } as const;
  assert.deepEqual(await admin.apply(resume), { isChanged: false, control: undefined, limitsBefore: {} });
  await admin.apply(limits({ max_order_notional: '5', max_orders_per_minute: 3 }));
  await admin.apply({ action: 'stop', subject: gateway, reason: 'first' });
  state.now += 1000;
  const again = await admin.apply({ action: 'stop', subject: gateway, reason: 'second' });
  assert.deepEqual(
    [again.isChanged, again.control?.about?.stopped?.reason, again.control?.stopped],
    [false, 'first', { at: state.now - 1000 }],
  );
  assert.equal(
    (await admin.apply(limits({ max_orders_per_minute: 3, max_order_notional: '5' }))).isChanged,
    false,
  );
  assert.equal((await admin.history(10)).length, 2);
});

test('a stop that cancels asks for it in its own write, of the scope that it stops', async () => {
  const { admin, memory, state } = world();
  for (const [index, subject] of [gateway, account, user].entries()) {
    await admin.apply({ action: 'stop', subject, reason: 'why', cancelOpen: true });
    const open = (await memory.massCancels.open())[index];
    assert.equal(open?.scope, await keyOfControl(identity.names, subject));
    // What leaves in the next five seconds, by clocks that are a minute behind.
    assert.deepEqual([open?.at, open?.placedBefore], [state.now, state.now + 65_000]);
  }
  const [newest] = await admin.history(1);
  assert.ok(newest && 'change' in newest && newest.change.action === 'stop' && newest.change.cancelOpen);
});

test('a second stop cancels, too, and the first one’s moment and reason stay', async () => {
  const { admin, adminOf, memory, state } = world();
  await admin.apply({ action: 'stop', subject: gateway, reason: 'first' });
  const at = state.now;
  for (const version of [2, 3]) {
    state.now += 1000;
    const again = await adminOf('another').apply({
      action: 'stop',
      subject: gateway,
      reason: 'second',
      cancelOpen: true,
    });
    assert.deepEqual(
      [again.isChanged, again.control?.version, again.control?.stopped, again.control?.about?.stopped],
      [true, version, { at }, { by: 'operator', reason: 'first' }],
    );
    assert.deepEqual(each(await memory.massCancels.open(), 'at'), [state.now]);
    assert.equal((await admin.history(10)).length, version);
  }
});

test('neither a stop without it nor limits nor a resume ask for cancels', async () => {
  const { admin, memory } = world();
  await admin.apply({ action: 'stop', subject: gateway, reason: 'why' });
  await admin.apply({ action: 'stop', subject: account, reason: 'why', cancelOpen: false });
  await admin.apply(limits({ max_orders_per_minute: 1 }));
  await admin.apply({ action: 'resume', subject: gateway, reason: 'over' });
  assert.deepEqual(await memory.massCancels.open(), []);
});

test('what is no limit, and a stop without a reason, are refused, and nothing is written', async () => {
  const { admin, memory } = world();
  for (const [change, words] of [
    [limits({ max_order_notional: '-1' }), /^max_order_notional takes a decimal above 0/],
    [limits({ max_moon: '1' } as never), /^max_moon is no limit\.$/],
    [limits({ actions: { max_moon: 'block' } as never }), /^actions\.max_moon is no limit\.$/],
    [{ action: 'stop', subject: gateway, reason: ' ' }, /^A reason has 1 to 500 visible characters\.$/],
    [{ action: 'stop', subject: gateway } as never, /^A reason has/],
    [{ action: 'resume', subject: gateway, reason: 'a\nb' }, /^A reason has/],
    [{ action: 'resume', subject: gateway, reason: 'a'.repeat(501) }, /^A reason has/],
    [{ ...limits({ max_orders_per_minute: 1 }), reason: '' } as ControlChange, /^A reason has/],
  ] as const)
    await assert.rejects(admin.apply(change), { code: 'change_refused', message: words });
  assert.deepEqual([await memory.list(), await memory.history(10)], [[], []]);
});

test('a change begins anew when another one came between, and gives up in the end', async () => {
  let others = 3;
  const { admin } = world((memory) => ({
    write: async (change) => (others-- > 0 ? false : memory.write(change)),
  }));
  assert.equal((await admin.apply(limits({ max_orders_per_minute: 1 }))).isChanged, true);
  others = Number.POSITIVE_INFINITY;
  await assert.rejects(admin.apply(limits({ max_orders_per_minute: 2 })), { code: 'changed_by_others' });
});

test('under another identity key limits and stops of the gateway still show, without whom and why', async () => {
  const { admin, adminOf } = world();
  await admin.apply({ action: 'stop', subject: gateway, reason: 'why' });
  const other = adminOf(
    'other',
    createIdentity(async () => 'another-key-of-a-test-0123456789-0123'),
  );
  const [control] = await other.list();
  assert.deepEqual([control?.version, control?.about, control?.stopped !== undefined], [1, undefined, true]);
  const [line] = await other.history(1);
  assert.deepEqual(Object.keys(line ?? {}), ['at']);
  const resumed = await other.apply({ action: 'resume', subject: gateway, reason: 'over' });
  assert.equal(resumed.control?.stopped, undefined);
});

const name = fc.constantFrom('max_order_notional', 'max_open_notional', 'price_collar', 'max_order_quantity');
const decimal = fc.constantFrom('1', '2.50', '10000000000000000000.1');
const change = fc.dictionary(name, fc.option(decimal, { nil: null })) as fc.Arbitrary<LimitChanges>;

test('after any changes the gateway’s limits are those that were said last, over those deployed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(name, decimal),
      fc.array(change, { maxLength: 6 }),
      async (deployed, all) => {
        const { admin, memory } = world();
        const said: Record<string, unknown> = { ...deployed };
        for (const one of all) {
          await admin.apply(limits(one));
          Object.assign(said, one);
        }
        const wanted = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null));
        const set = (await memory.read(['stack'])).get('stack')?.limits ?? {};
        assert.deepEqual(withChanges(deployed, set), wanted);
      },
    ),
    { numRuns: 100 },
  );
});

test('every fault of limits names its member, and a null is none but in a change', () => {
  const wrong = {
    max_orders_per_minute: 1.5,
    max_duplicative_orders: { orders: 0, seconds: 60 },
    allowed_sides: ['UP'],
    allowed_symbols: 'A',
    actions: { price_collar: 'ignore' },
    max_quote_age: null,
  };
  const names = (read: unknown) => (read as { readonly name: string }[]).map((one) => one.name);
  const common = [
    'max_orders_per_minute',
    'max_duplicative_orders.orders',
    'allowed_symbols',
    'allowed_sides.0',
    'actions.price_collar',
  ];
  assert.deepEqual(names(readLimitChanges(wrong)).sort(), [...common].sort());
  assert.deepEqual(names(readLimits(wrong)).sort(), [...common, 'max_quote_age'].sort());
});
