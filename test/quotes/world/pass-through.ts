/** The same load without quotes: each request is one at the upstream, if there is a permission for it. */

import type { Client } from './load.ts';
import { createPermits } from './permits.ts';
import { createRandom, VirtualTime } from './virtual-time.ts';

export async function passThrough(
  clients: readonly Client[],
  seconds: number,
  everyMs = 5000,
): Promise<{ readonly requests: number; readonly answered: number }> {
  const random = createRandom(1);
  const time = new VirtualTime();
  const end = time.now() + seconds * 1000;
  const permits = createPermits(time, () => 0);
  let requests = 0;
  let answered = 0;
  for (const _ of clients) {
    const again = async () => {
      requests++;
      time.after(everyMs, again);
      const answer = await permits.ask({ priority: 'interactive', waitMs: 0 });
      if (answer.ok) answered++;
    };
    time.after(random() * everyMs, again);
  }
  await time.runUntil(end);
  return { requests, answered };
}
