/** A full window and a bit of `processes.ts`; the script runs it for as long as one likes. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { needsEmulator } from '../emulator/missing.ts';
import { runProcesses, summary } from './processes.ts';

describe('8 processes', needsEmulator(), () => {
  test('share one budget, and the upstream refuses none of their requests', async () => {
    const result = await runProcesses({ seconds: 75, processes: 8, perMinute: 600 });
    console.log(`  budget, ${summary(result)}`);
    assert.deepEqual(Object.keys(result.outcomes), ['ok']);
    assert.ok(result.worst <= 300);
    assert.ok((result.outcomes.ok ?? 0) > 200);
    for (const { sent } of result.counts) assert.ok(sent > 0, 'every process gets some');
  });

  test('take throttling of half of what they ask the table for what it is', async () => {
    const result = await runProcesses({ seconds: 20, processes: 8, perMinute: 600, throttled: 0.5 });
    console.log(`  budget, half of it throttled, ${summary(result)}`);
    assert.deepEqual(Object.keys(result.outcomes), ['ok']);
    assert.ok(result.worst <= 300);
    assert.ok(result.counts.reduce((sum, { busy }) => sum + busy, 0) > 20);
    // Each had an answer of the table at some time, and so a permission.
    for (const { sent } of result.counts) assert.ok(sent > 0, 'every process gets some');
  });
});
