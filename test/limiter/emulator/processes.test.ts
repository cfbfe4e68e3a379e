/** `processes.ts` for a little more than a window; the script itself runs for any time. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { needsEmulator } from '../../support/missing-emulator.ts';
import { runProcesses, summary } from '../processes.ts';

describe('8 processes', needsEmulator(), () => {
  test('share one limit, and the upstream refuses none of their requests', async () => {
    const result = await runProcesses({ seconds: 75, processes: 8, perMinute: 600 });
    console.log(`  limiter, ${summary(result)}`);
    assert.deepEqual(Object.keys(result.outcomes), ['ok']);
    assert.ok(result.worst <= 300);
    assert.ok((result.outcomes.ok ?? 0) > 200);
    for (const { sent } of result.counts) assert.ok(sent > 0, 'every process gets some');
  });

  test('share one limit also when DynamoDB throttles half of their operations', async () => {
    const result = await runProcesses({ seconds: 20, processes: 8, perMinute: 600, throttled: 0.5 });
    console.log(`  limiter, half of it throttled, ${summary(result)}`);
    assert.deepEqual(Object.keys(result.outcomes), ['ok']);
    assert.ok(result.worst <= 300);
    assert.ok(result.counts.reduce((sum, { busy }) => sum + busy, 0) > 20);
    // Each process had an answer of the table at some time, and so a permit.
    for (const { sent } of result.counts) assert.ok(sent > 0, 'every process gets some');
  });
});
