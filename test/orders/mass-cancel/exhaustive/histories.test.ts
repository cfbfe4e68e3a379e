/**
 * After any history of stops, failed checks, orders under way, lost answers and runs that die, a request that is finished
 * leaves none of its orders open, nothing else was cancelled, and each request is finished in time.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createMassCancels } from '../../../../lib/orders/index.ts';
import { massCancelFault } from '../histories.ts';

test('through lost answers, late orders and crashes, what is finished is cancelled, and nothing else is', async () => {
  assert.equal(await massCancelFault({ createMassCancels }, 1500), undefined);
});
