/**
 * Streams of many clients on the model of the platform: how old what they show is, through deaths of processes and the end of
 * all streams at once. `npm run study -- streams` runs the same with ten thousand clients, and beside polling.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { studyStreams } from './fleet.ts';

test('what screens show is as fresh as the gateway, within the limit', async () => {
  const measured = await studyStreams({
    streams: 300,
    processes: 5,
    seconds: 95,
    countFrom: 70,
    looked: 100,
  });
  console.log(`300 streams: ${JSON.stringify(measured)}`);
  const { ages, firsts, worstMinute, throttled } = measured;
  assert.ok(ages.p50 <= 1050 && ages.p99 <= 2750, `${ages.p50}/${ages.p99}`);
  assert.ok(firsts.p99 <= 1200, `${firsts.p99}`);
  assert.ok(worstMinute <= 300, `${worstMinute}`);
  assert.equal(throttled, 0);
});

test('after all streams ended at once, and after processes died, clients come back to fresh quotes', async () => {
  const measured = await studyStreams({
    streams: 300,
    processes: 5,
    seconds: 110,
    countFrom: 95,
    looked: 100,
    allEndAt: 72,
    deaths: [74, 76],
  });
  console.log(`300 streams that come back: ${JSON.stringify(measured)}`);
  const { ages, returns, worstMinute } = measured;
  assert.ok(ages.p50 <= 1050 && ages.p99 <= 2750, `${ages.p50}/${ages.p99}`);
  assert.ok(returns.max <= 30_000);
  assert.ok(worstMinute <= 300);
});
