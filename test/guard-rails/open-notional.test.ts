import assert from 'node:assert/strict';
import { test } from 'vitest';
import { tradeForADay } from './open-notional-study.ts';

test('through a part of a day the counters are never below what is open, and never above their limits', async () => {
  const { wrong, placed, blocked, unknown, replaced, emptyAfterMinutes } = await tradeForADay(100, 3);
  assert.deepEqual(wrong, []);
  for (const count of [placed, blocked, unknown, replaced]) assert.ok(count > 0);
  assert.ok(emptyAfterMinutes < 30);
});
