/** Reading the refresh log: each record once, late ones too, and no read that the store answers in vain. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  defaultSnapshotOptions,
  noControl,
  type SnapshotStore,
  upstreamTimeoutMs,
} from '../../lib/cache/snapshots/index.ts';
import { RefreshLog } from '../../lib/cache/snapshots/refresh-log.ts';
import { createMemorySnapshotStore } from '../../lib/cache/snapshots/store.ts';
import { acquireAfter, answerRecord } from './snapshot-store.contract.ts';

function setUp() {
  const state = { now: 1_795_239_000_000, away: false };
  const memory = createMemorySnapshotStore(() => state.now);
  const reads: (readonly [number | undefined, readonly number[]])[] = [];
  const store: SnapshotStore = {
    ...memory,
    async read(after, missing) {
      reads.push([after, [...missing]]);
      if (state.away) throw new Error('away');
      return memory.read(after, missing);
    },
  };
  const applied: number[] = [];
  const runtime = { clock: () => state.now, sleep: async () => {}, random: () => 0.5 };
  const loaded: number[] = [];
  const log = new RefreshLog({ store, runtime }, defaultSnapshotOptions, {
    apply: ({ sequence }) => applied.push(sequence),
    load: ({ sequence }) => loaded.push(sequence),
  });
  const acquireLeases = async (count: number) => {
    for (let sequence = 0; sequence < count; sequence++)
      await acquireAfter(memory, { ...noControl, sequence });
  };
  const poll = async () => {
    state.now += 100;
    await log.poll();
  };
  return { memory, log, applied, reads, state, acquireLeases, poll };
}

test('a late record is read when it comes, and each one once', async () => {
  const { memory, applied, acquireLeases, poll } = setUp();
  await acquireLeases(4);
  await memory.write(answerRecord(1));
  await memory.write(answerRecord(4));
  await poll();
  await poll();
  await memory.write(answerRecord(3));
  await poll();
  await memory.write(answerRecord(2));
  await poll();
  await poll();
  assert.deepEqual(applied, [1, 4, 3, 2]);
});

test('a record that never comes is given up', async () => {
  const { memory, reads, state, acquireLeases, poll } = setUp();
  await acquireLeases(2);
  await memory.write(answerRecord(2));
  await poll();
  await poll();
  assert.deepEqual(reads.at(-1), [2, [1]]);
  state.now += upstreamTimeoutMs + 2000;
  await poll();
  await poll();
  assert.deepEqual(reads.at(-1), [2, []]);
});

test('concurrent polls share one read', async () => {
  const { log, reads, poll } = setUp();
  await poll();
  const before = reads.length;
  await Promise.all([log.poll(), log.poll(), log.poll()]);
  assert.equal(reads.length, before + 1);
});

test('after a long pause only what may still be served is read', async () => {
  const { memory, reads, state, acquireLeases, poll } = setUp();
  await poll();
  await acquireLeases(1000);
  await memory.write(answerRecord(1000));
  state.now += 10 * 60_000;
  await poll();
  const lookBack = Math.ceil(defaultSnapshotOptions.staleAfterMs / defaultSnapshotOptions.paceMs);
  assert.deepEqual(reads.slice(-2), [
    [undefined, []],
    [1000 - lookBack, []],
  ]);
});

test('a store that fails is not asked for a while, then ever longer, and used again when it is back', async () => {
  const { memory, log, applied, reads, state, acquireLeases, poll } = setUp();
  await poll();
  state.away = true;
  const before = reads.length;
  for (let second = 0; second < 10; second += 0.1) await poll();
  const tries = reads.length - before;
  assert.ok(tries >= 3 && tries <= 8, `${tries}`);
  assert.ok(log.health.isDown(state.now));
  state.away = false;
  await acquireLeases(1);
  await memory.write(answerRecord(1));
  for (let second = 0; second < 3; second += 0.1) await poll();
  assert.deepEqual(applied, [1]);
  assert.ok(!log.health.isDown(state.now));
});
