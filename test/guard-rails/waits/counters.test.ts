/** Limits that count over orders, while many instances count at once: none passes above a limit, none is refused below it. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import { accountScope, userScope } from '../../../lib/guard-rails/controls.ts';
import type { CheckName, TradingLimits } from '../../../lib/guard-rails/index.ts';
import { bearer, claimsOf, createTestAccess, grantsOf, user } from '../../support/access.ts';
import { accountId, ask } from '../../support/core.ts';
import { names } from '../../support/instances.ts';
import { bodyOf, type GuardedOptions, limited, outcomeOf, placePath, startGuarded } from '../guarded.ts';

const anyone = user('a-user');

/** Twenty instances, which know who orders unless they serve a single user: the user has the account. */
async function startFleet(t: TestContext, { isSingleUser = false, ...given }: FleetOptions = {}) {
  const access = createTestAccess();
  await access.grant(anyone, grantsOf({ [accountId]: ['read', 'trade'] }));
  const token = bearer(access.token(claimsOf('a-user')));
  const nameOfUser = await access.nameOf('user', JSON.stringify(anyone));
  const fleet = await startGuarded(t, {
    count: 20,
    ...given,
    ...(!isSingleUser && { options: { access: access.access } }),
  });
  const scopes = {
    gateway: 'stack',
    'gateway for one of its users': 'stack',
    account: accountScope(await names.nameOf('account', accountId)),
    user: userScope(nameOfUser),
  };
  const order = (instance: number, placed: object) =>
    ask(fleet.gateways[instance % 20]!, placePath, { ...bodyOf({ new_orders: [placed] }), headers: token });
  return { ...fleet, scopes, order };
}

interface FleetOptions extends GuardedOptions {
  readonly isSingleUser?: boolean;
}

const oneOfSeveral = 'gateway for one of its users';
const kinds = ['gateway', oneOfSeveral, 'account', 'user'] as const;

interface Counted {
  readonly check: CheckName;
  readonly limits: TradingLimits;
  readonly passes: number;
  /** While there is less than what is left of the gateway's limit. */
  readonly share?: number;
  readonly order: (index: number) => object;
}

const counted: readonly Counted[] = [
  {
    check: 'max_orders_per_minute',
    limits: { max_orders_per_minute: 37 },
    passes: 37,
    share: 19,
    order: (index) => limited(`of-a-hundred-${index}`, '1', `${1 + index}`),
  },
  {
    check: 'max_duplicative_orders',
    limits: { max_duplicative_orders: { orders: 13, seconds: 60 } },
    passes: 13,
    order: (index) => limited(`of-a-hundred-${index}`, index % 2 ? '1.00' : '2', index % 2 ? '5' : '5.0'),
  },
  {
    check: 'max_open_notional',
    limits: { max_open_notional: '77' },
    passes: 11,
    share: 5,
    order: (index) => limited(`of-a-hundred-${index}`, '3.5', '2'),
  },
];

describe('a hundred orders at once over twenty instances', () => {
  for (const kind of kinds)
    for (const { check, limits, passes: whole, share = whole, order: orderOf } of counted)
      test(`${check} of the ${kind}: exactly the limit is placed`, async (t) => {
        const passes = kind === oneOfSeveral ? share : whole;
        const isSingleUser = kind === 'gateway';
        const { controls, scopes, order, simulator } = await startFleet(t, { isSingleUser });
        controls.set(scopes[kind], { limits });
        const replies = await Promise.all(
          Array.from({ length: 100 }, (_, index) => order(index, orderOf(index))),
        );
        const outcomes = replies.map(outcomeOf);
        assert.equal(simulator.orders.length, passes);
        assert.equal(outcomes.filter((one) => one === 'sent').length, passes);
        const others = new Set(outcomes.filter((one) => one !== 'sent'));
        assert.deepEqual([...others], [`blocked: ${check} /new_orders/0`]);
      });

  test('with limits of all three scopes the tightest holds, and all count the same orders', async (t) => {
    const { controls, scopes, order, simulator, counter } = await startFleet(t);
    controls.set(scopes.gateway, { limits: { max_open_notional: '700', max_orders_per_minute: 90 } });
    controls.set(scopes.account, { limits: { max_open_notional: '70', max_orders_per_minute: 50 } });
    controls.set(scopes.user, { limits: { max_open_notional: '7000', max_orders_per_minute: 60 } });
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => order(index, limited(`of-three-${index}`, '3.5', '2'))),
    );
    assert.equal(simulator.orders.length, 10);
    for (const scope of Object.values(scopes)) {
      const { open, recent } = await counter(scope);
      assert.deepEqual([open, recent.length], ['70', 10], scope);
    }
  });
});

test('one instance writes an order with its counters in one transaction, from the first to the last', async (t) => {
  const { journal, ...rest } = await startGuarded(t, { limits: { max_open_notional: '100' } });
  const state = { tries: 0 };
  const counting = {
    ...journal,
    beginCounted: (...call: Parameters<typeof journal.beginCounted>) => {
      state.tries++;
      return journal.beginCounted(...call);
    },
  };
  await rest.simulator.close();
  const { place } = await startGuarded(t, { journal: counting, limits: { max_open_notional: '100' } });
  for (let index = 0; index < 5; index++)
    assert.equal(outcomeOf(await place(limited(`of-one-instance-${index}`, '1', '1'))), 'sent');
  assert.equal(state.tries, 5);
});

test('what the gateway comes to is told to none, what the user and the account come to is', async (t) => {
  const { controls, scopes, order } = await startFleet(t);
  const all = {
    max_orders_per_minute: 1,
    max_duplicative_orders: { orders: 1, seconds: 60 },
    max_open_notional: '1',
  };
  assert.equal(outcomeOf(await order(0, limited('an-order-of-another', '1', '0.5'))), 'sent');
  for (const kind of kinds) controls.set(scopes[kind], { limits: all });
  const [first, second] = [
    limited('first-order-of-own', '1', '0.5'),
    limited('second-order-of-own', '1', '0.75'),
  ];
  assert.equal(outcomeOf(await order(1, first)), 'sent');
  const reply = await order(1, { ...second, quantity: '0.5', limit_price: '1.5' });
  const { errors } = JSON.parse(reply.text) as {
    readonly errors: readonly {
      readonly check: string;
      readonly detail: string;
      readonly received?: string;
    }[];
  };
  assert.deepEqual(
    errors.map(({ check, detail, received }) => [check, /this (\w+)/.exec(detail)?.[1], received]),
    [
      ['max_orders_per_minute', 'gateway', undefined],
      ['max_duplicative_orders', 'gateway', undefined],
      ['max_open_notional', 'gateway', undefined],
      ['max_orders_per_minute', 'account', '2'],
      ['max_duplicative_orders', 'account', '2'],
      ['max_open_notional', 'account', '1.25'],
      ['max_orders_per_minute', 'user', '2'],
      ['max_duplicative_orders', 'user', '2'],
      ['max_open_notional', 'user', '1.25'],
    ],
  );
  for (const word of [
    accountId,
    'a-user',
    'first-order-of-own',
    'an-order-of-another',
    ...Object.values(scopes).slice(1),
  ])
    assert.equal(reply.text.includes(word), false, word);
});
