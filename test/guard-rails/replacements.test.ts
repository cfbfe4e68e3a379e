/** A replacement is checked as what it makes of the order, and counted as the most that the order may be. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import { getOrderOutcome, operations } from '../../lib/catalogue/index.ts';
import { createGateway } from '../../lib/gateway/index.ts';
import type { TradingLimits } from '../../lib/guard-rails/index.ts';
import type { OrderReads } from '../../lib/orders/index.ts';
import { releaseEnded } from '../../lib/orders/release-ended.ts';
import { accountId, ask, secretText } from '../support/core.ts';
import {
  bodyOf,
  cancelPath,
  leg,
  limited,
  option,
  outcomeOf,
  placePath,
  replacePath,
  startGuarded,
} from './guarded.ts';

const clock = () => Date.UTC(2026, 10, 20, 15);
const last = { AAPL: '200' };
const placedId = 'placed-order-1';

const noContract = { strike_price: undefined, option_expire_date: undefined, option_type: undefined };

interface ShownOrder {
  readonly orders: readonly { readonly legs: readonly { readonly id: string }[] }[];
}

/** With one order that rests: far from the market. */
async function startWithOrder(
  t: TestContext,
  limits: TradingLimits,
  order: object = limited(placedId, '1', '10'),
) {
  const desk = await startGuarded(t, { clock, last, limits });
  assert.equal(outcomeOf(await desk.place(order)), 'sent');
  const replace = async (terms: object) =>
    outcomeOf(await desk.replace({ client_order_id: placedId, ...terms }));
  return { ...desk, replace };
}

describe('of an order in the journal', () => {
  test('members that no replacement has are refused, and legs make it no smaller', async (t) => {
    const { replace, sent } = await startWithOrder(t, { max_order_notional: '100' });
    const before = sent();
    for (const loose of [
      { total_cash_amount: '1' },
      { entrust_type: 'AMOUNT' },
      { instrument_type: 'EVENT' },
      { total_quantity: '1' },
      { symbol: 'MSFT' },
      { side: 'SELL' },
      { support_trading_session: 'NIGHT' },
    ])
      assert.equal(await replace({ quantity: '1', ...loose }), 'invalid_parameter', JSON.stringify(loose));
    for (const quantity of ['1', '101'])
      assert.equal(
        await replace({ quantity: '101', legs: [{ id: 'leg-1', quantity }] }),
        'blocked: max_order_notional /modify_orders/0',
      );
    assert.equal(
      await replace({ legs: [{ id: 'leg-1', quantity: '101' }] }),
      'blocked: max_order_notional /modify_orders/0',
    );
    assert.equal(sent(), before);
  });

  test('of a covered stock, the ids of the upstream tell shares from contracts', async (t) => {
    const limits = { max_order_quantity: '2' };
    const { place, replace, gateway, sent } = await startGuarded(t, { clock, last, limits });
    const shares = leg({ instrument_type: 'EQUITY', quantity: '100', ...noContract });
    const legs = [shares, leg({ side: 'SELL' })];
    const covered = option(placedId, '1', '1', { option_strategy: 'COVERED_STOCK', legs });
    const named = { ...covered, legs: [{ ...shares, id: 'of-the-caller' }, legs[1]!] };
    assert.equal(outcomeOf(await place(named)), 'invalid_parameter');
    assert.equal(outcomeOf(await place(covered)), 'sent');
    const query = new URLSearchParams({ account_id: accountId, client_order_id: placedId });
    const shown = JSON.parse((await ask(gateway, `/trading/orders/get?${query}`)).text) as ShownOrder;
    const [stock, call] = shown.orders[0]!.legs.map(({ id }) => id);
    const change = async (...quantities: readonly (readonly [string | undefined, string])[]) => {
      const changed = quantities.map(([id, quantity]) => ({ id, quantity }));
      return outcomeOf(await replace({ client_order_id: placedId, limit_price: '1', legs: changed }));
    };
    const before = sent();
    const blocked = 'blocked: max_order_quantity /modify_orders/0';
    assert.equal(await change([stock, '100'], [call, '100']), blocked);
    assert.equal(await change([stock, '201']), blocked);
    assert.equal(await change(['unknown-leg', '100']), blocked);
    assert.equal(sent(), before);
    assert.doesNotMatch(await change([stock, '100'], [call, '1']), /^blocked/);
    assert.equal(sent(), before + 1);
  });

  test('legs in a ratio are not replaced by one quantity, and the refusal says what to do', async (t) => {
    const legs = [
      leg(),
      leg({ side: 'SELL', quantity: '2', strike_price: '250' }),
      leg({ strike_price: '260' }),
    ];
    const prices = { AAPL290119C00240000: '1', AAPL290119C00250000: '1', AAPL290119C00260000: '1' };
    const limits = { max_open_notional: '10000' };
    const { place, replace } = await startGuarded(t, { clock, limits, last: prices });
    await place(option(placedId, '0.01', '1', { option_strategy: 'BUTTERFLY', legs }));
    const reply = await replace({ client_order_id: placedId, quantity: '5' });
    assert.equal(outcomeOf(reply), 'blocked: max_open_notional /modify_orders/0');
    assert.match(reply.text, /Change the price alone, or cancel the order and place it anew/);
  });

  test('two changes of one order in a request are refused: nothing tells which of them counts', async (t) => {
    const { gateway } = await startWithOrder(t, { max_order_notional: '1000' });
    const modify_orders = [
      { client_order_id: placedId, quantity: '900' },
      { client_order_id: placedId, limit_price: '90' },
    ];
    const reply = await ask(gateway, replacePath, bodyOf({ modify_orders }));
    assert.equal(outcomeOf(reply), 'invalid_parameter');
    assert.match(reply.text, /modify_orders\/1\/client_order_id/);
  });
});

describe('of an order that another program placed', () => {
  /** Orders that the upstream has, and this journal does not. */
  async function startBesideOthers(t: TestContext, limits: TradingLimits, others: readonly object[]) {
    const desk = await startGuarded(t, { clock, limits, last: { AAPL: '0.5' }, sleep: async () => {} });
    const other = createGateway({
      operations,
      upstreamBaseUrl: desk.simulator.url,
      secrets: { read: async () => secretText() },
      access: 'single-user',
      clock,
    });
    for (const placed of others) assert.equal(outcomeOf(await ask(other, placePath, bodyOf(placed))), 'sent');
    const reads = () => desk.simulator.received.filter(({ method }) => method === 'GET').length;
    return { ...desk, other, reads };
  }

  const foreign = (index: number, more = {}) => limited(`foreign-order-${index}`, '1', '10', more);

  test('the gateway was not asked to place it, and says so also after a replacement', async (t) => {
    const { replace, gateway } = await startBesideOthers(t, {}, [{ new_orders: [foreign(1)] }]);
    assert.equal(outcomeOf(await replace({ client_order_id: 'foreign-order-1', limit_price: '2' })), 'sent');
    const target = `${getOrderOutcome.path}?account_id=${accountId}&client_order_id=foreign-order-1`;
    assert.deepEqual(JSON.parse((await ask(gateway, target)).text), {
      client_order_id: 'foreign-order-1',
      state: 'not_recorded',
    });
  });

  test('one that has ended takes no id', async (t) => {
    const { replace, other, journal } = await startBesideOthers(t, { max_order_notional: '100' }, [
      { new_orders: [foreign(1)] },
    ]);
    const cancelled = await ask(other, cancelPath, bodyOf({ client_order_id: 'foreign-order-1' }));
    assert.equal(outcomeOf(cancelled), 'sent');
    await replace({ client_order_id: 'foreign-order-1', limit_price: '2' });
    const entries = await journal.exposed('', 10);
    assert.ok(entries.every(({ record }) => !record.includes('placed_elsewhere')));
  });

  test('two that seemed to have ended stay counted until the end of both is seen', async (t) => {
    const desk = await startBesideOthers(t, { max_open_notional: '70' }, [
      { new_orders: [foreign(1)] },
      { new_orders: [foreign(2)] },
    ]);
    const ids = [1, 2].map((index) => `foreign-order-${index}`);
    for (const client_order_id of ids)
      assert.equal(outcomeOf(await ask(desk.other, cancelPath, bodyOf({ client_order_id }))), 'sent');
    // The look-up was behind: the upstream takes the replacement all the same.
    desk.simulator.bring(({ path }) =>
      path === replacePath
        ? { kind: 'status', status: 200, body: { client_order_id: ids[0], order_id: 'an-order' } }
        : undefined,
    );
    const changes = ids.map((client_order_id) => ({ client_order_id, quantity: '30' }));
    assert.equal(outcomeOf(await desk.replace(...changes)), 'sent');
    assert.equal((await desk.counter()).open, '60');
    const releasedWhen = async (order: OrderReads['order']) => {
      const orders = { openOrders: async () => [], order };
      const later = () => clock() + 60_000;
      const options = { journal: desk.journal, orders, clock: later, sleep: async () => {} };
      return (await releaseEnded('', options, later() + 60_000)).released;
    };
    const seen = (status: string, clientOrderId: string) => ({
      state: { account: accountId, clientOrderId, status, filled: '0' },
      payload: '{}',
    });
    const other: readonly (() => ReturnType<OrderReads['order']>)[] = [
      async () => seen('SUBMITTED', ids[1]!),
      async () => 'not_found',
      () => Promise.reject(new Error('no answer')),
    ];
    for (const read of other)
      for (const ended of ids) {
        const order = async (_: string, id: string) => (id === ended ? seen('CANCELLED', id) : read());
        assert.equal(await releasedWhen(order), 0, `${read}`);
        assert.equal((await desk.counter()).open, '60');
      }
    assert.equal(await releasedWhen(async (_, id) => seen('CANCELLED', id)), 1);
    assert.equal((await desk.counter()).open, '0');
  });

  test('one that no look-up finds is blocked by each limit that must know it', async (t) => {
    const limits = {
      max_order_notional: '1000',
      restricted_symbols: ['MSFT'],
      allowed_symbols: ['AAPL'],
      allowed_sides: ['BUY' as const],
    };
    const { replace, sent } = await startBesideOthers(t, limits, []);
    const before = sent();
    const reply = await replace({ client_order_id: 'no-such-order', quantity: '1', limit_price: '1' });
    assert.match(
      reply.text,
      /the upstream has no order with this client_order_id. Check the client_order_id./,
    );
    assert.equal(
      outcomeOf(reply),
      'blocked: ' +
        ['restricted_symbols', 'allowed_symbols', 'allowed_sides', 'max_order_notional']
          .map((check) => `${check} /modify_orders/0`)
          .join(', '),
    );
    assert.equal(sent(), before);
  });
});
