/**
 * No sequence of requests that are allowed ends with more open at the upstream than the limit, whatever is lost, late or
 * refused; and the counters never have less than what is open, nor anything once all is over.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createHandOver } from '../../../lib/orders/hand-over.ts';
import { createMemoryOrderJournal, createSettlement } from '../../../lib/orders/index.ts';
import { exposureFault } from '../exposure-histories.ts';

const subject = { createHandOver, createMemoryOrderJournal, createSettlement };

test('in random histories the open notional is never above the limit, and never counted too low', async () => {
  assert.equal(await exposureFault(subject, 150), undefined);
});
