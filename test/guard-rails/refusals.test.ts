/** What a blocked request leaves behind: an entry for the audit, a free id, and nothing of others in its answer. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { RequestReport } from '../../lib/gateway/index.ts';
import type { TradingLimits } from '../../lib/guard-rails/index.ts';
import { type CountingJournal, createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { withChanges } from '../../lib/orders/journal-changes.ts';
import { orderKey } from '../../lib/orders/parts.ts';
import { readRecord } from '../../lib/orders/record.ts';
import { accountId, ask, newOrder } from '../support/core.ts';
import { names } from '../support/instances.ts';
import { bodyOf, limited, outcomeOf, placePath, startGuarded } from './guarded.ts';

const clientOrderId = 'an-order-of-refusals';
const order = (quantity: string) => limited(clientOrderId, '1', quantity);

interface BlockedProblem {
  readonly errors: readonly { readonly detail: string }[];
}

async function entryOf(journal: CountingJournal) {
  const key = await orderKey(names, { account: accountId, clientOrderId });
  return (await journal.read([key])).get(key);
}

describe('a blocked order', () => {
  test('leaves an entry that says for which checks, and its id can be used again', async (t) => {
    const held: unknown[] = [];
    const report = ({ blockedBy }: RequestReport) => held.push(blockedBy);
    const { place, journal, controls, sent } = await startGuarded(t, { options: { report } });
    controls.set('stack', { limits: { max_order_quantity: '10', allowed_sides: ['SELL'] } });
    assert.match(outcomeOf(await place(order('11'))), /^blocked: allowed_sides .*, max_order_quantity /);
    assert.deepEqual(held, [['allowed_sides of gateway', 'max_order_quantity of gateway']]);
    const entry = await entryOf(journal);
    assert.equal(entry?.state, 'refused');
    const { failed_checks, outcome, asked } = readRecord(entry!.record);
    assert.deepEqual(failed_checks, ['allowed_sides', 'max_order_quantity']);
    assert.deepEqual([outcome?.code, outcome?.evidence], ['order_blocked', 'not_sent']);
    assert.match(asked, /"quantity":"11"/);
    assert.equal(sent(), 0);
    const { place: placeLater } = await startGuarded(t, { journal, limits: { max_order_quantity: '10' } });
    assert.equal(outcomeOf(await placeLater(order('10'))), 'sent');
    assert.equal((await entryOf(journal))?.state, 'accepted');
  });

  test('is one line of the audit, and one more when it is placed', async (t) => {
    const changes: (string | undefined)[] = [];
    const journal = withChanges(
      createMemoryOrderJournal(),
      ({ before, after }) => changes.push(`${before?.state} ${after?.state}`),
      Date.now,
    );
    const { place } = await startGuarded(t, { journal, limits: { max_order_quantity: '10' } });
    await place(order('11'));
    await place(order('10'));
    assert.deepEqual(changes, ['undefined refused', 'refused pending', 'pending accepted']);
  });

  test('that was stopped, or could not be judged, says so', async (t) => {
    const state = { isAway: false };
    const journal = createMemoryOrderJournal();
    const { controls } = await startGuarded(t);
    controls.set('stack', { limits: {}, stopped: { at: 1 } });
    const held: unknown[] = [];
    const report = ({ blockedBy }: RequestReport) => held.push(blockedBy);
    for (const [isAway, code, by] of [
      [false, 'order_blocked', ['stop of gateway']],
      [true, 'trading_limits_unavailable', undefined],
    ] as const) {
      state.isAway = isAway;
      const store = {
        read: async () => (isAway ? Promise.reject(new Error('away')) : controls.read(['stack'])),
      };
      const { place } = await startGuarded(t, { journal, controls: store, options: { report } });
      const reply = await place(order('1'));
      assert.equal(JSON.parse(reply.text).code, code);
      assert.deepEqual(held.splice(0), [by]);
      const record = readRecord((await entryOf(journal))!.record);
      assert.deepEqual([record.outcome?.code, record.failed_checks], [code, undefined]);
    }
  });

  test('beside the same id that is placed at that moment: one is placed, and no answer is untrue', async (t) => {
    const { gateways, simulator } = await startGuarded(t, { count: 5, limits: { max_order_quantity: '10' } });
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        ask(gateways[index % 5]!, placePath, bodyOf({ new_orders: [order(index % 2 ? '11' : '10')] })),
      ),
    );
    assert.equal(simulator.orders.length, 1);
    for (const [index, reply] of replies.entries()) {
      const outcome = outcomeOf(reply);
      if (index % 2) assert.match(outcome, /^blocked: max_order_quantity|^idempotency_conflict$/);
      else assert.equal(outcome, 'sent');
    }
  });
});

describe('what a block says of an order', () => {
  const market = newOrder({ client_order_id: clientOrderId, order_type: 'MARKET' });
  const notional = { max_order_notional: '10000' };
  const known = { AAPL: '200' };
  const sayings: readonly (readonly [name: string, limits: TradingLimits, order: object, said: string])[] = [
    [
      'a purchase before its quote',
      notional,
      { ...market, symbol: 'MSFT' },
      'max_order_notional of this gateway is 10000, and what the order comes to is not known: no fresh quote of MSFT could be read. Check the symbol, or send the order again in a few seconds. A purchase with a limit_price needs no quote. An operator lets it pass with "price" in allow_unknown.',
    ],
    [
      'a sale before its quote',
      notional,
      limited(clientOrderId, '1', '1', { side: 'SELL', symbol: 'MSFT' }),
      'max_order_notional of this gateway is 10000, and what the order comes to is not known: no fresh quote of MSFT could be read. Check the symbol, or send the order again in a few seconds. An operator lets it pass with "price" in allow_unknown.',
    ],
    [
      'a purchase that is too large at its quote',
      notional,
      { ...market, quantity: '100' },
      'max_order_notional of this gateway is 10000, the order comes to 21000. Send a smaller order. Sales, combinations and orders without a limit_price count at their quotes, and market_order_margin is added.',
    ],
    [
      'a sale of crypto',
      notional,
      limited(clientOrderId, '1', '1', { side: 'SELL', instrument_type: 'CRYPTO', symbol: 'BTCUSD' }),
      'max_order_notional of this gateway is 10000, and what the order comes to is not known: the gateway has no quotes of crypto; a BUY with a limit_price needs none. Ask the operator. An operator lets it pass with "crypto" in allow_unknown.',
    ],
    [
      'futures',
      notional,
      limited(clientOrderId, '1', '1', { instrument_type: 'FUTURES', symbol: 'ESZ6' }),
      'max_order_notional of this gateway is 10000, and what the order comes to is not known: the upstream does not say what one contract of futures covers. Ask the operator. An operator lets it pass with "futures" in allow_unknown.',
    ],
    [
      'an order that is more than all that may be open',
      { max_open_notional: '1000' },
      limited(clientOrderId, '1', '1001'),
      'max_open_notional of this gateway is 1000, and this order alone comes to 1001. Send a smaller order, or wait until open orders have ended. Sales, combinations and orders without a limit_price count at their quotes, and market_order_margin is added.',
    ],
    [
      'another type than those of a list',
      { allowed_order_types: ['LIMIT'] },
      market,
      'allowed_order_types of this gateway is LIMIT, the order has MARKET. Send one that is in that list.',
    ],
    [
      'a symbol that is restricted',
      { restricted_symbols: ['AAPL'] },
      market,
      'restricted_symbols of this gateway is a list of symbols, the order has AAPL. This symbol is not traded here.',
    ],
    [
      'a price far from the last one',
      { price_collar: '5' },
      limited(clientOrderId, '300', '1'),
      'price_collar of this gateway is 5 % from the last price, the order has 300; last price 200. Send a price that is nearer to the last one.',
    ],
  ];
  for (const [name, limits, sent, said] of sayings)
    test(`${name}: the limit, what came or why that is not known, and what to do`, async (t) => {
      const { place } = await startGuarded(t, { limits, last: known });
      const { errors } = JSON.parse((await place(sent)).text) as BlockedProblem;
      assert.deepEqual(
        errors.map(({ detail }) => detail),
        [said],
      );
    });
});
