/**
 * Many clients at once, within the bounds of the platform: instances take 400 ms to start and are bounded in number,
 * and a partition key gives 3,000 read and 1,000 write units a second. `npm run study -- storm` has more of it.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { holds } from '../world/holds.ts';
import { newAccount, platform } from '../world/platform.ts';
import { plain, type Storm, storm } from '../world/scenarios.ts';
import type { Measured } from '../world/study.ts';

function served(name: string, measured: Measured, least = 0.999): void {
  holds(name, measured);
  const [inTime, clients] = measured.inFiveSeconds;
  assert.ok(inTime >= least * clients, `${inTime} of ${clients} within five seconds`);
}

for (const [name, { aim, least = 0.999, ...size }] of Object.entries({
  '10,000 phones from cold': { warm: 0, clients: 10_000, seconds: 7, aim: 900 },
  '1,000 phones from cold': { warm: 0, clients: 1000, seconds: 12, aim: 200 },
  '100 phones, and then 3,000': { warm: 100, clients: 3000, seconds: 10, aim: 400, least: 0.995 },
} satisfies Readonly<Record<string, Storm & { aim: number; least?: number }>>))
  test(`${name}: all are served within five seconds, and nothing is throttled`, async () => {
    const measured = await storm(size);
    served(name, measured, least);
    const { peakOfKey, throttled } = measured.units;
    assert.equal(throttled + measured.limiterUnits.throttled, 0);
    assert.ok(peakOfKey.read <= 2000 && peakOfKey.write <= 500, JSON.stringify(peakOfKey));
    assert.ok(measured.peakInstances <= aim, `${measured.peakInstances} instances`);
    assert.equal(measured.platformRefused, 0);
  });

test('a new account, with ten instances, carries 250 phones', async () => {
  const measured = await storm({ warm: 0, clients: 250, seconds: 30, platform: newAccount });
  served('250 phones on ten instances', measured);
  const later = measured.bySecond.slice(10);
  const sum = (at: 0 | 1) => later.reduce((total, counts) => total + counts[at], 0);
  assert.ok(sum(0) >= 0.99 * sum(1), `${sum(0)} of ${sum(1)}`);
});

test('without its bound on waiting, ten instances would be occupied by requests that wait', async () => {
  const figures = { instances: platform.maxInstances };
  const measured = await storm(
    { warm: 0, clients: 250, seconds: 30, platform: newAccount },
    { figures, directory: 'none' },
  );
  const [inTime, clients] = measured.inFiveSeconds;
  assert.ok(inTime < 0.9 * clients, `${inTime} of ${clients}`);
});

for (const [part, least] of [
  [0.5, 0.999],
  [1, 0.97],
] as const)
  test(`stores that throttle ${100 * part} % for half a minute: memory serves, and no permit is used alone`, async () => {
    const throttled = [20, 50, part] as const;
    const sent: number[] = [];
    const measured = await plain(
      { clients: 500, seconds: 52 },
      {},
      { throttled, onRecord: ({ sequence }) => sent.push(sequence) },
    );
    holds(`throttled ${part}`, measured);
    const meanwhile = measured.bySecond.slice(20, 50);
    const sum = (at: 0 | 1) => meanwhile.reduce((total, counts) => total + counts[at], 0);
    assert.ok(sum(0) >= least * sum(1), `${sum(0)} of ${sum(1)}`);
    // Each request to the upstream has a lease, so that no instance acted alone.
    assert.ok(
      measured.upstreamRequests <= sent.length + 30,
      `${measured.upstreamRequests} for ${sent.length}`,
    );
  });
