/** A part of `storm-study.ts`: the units that a storm of cold instances takes, and that it is served. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { cold, warm } from '../storm.ts';

for (const before of ['idle', 'half in use'] as const)
  test(`2,000 a second from cold, ${before} before: the key is not near its cap`, async () => {
    const result = await cold({ seed: 71, perSecond: 2000, seconds: 5, before });
    assert.ok(result.instances > 500, `${result.instances} instances`);
    assert.ok(result.peakRead <= 1500, `${result.peakRead} read units in a second`);
    assert.ok(result.peakWrite <= 500, `${result.peakWrite} write units in a second`);
    assert.equal(result.throttled, 0);
    assert.ok(result.sent >= 40, `${result.sent} sent`);
    assert.ok(result.worst <= 300);
  });

test('a key with a tenth of those units throttles, and the limit is used all the same', async () => {
  const unitCap = { read: 100, write: 30 };
  const result = await cold({ seed: 72, perSecond: 1000, seconds: 15, before: 'idle', unitCap });
  assert.ok(result.throttled > 100, `${result.throttled} throttled`);
  assert.ok(result.sent >= 100, `${result.sent} sent`);
  assert.ok(result.worst <= 300);
});

test('a thousand warm instances use the limit as two hundred do', async () => {
  const { used, worst, peakRead } = await warm(73, 600, 2);
  assert.ok(used > 0.95, `${used} of the limit`);
  assert.ok(worst <= 300);
  assert.ok(peakRead < 100, `${peakRead} read units in a second`);
});
