/** The same load without a cache: each request is one at the upstream, if there is a permit for it. */

import { createRandom } from '../../world/random.ts';
import { VirtualTime } from '../../world/virtual-time.ts';
import { createLimiters, permitsOf } from './limiters.ts';
import type { Client } from './load.ts';
import { createUnitMeter, unbounded } from './platform.ts';

/** So many serve; each of them has as many requests at once as come. */
const instances = 64;

export async function passThrough(
  clients: readonly Client[],
  seconds: number,
  everyMs = 5000,
): Promise<{ readonly requests: number; readonly answered: number }> {
  const random = createRandom(1);
  const time = new VirtualTime();
  const end = time.now() + seconds * 1000;
  const limiters = createLimiters(time, random, createUnitMeter(time, random, unbounded));
  const permits = Array.from({ length: instances }, () => permitsOf(limiters.connect(), limiters.names));
  let requests = 0;
  let answered = 0;
  for (const _ of clients) {
    const again = async () => {
      requests++;
      time.after(everyMs, again);
      const one = permits[Math.floor(random() * instances)]!;
      const answer = await one.acquire({ priority: 'interactive', waitMs: 2000 });
      if (answer.ok && answer.permit.consume()) answered++;
    };
    time.after(random() * everyMs, again);
  }
  await time.runUntil(end);
  return { requests, answered };
}
