/** Many phones at once, in brief: `storms.test.ts`, `fleet.test.ts` and the study have ten thousand. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { holds } from '../world/holds.ts';
import { storm } from '../world/scenarios.ts';

test('2,000 phones from cold are served within five seconds, and told how old an answer is, with a few requests', async () => {
  const measured = await storm({ warm: 0, clients: 2000, seconds: 7 });
  holds('2,000 phones from cold', measured);
  const [inTime, clients] = measured.inFiveSeconds;
  assert.ok(clients > 500 && inTime >= 0.999 * clients, `${inTime} of ${clients} within five seconds`);
  assert.ok(measured.ages.max <= 6000, `${measured.ages.max} ms`);
  assert.ok(measured.upstreamRequests <= 100, `${measured.upstreamRequests} requests`);
  assert.equal(measured.units.throttled + measured.limiterUnits.throttled, 0);
});
