/** The kill switch over warm instances: nothing is sent from five seconds after the stop, and cancels always are. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { type ControlStore, createMemoryControls, maxControlAgeMs } from '../../lib/guard-rails/index.ts';
import { ask, problemOf } from '../support/core.ts';
import { useFakeTime } from '../world/test-time.ts';
import { bodyOf, limited, outcomeOf, placePath, replacePath, startGuarded } from './guarded.ts';

const start = Date.UTC(2026, 10, 20, 15);
let ids = 0;
const anOrder = () => limited(`of-the-kill-switch-${ids++}`, '1', '1');

/** Controls that can be away, or not answer, and a clock that a test moves. */
function createWorld() {
  const state = { clock: start, mode: 'there' as 'there' | 'away' | 'silent', reads: 0 };
  const memory = createMemoryControls();
  const controls: ControlStore = {
    read(keys) {
      state.reads++;
      if (state.mode === 'away') return Promise.reject(new Error('away'));
      return state.mode === 'silent' ? new Promise(() => {}) : memory.read(keys);
    },
  };
  return { state, memory, controls, clock: () => state.clock };
}

describe('a stop', () => {
  test('holds in every warm instance from five seconds after it, whenever each last read it', async (t) => {
    const { state, memory, controls, clock } = createWorld();
    const { gateways, simulator } = await startGuarded(t, { count: 20, controls, clock });
    const place = (instance: number) =>
      ask(gateways[instance]!, placePath, bodyOf({ new_orders: [anOrder()] }));
    for (let instance = 0; instance < 20; instance++) {
      state.clock += 150;
      assert.equal(outcomeOf(await place(instance)), 'sent');
    }
    const stoppedAt = state.clock;
    memory.set('stack', { limits: {}, stopped: { at: stoppedAt } });
    while (state.clock < stoppedAt + 2 * maxControlAgeMs) {
      state.clock += 250;
      await Promise.all(gateways.map((_, instance) => place(instance)));
    }
    const late = simulator.orders.filter(({ placedAt }) => placedAt > stoppedAt + maxControlAgeMs);
    assert.equal(late.length, 0);
    const problem = problemOf(await place(3));
    assert.equal(problem.code, 'order_blocked');
    assert.match(problem.detail, /stopped since 2026-11-20T15:00:03.000Z/);
    memory.set('stack', { limits: {} });
    state.clock += maxControlAgeMs + 1;
    for (const instance of gateways.keys()) assert.equal(outcomeOf(await place(instance)), 'sent');
  });

  const late = {
    'a stop': { stopped: { at: start }, limits: {} },
    'a lowered limit': { limits: { max_order_quantity: '0.5' } },
  };
  for (const [name, control] of Object.entries(late))
    for (const isAway of [false, true])
      test(`or ${name} lets nothing leave later, ${isAway ? 'also when the store goes away' : 'at any pace'}`, async (t) => {
        const { state, memory, controls, clock } = createWorld();
        const { gateways, simulator } = await startGuarded(t, { count: 5, controls, clock });
        const place = (instance: number) =>
          ask(gateways[instance]!, placePath, bodyOf({ new_orders: [anOrder()] }));
        const pacesMs = [300, 700, 1500, 2900, 4700];
        let changedAt = Number.POSITIVE_INFINITY;
        const outcomes = new Set<string>();
        for (let ms = 0; ms < 20_000; ms += 100) {
          state.clock = start + ms;
          if (ms === 6000) {
            memory.set('stack', control);
            changedAt = state.clock;
            if (isAway) state.mode = 'away';
          }
          for (const [instance, paceMs] of pacesMs.entries())
            if (ms % paceMs === 0) outcomes.add(outcomeOf(await place(instance)).replace(/ .*/, ''));
        }
        const after = simulator.orders.filter(({ placedAt }) => placedAt > changedAt);
        assert.ok(after.length > 0 && after.every(({ placedAt }) => placedAt <= changedAt + maxControlAgeMs));
        assert.equal(outcomes.has('blocked:'), !isAway);
        assert.equal(outcomes.has('trading_limits_unavailable'), isAway);
      });

  test('lets cancels through, and what was placed is answered from the journal', async (t) => {
    const { state, memory, controls, clock } = createWorld();
    const { place, replace, cancel, gateway, sent } = await startGuarded(t, { controls, clock });
    const order = anOrder();
    const first = await place(order);
    assert.equal(outcomeOf(first), 'sent');
    const change = () => ({
      ...bodyOf({ modify_orders: [{ client_order_id: order.client_order_id, quantity: '2' }] }),
      headers: { 'idempotency-key': 'a-replacement' },
    });
    const replaced = await ask(gateway, replacePath, change());
    assert.equal(outcomeOf(replaced), 'sent');
    memory.set('stack', { limits: { allowed_symbols: [] }, stopped: { at: state.clock } });
    state.clock += maxControlAgeMs + 1;
    const before = sent();
    assert.equal(outcomeOf(await place(anOrder())), 'blocked: stopped');
    const modified = { client_order_id: order.client_order_id, quantity: '0.5' };
    assert.equal(outcomeOf(await replace(modified)), 'blocked: stopped');
    for (const [again, once] of [
      [await place(order), first],
      [await ask(gateway, replacePath, change()), replaced],
    ] as const) {
      assert.equal(again.text, once.text);
      assert.equal(again.headers['idempotent-replayed'], 'true');
    }
    assert.equal(sent(), before);
    assert.equal(outcomeOf(await cancel(order.client_order_id)), 'sent');
  });
});

describe('while the controls cannot be read', () => {
  test('orders go on for five seconds, then none is sent, and cancels are', async (t) => {
    const { state, controls, clock } = createWorld();
    const { place, cancel, sent } = await startGuarded(t, { controls, clock });
    const order = anOrder();
    assert.equal(outcomeOf(await place(order)), 'sent');
    state.mode = 'away';
    for (const age of [1, 1501, 3001, maxControlAgeMs]) {
      state.clock = start + age;
      // At the very last moment it would not leave in time.
      const leaves = age < maxControlAgeMs;
      assert.equal(outcomeOf(await place(anOrder())), leaves ? 'sent' : 'gateway_timeout', `${age}`);
    }
    const before = sent();
    state.clock = start + maxControlAgeMs + 1;
    const problem = problemOf(await place(anOrder()));
    assert.deepEqual([problem.status, problem.code], [503, 'trading_limits_unavailable']);
    assert.equal((await place(order)).headers['idempotent-replayed'], 'true');
    assert.equal(sent(), before);
    assert.equal(outcomeOf(await cancel(order.client_order_id)), 'sent');
    state.mode = 'there';
    assert.equal(outcomeOf(await place(anOrder())), 'sent');
  });

  test('a warm instance reads them beside its requests, once in a while', async (t) => {
    const { state, controls, clock } = createWorld();
    const { place } = await startGuarded(t, { controls, clock });
    const readsAt = async (age: number) => {
      state.clock = start + age;
      const before = state.reads;
      assert.equal(outcomeOf(await place(anOrder())), 'sent');
      return state.reads - before;
    };
    assert.deepEqual(
      [await readsAt(0), await readsAt(1500), await readsAt(1501), await readsAt(1502)],
      [1, 0, 1, 0],
    );
  });
});

describe('in time that passes', () => {
  const time = useFakeTime(start);

  /** The answer, and when it came. */
  async function answered(asked: Promise<Parameters<typeof outcomeOf>[0]>, forMs: number) {
    let answer: string | undefined;
    let at = Number.NaN;
    asked.then((reply) => {
      answer = outcomeOf(reply);
      at = Date.now();
    });
    const began = Date.now();
    await time.pass(forMs, () => {});
    return { answer, afterMs: at - began };
  }

  test('a store that does not answer counts as away: the request is not held up by it', async (t) => {
    const { state, controls } = createWorld();
    const { place } = await startGuarded(t, { controls });
    assert.equal((await answered(place(anOrder()), 500)).answer, 'sent');
    state.mode = 'silent';
    await time.pass(3000);
    const first = await answered(place(anOrder()), 1800);
    assert.equal(first.answer, 'sent');
    await time.pass(1000);
    const second = await answered(place(anOrder()), 1500);
    assert.equal(second.answer, 'trading_limits_unavailable');
    assert.ok(second.afterMs <= 1200, `${second.afterMs}`);
  });

  test('an order that waits for a permit when the stop comes is not sent after the five seconds', async (t) => {
    const { controls } = createWorld();
    const waits = { ms: 0 };
    const limiter = {
      async acquire() {
        await new Promise((resolve) => setTimeout(resolve, waits.ms));
        return { ok: true as const, permit: { expiresAt: Number.MAX_VALUE, consume: () => true } };
      },
      async block() {},
    };
    const { place, sent } = await startGuarded(t, {
      controls,
      options: { limiter: limiter as never, upstreamLimits: 'published' },
    });
    assert.equal((await answered(place(anOrder()), 500)).answer, 'sent');
    await time.pass(500);
    // The controls are a second old: it may leave within four.
    for (const [ms, outcome] of [
      [1900, 'sent'],
      [8000, 'gateway_timeout'],
    ] as const) {
      const before = sent();
      waits.ms = ms;
      const { answer } = await answered(place(anOrder()), 9000);
      assert.equal(answer, outcome);
      assert.equal(sent() - before, outcome === 'sent' ? 1 : 0);
    }
  });
});
