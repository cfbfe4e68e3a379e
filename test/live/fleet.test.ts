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

test('what the channel carries is fresher than what is fetched, within the units of one key', async () => {
  const measured = await studyStreams({
    streams: 100,
    processes: 3,
    seconds: 50,
    countFrom: 35,
    looked: 50,
    symbols: 300,
    channel: { carried: 200, perSecond: 3 },
  });
  console.log(`100 streams with a channel: ${JSON.stringify(measured)}`);
  const { ages, streamed, peakOfKey, worstMinute, throttled } = measured;
  assert.ok(streamed.p50 <= 500 && streamed.p99 <= 1500, `${streamed.p50}/${streamed.p99}`);
  assert.ok(ages.p50 <= 1050 && ages.p99 <= 2750, `${ages.p50}/${ages.p99}`);
  assert.ok(peakOfKey.write <= 200 && peakOfKey.read <= 1500, JSON.stringify(peakOfKey));
  assert.ok(worstMinute <= 300);
  assert.equal(throttled, 0);
});
