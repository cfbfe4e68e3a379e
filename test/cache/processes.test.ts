/** Half a minute of `processes.ts`; the script runs it for as long as one likes. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { needsEmulator } from '../support/missing-emulator.ts';
import { runProcesses, summary } from './processes.ts';

describe('3 processes on the DynamoDB engine', needsEmulator(), () => {
  test('answer far more requests than they send, and the upstream refuses none', async () => {
    const result = await runProcesses({ seconds: 30, processes: 3, clients: 90, symbols: 300 });
    console.log(`  shared, ${summary(result)}`);
    assert.deepEqual(Object.keys(result.outcomes), ['ok']);
    assert.ok(result.worst <= 300);
    assert.equal(result.wrong, 0);
    const answered = result.statuses[200] ?? 0;
    // A machine that is busy with something else may make some wait for longer than they can.
    assert.equal(answered + (result.statuses[503] ?? 0), result.requests, JSON.stringify(result.statuses));
    assert.ok(answered > 2 * (result.outcomes.ok ?? 0));
  });
});
