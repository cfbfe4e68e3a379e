/** The history of trade events in memory keeps the contract, and the bus beside it gives each event to both. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import {
  createMemoryTradeEventHistory,
  keptBus,
  keptMs,
  placeAt,
  timeOf,
  toldMs,
} from '../../lib/trade-events/history.ts';
import type { TradeEvent } from '../../lib/trade-events/index.ts';
import { eventHistoryContract } from './history.contract.ts';

eventHistoryContract('memory', () => createMemoryTradeEventHistory());

const eventOf = (id: string, account?: string): TradeEvent => ({
  id,
  detailType: 'OrderChanged',
  detail: JSON.stringify({ event_id: id, ...(account && { account, account_id: 'in clear' }) }),
});

function world() {
  const state = { now: 1_795_239_000_000, isBusAway: false, isHistoryAway: false, appendMs: 0 };
  const memory = createMemoryTradeEventHistory(() => state.now);
  const onBus: string[] = [];
  const tries = { append: 0 };
  const failures: unknown[] = [];
  const bus = (aheadMs = 0) =>
    keptBus(
      {
        async publish(events) {
          if (!state.isBusAway) onBus.push(...events.map(({ id }) => id));
          return events.map(() => !state.isBusAway);
        },
      },
      {
        ...memory,
        async append(...appended) {
          tries.append++;
          state.now += state.appendMs;
          if (state.isHistoryAway) throw new Error('away');
          await memory.append(...appended);
        },
      },
      { clock: () => state.now + aheadMs, onFailure: (error) => failures.push(error) },
    );
  const keptIn = async (name = 'every') =>
    (await memory.after(name, placeAt(0), 1000)).map(({ place }) => place.slice(16));
  return { state, memory, onBus, tries, failures, bus, keptIn };
}

describe('a bus whose events are kept', () => {
  test('an event has the name of its account besides that of all; one that names none has that alone', async () => {
    const { bus, keptIn } = world();
    assert.deepEqual(await bus().publish([eventOf('one', 'hash'), eventOf('two')]), [true, true]);
    assert.deepEqual([await keptIn(), await keptIn('hash')], [['one', 'two'], ['one']]);
  });

  test('counts as taken what both have, and gives neither what it has', async () => {
    const { state, bus, onBus, keptIn } = world();
    const both = bus();
    state.isBusAway = true;
    assert.deepEqual(await both.publish([eventOf('one')]), [false]);
    state.isBusAway = false;
    assert.deepEqual(await both.publish([eventOf('one')]), [true]);
    assert.deepEqual([await keptIn(), onBus], [['one'], ['one']]);
    state.isHistoryAway = true;
    assert.deepEqual(await both.publish([eventOf('two')]), [false]);
    assert.deepEqual(onBus, ['one', 'two']);
    state.isHistoryAway = false;
    state.now += 5000;
    assert.deepEqual(await both.publish([eventOf('two')]), [true]);
    assert.deepEqual(
      [await keptIn(), onBus],
      [
        ['one', 'two'],
        ['one', 'two'],
      ],
    );
  });

  test('a history that is away holds the bus up once in five seconds', async () => {
    const { state, bus, onBus, tries, failures } = world();
    state.isHistoryAway = true;
    const both = bus();
    for (let count = 0; count < 40; count++) {
      assert.deepEqual(await both.publish([eventOf(`e${count}`)]), [false]);
      state.now += 250;
    }
    assert.equal(onBus.length, 40);
    assert.deepEqual([tries.append, failures.length], [2, 2]);
  });

  test('a process that begins anew gives both what it cannot know that they have', async () => {
    const { state, bus, onBus, keptIn } = world();
    state.isHistoryAway = true;
    await bus().publish([eventOf('one')]);
    state.isHistoryAway = false;
    assert.deepEqual(await bus().publish([eventOf('one')]), [true]);
    assert.deepEqual([await keptIn(), onBus], [['one'], ['one', 'one']]);
  });

  test('later events have later places, whichever listener’s clock is ahead', async () => {
    const { bus, memory, keptIn } = world();
    const [fast, slow] = [bus(240_000), bus(-240_000)];
    for (const [index, one] of [slow, fast, slow, fast, slow, slow].entries())
      await one.publish([eventOf(`e${index}`)]);
    assert.deepEqual(await keptIn(), ['e0', 'e1', 'e2', 'e3', 'e4', 'e5']);
    const places = (await memory.after('every', placeAt(0), 10)).map(({ place }) => timeOf(place));
    assert.equal(new Set(places).size, places.length);
  });

  test('what took so long that those who follow may have read on is kept at a later place', async () => {
    const { state, bus, keptIn } = world();
    const both = bus();
    state.appendMs = 7501;
    assert.deepEqual(await both.publish([eventOf('one')]), [false]);
    state.appendMs = 0;
    state.now += 5000;
    assert.deepEqual(await both.publish([eventOf('one')]), [true]);
    assert.deepEqual(await keptIn(), ['one', 'one']);
  });
});

test('what is kept is kept for longer than it can be told', () => assert.ok(keptMs > toldMs));
