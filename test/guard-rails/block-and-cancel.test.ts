/** A check whose action is to block and cancel: whose orders it asks to cancel, how often, and what the client is told. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { MassCancel, MassCancelStore, TradingLimits } from '../../lib/guard-rails/index.ts';
import { start, startDesk } from '../orders/mass-cancel/desk.ts';
import { problemOf } from '../support/core.ts';
import { each } from '../support/each.ts';
import { useFakeTime } from '../world/test-time.ts';

const limits: TradingLimits = {
  max_order_quantity: '10',
  actions: { max_order_quantity: 'block_and_cancel' },
};
const tooLarge = { quantity: '11' };

/** Keeps what is asked for; it can fail, or not answer. */
function createAsked() {
  const state = { mode: 'there' as 'there' | 'away' | 'silent' };
  const asked: MassCancel[] = [];
  const massCancels: Pick<MassCancelStore, 'request'> = {
    async request(one) {
      asked.push(one);
      if (state.mode === 'away') throw new Error('away');
      if (state.mode === 'silent') await new Promise(() => {});
    },
  };
  return { state, asked, massCancels };
}

describe('an order that fails such a check', () => {
  test('cancels the user’s orders for the limit of the user and of the gateway, the account’s for its own', async (t) => {
    for (const [whose, scope, words] of [
      ['user', 'user', 'this user'],
      ['gateway', 'user', 'this user'],
      ['account', 'account', 'this account'],
    ] as const) {
      const desk = await startDesk(t);
      const { controls, place, run, open, accounts, scopeOf } = desk;
      const before = await open();
      const [own, ofBob] = [await place({ user: 'alice' }), await place({ user: 'bob' })];
      const key = { user: await scopeOf('user', 'alice'), account: await scopeOf('account', accounts[0]!) };
      controls.set(whose === 'gateway' ? 'stack' : key[whose], { limits });
      desk.state.clock += 5001;
      const problem = problemOf((await place({ user: 'alice' }, tooLarge)).reply);
      assert.deepEqual([problem.status, problem.code], [403, 'order_blocked']);
      assert.ok(
        problem.detail.endsWith(
          `. Open orders of ${words} are being cancelled. The request was not sent; it had no effect.`,
        ),
        problem.detail,
      );
      const asked = await controls.massCancels.open();
      assert.deepEqual(each(asked, 'scope'), [key[scope]]);
      await run();
      const left = scope === 'account' ? [] : [...before, ofBob.id].sort();
      assert.deepEqual(await open(), left, whose);
      assert.ok(!left.includes(own.id));
    }
  });

  test('of a gateway without users cancels the account’s', async (t) => {
    const { controls, place, scopeOf, accounts } = await startDesk(t, { isSingleUser: true });
    controls.set('stack', { limits });
    await place({ account: 1 }, tooLarge);
    const [asked, ...more] = await controls.massCancels.open();
    assert.deepEqual([asked?.scope, more.length], [await scopeOf('account', accounts[1]!), 0]);
  });

  test('beyond several limits asks once for each whose orders go', async (t) => {
    const { asked, massCancels } = createAsked();
    const { controls, place, scopeOf, accounts } = await startDesk(t, { massCancels });
    const scopes = [await scopeOf('account', accounts[0]!), await scopeOf('user', 'alice')];
    for (const scope of ['stack', ...scopes]) controls.set(scope, { limits });
    const { reply } = await place({ user: 'alice' }, tooLarge);
    assert.deepEqual(asked.map(({ scope }) => scope).sort(), scopes.sort());
    assert.equal(problemOf(reply).errors?.length, 3);
  });

  test('keeps what the user placed before and just after it apart from what comes later', async (t) => {
    const { state, controls, place, run, open } = await startDesk(t);
    controls.set('stack', { limits });
    const before = await place({ user: 'alice' });
    await place({ user: 'alice' }, tooLarge);
    state.clock += 12_000;
    const later = await place({ user: 'alice' });
    await run();
    const left = await open();
    assert.deepEqual([left.includes(before.id), left.includes(later.id)], [false, true]);
  });
});

describe('no cancels are asked for', () => {
  test('for an order that passes, one that only blocks or notifies, and one that was placed before', async (t) => {
    const { asked, massCancels } = createAsked();
    const { state, controls, place } = await startDesk(t, { massCancels });
    const client_order_id = 'an-order-that-was-placed';
    const first = await place({ user: 'alice' }, { client_order_id, ...tooLarge });
    for (const action of ['block', 'notify'] as const) {
      controls.set('stack', { limits: { ...limits, actions: { max_order_quantity: action } } });
      state.clock += 5001;
      await place({ user: 'alice' }, tooLarge);
    }
    controls.set('stack', { limits });
    state.clock += 5001;
    assert.equal((await place({ user: 'alice' })).reply.status, 200);
    const again = await place({ user: 'alice' }, { client_order_id, ...tooLarge });
    assert.deepEqual([again.reply.status, again.reply.text], [200, first.reply.text]);
    assert.deepEqual(asked, []);
  });

  test('for what is not known, such as a last price: the order may be within the limit', async (t) => {
    const { asked, massCancels } = createAsked();
    const { state, controls, place } = await startDesk(t, { massCancels });
    const unknown: readonly (readonly [TradingLimits, Readonly<Record<string, unknown>>])[] = [
      [{ max_order_notional: '1000' }, { order_type: 'MARKET', limit_price: null }],
      [{ max_open_notional: '1000' }, { order_type: 'MARKET', limit_price: null }],
      [{ price_collar: '5' }, { order_type: 'LIMIT', limit_price: '1' }],
    ];
    for (const [limits, order] of unknown) {
      const [check] = Object.keys(limits) as (keyof NonNullable<TradingLimits['actions']>)[];
      controls.set('stack', { limits: { ...limits, actions: { [check!]: 'block_and_cancel' } } });
      state.clock += 5001;
      const problem = problemOf((await place({ user: 'alice' }, order)).reply);
      assert.equal(problem.code, 'order_blocked', check);
      assert.doesNotMatch(problem.detail, /cancelled/);
    }
    assert.deepEqual(asked, []);
  });

  test('while trading is stopped: the check is not reached', async (t) => {
    const { asked, massCancels } = createAsked();
    const { controls, place } = await startDesk(t, { massCancels });
    controls.set('stack', { limits, stopped: { at: start } });
    assert.match(problemOf((await place({ user: 'alice' }, tooLarge)).reply).detail, /has been stopped/);
    assert.deepEqual(asked, []);
  });

  test('again within ten seconds for the same scope, although orders in between are meant', async (t) => {
    const { asked, massCancels } = createAsked();
    const { state, controls, place } = await startDesk(t, { massCancels });
    controls.set('stack', { limits });
    for (const ms of [0, 1, 5000, 9999]) {
      state.clock = start + ms;
      const { detail } = problemOf((await place({ user: 'alice' }, tooLarge)).reply);
      assert.match(detail, /are being cancelled/);
    }
    assert.equal(asked.length, 1);
    assert.ok(asked[0]!.placedBefore > state.clock);
    await place({ user: 'bob' }, tooLarge);
    assert.equal(asked.length, 2);
    state.clock = start + 10_000;
    await place({ user: 'alice' }, tooLarge);
    assert.equal(asked.length, 3);
    assert.equal(new Set(asked.map(({ id }) => id)).size, 3);
  });
});

describe('a store of mass cancels', () => {
  test('that is away changes nothing about the refusal, is reported, and is asked again', async (t) => {
    const { state, asked, massCancels } = createAsked();
    const { controls, place, failures } = await startDesk(t, { massCancels });
    controls.set('stack', { limits });
    state.mode = 'away';
    const problem = problemOf((await place({ user: 'alice' }, tooLarge)).reply);
    assert.equal(problem.code, 'order_blocked');
    assert.doesNotMatch(problem.detail, /cancelled/);
    assert.deepEqual(failures, ['mass_cancel']);
    state.mode = 'there';
    const next = problemOf((await place({ user: 'alice' }, tooLarge)).reply);
    assert.match(next.detail, /are being cancelled/);
    assert.equal(asked.length, 2);
  });
});

describe('in time that passes', () => {
  const time = useFakeTime(start);

  test('a store that does not answer holds the refusal up for a second', async (t) => {
    const { state, asked, massCancels } = createAsked();
    const { controls, place, failures } = await startDesk(t, { massCancels });
    controls.set('stack', { limits });
    state.mode = 'silent';
    for (const times of [1, 2]) {
      let detail: string | undefined;
      place({ user: 'alice' }, tooLarge).then(({ reply }) => {
        detail = problemOf(reply).detail;
      });
      await time.pass(900, () => {});
      assert.equal(detail, undefined);
      await time.pass(500, () => {});
      assert.doesNotMatch(detail ?? 'are being cancelled', /are being cancelled/);
      assert.deepEqual([asked.length, failures.length], [times, times]);
    }
  });
});
