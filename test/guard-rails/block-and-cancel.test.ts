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

/** Keeps what is asked for; it can stop answering. */
function createAsked() {
  const state = { isSilent: false };
  const asked: MassCancel[] = [];
  const massCancels: Pick<MassCancelStore, 'request'> = {
    async request(one) {
      asked.push(one);
      if (state.isSilent) await new Promise(() => {});
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

test('no cancels are asked for while trading is stopped: the check is not reached', async (t) => {
  const { asked, massCancels } = createAsked();
  const { controls, place } = await startDesk(t, { massCancels });
  controls.set('stack', { limits, stopped: { at: start } });
  assert.match(problemOf((await place({ user: 'alice' }, tooLarge)).reply).detail, /has been stopped/);
  assert.deepEqual(asked, []);
});

describe('in time that passes', () => {
  const time = useFakeTime(start);

  test('a store that does not answer holds the refusal up for a second', async (t) => {
    const { state, asked, massCancels } = createAsked();
    const { controls, place, failures } = await startDesk(t, { massCancels });
    controls.set('stack', { limits });
    state.isSilent = true;
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
