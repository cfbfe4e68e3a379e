/**
 * Each alarm, judged by its own row over the lines that the functions log: with its fault it rings, and no other one does;
 * when the fault is over it ends; and in a quiet hour none rings.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { alarmTable } from '../../infra/stack/alarm-table.ts';
import { faults } from './faults.ts';
import { startWorld } from './world.ts';

test('each alarm but that of tighter limits has a fault', () => {
  const rung = new Set(faults.flatMap(({ rings }) => rings));
  // The lines of tighter limits are those of the limiter’s own tests.
  assert.deepEqual(
    Object.keys(alarmTable).filter((name) => !rung.has(name as never)),
    ['limits-tightened'],
  );
});

test('in a quiet hour none rings', async (t) => {
  const world = await startWorld();
  t.onTestFinished(() => world.close());
  await world.minutes(60);
  assert.deepEqual(world.rang(), []);
});

describe('a fault', () => {
  for (const { name, rings, run, end, endsAfter = 31, ...options } of faults)
    test(`${name}: ${rings.join(', ')}`, async (t) => {
      const world = await startWorld(options);
      t.onTestFinished(() => world.close());
      await run(world);
      assert.deepEqual([...world.rang()].sort(), [...rings].sort());
      if (!end) return;
      await end(world);
      await world.minutes(endsAfter);
      assert.deepEqual(world.rang(world.now() - 2 * 60_000), []);
    });
});
