/** The reading of the journal: each entry once, late ones too, and nothing asked of the store in vain. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { defaultSnapshotOptions, noControl, type SnapshotStore } from '../../lib/cache/snapshots/index.ts';
import { createMemorySnapshotStore } from '../../lib/cache/snapshots/memory-store.ts';
import { RefreshLog } from '../../lib/cache/snapshots/refresh-log.ts';
import { answerEntry, takeAfter } from './snapshot-store.contract.ts';

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
  const learnt: number[] = [];
  const runtime = { clock: () => state.now, sleep: async () => {}, random: () => 0.5 };
  const loaded: number[] = [];
  const journal = new RefreshLog(store, runtime, defaultSnapshotOptions, {
    apply: ({ sequence }) => learnt.push(sequence),
    load: ({ sequence }) => loaded.push(sequence),
  });
  const takeTurns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await takeAfter(memory, { ...noControl, sequence: turn });
  };
  const poll = async () => {
    state.now += 100;
    await journal.poll();
  };
  return { memory, journal, learnt, reads, state, takeTurns, poll };
}

test('an entry that is late is read when it comes, and each one once', async () => {
  const { memory, learnt, takeTurns, poll } = setUp();
  await takeTurns(4);
  await memory.write(answerEntry(1));
  await memory.write(answerEntry(4));
  await poll();
  await poll();
  await memory.write(answerEntry(3));
  await poll();
  await memory.write(answerEntry(2));
  await poll();
  await poll();
  assert.deepEqual(learnt, [1, 4, 3, 2]);
});

test('an entry that never comes is given up', async () => {
  const { memory, reads, state, takeTurns, poll } = setUp();
  await takeTurns(2);
  await memory.write(answerEntry(2));
  await poll();
  await poll();
  assert.deepEqual(reads.at(-1), [2, [1]]);
  state.now += defaultSnapshotOptions.upstreamTimeoutMs + 2000;
  await poll();
  await poll();
  assert.deepEqual(reads.at(-1), [2, []]);
});

test('whoever looks meanwhile looks together', async () => {
  const { journal, reads, poll } = setUp();
  await poll();
  const before = reads.length;
  await Promise.all([journal.poll(), journal.poll(), journal.poll()]);
  assert.equal(reads.length, before + 1);
});

test('after a long pause only what may still be served is read', async () => {
  const { memory, reads, state, takeTurns, poll } = setUp();
  await poll();
  await takeTurns(1000);
  await memory.write(answerEntry(1000));
  state.now += 10 * 60_000;
  await poll();
  const lookBack = Math.ceil(defaultSnapshotOptions.staleAfterMs / defaultSnapshotOptions.paceMs);
  assert.deepEqual(reads.slice(-2), [
    [undefined, []],
    [1000 - lookBack, []],
  ]);
});

test('a store that fails is left alone for a while, ever longer, and used again when it is back', async () => {
  const { memory, journal, learnt, reads, state, takeTurns, poll } = setUp();
  await poll();
  state.away = true;
  const before = reads.length;
  for (let second = 0; second < 10; second += 0.1) await poll();
  const tries = reads.length - before;
  assert.ok(tries >= 3 && tries <= 8, `${tries}`);
  assert.ok(journal.isStoreDown(state.now));
  state.away = false;
  await takeTurns(1);
  await memory.write(answerEntry(1));
  for (let second = 0; second < 3; second += 0.1) await poll();
  assert.deepEqual(learnt, [1]);
  assert.ok(!journal.isStoreDown(state.now));
});
