/**
 * Streams of many clients on the model of the platform: how old what they show is, through deaths of processes and the end of
 * all streams at once. `npm run study -- streams` runs the same with ten thousand clients, and beside polling.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { studyStreams } from '../fleet.ts';

test('what screens show is as fresh as the gateway, also after all streams ended and processes died', async () => {
  const measured = await studyStreams({
    streams: 200,
    processes: 3,
    seconds: 130,
    countFrom: 70,
    looked: 60,
    allEndAt: 92,
    deaths: [94, 96],
    uncounted: [92, 115],
  });
  console.log(`200 streams, and those that come back: ${JSON.stringify(measured)}`);
  const { afterwards, firsts, returns, worstMinute, throttled } = measured;
  for (const ages of [measured.ages, afterwards])
    assert.ok(ages.p50 > 0 && ages.p50 <= 850 && ages.p99 <= 2500, `${ages.p50}/${ages.p99}`);
  assert.ok(firsts.p99 <= 1200, `${firsts.p99}`);
  assert.ok(returns.max > 0 && returns.max <= 30_000);
  assert.ok(worstMinute <= 300, `${worstMinute}`);
  assert.equal(throttled, 0);
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
