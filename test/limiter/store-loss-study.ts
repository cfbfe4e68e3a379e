/**
 * `npm run study -- store-loss`: the store lost for all, lost for half of the instances
 * and throttled, for 1, 3 and 10 minutes, with 20, 200 and 1,000 instances of which some are replaced all the
 * time. A study fails when any true window held more than the limit.
 */

import { percent } from './seed.ts';
import { type Loss, loseStore } from './store-loss.ts';

const losses: readonly Loss[] = ['lost for all', 'lost for half', 0.2, 0.5, 0.9, 1];
/** Reserves of 300: 20 for 20 instances, 200 for 200. A thousand instances cannot share 300. */
const sets = [
  { instances: 20 },
  { instances: 200 },
  { instances: 1000 },
  { instances: 20, part: 0.1 },
  { instances: 200, part: 0.67 },
] as const;

export async function studyStoreLoss(): Promise<boolean> {
  let seed = 0;
  let worst = 0;
  console.log(
    '| store | instances | reserve | minutes | worst window | asked that were sent | of the limit | of the limit after |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  for (const loss of losses)
    for (const set of sets)
      for (const minutes of [1, 3, 10]) {
        const result = await loseStore({ seed: ++seed, loss, minutes, ...set });
        worst = Math.max(worst, result.worst);
        const store = typeof loss === 'number' ? `throttled ${100 * loss} %` : loss;
        const reserve = 'part' in set ? set.part : 0;
        const { served, used, usedAfter } = result;
        console.log(
          `| ${store} | ${set.instances} | ${reserve} | ${minutes} | ${result.worst} | ${percent(served)} | ${percent(used)} | ${percent(usedAfter)} |`,
        );
      }
  console.log(`worst true window of 60 s: ${worst} of 300`);
  return worst <= 300;
}
