/** The scenarios over the ports of the local run. */

import { test } from 'vitest';
import * as functions from '../../functions/compose/functions.ts';
import * as offers from '../../functions/compose/offers.ts';
import * as orderOffers from '../../functions/compose/order-offers.ts';
import { memoryPlatform } from './memory-platform.ts';
import { limits, scenarios } from './scenarios.ts';
import { startScene } from './scene.ts';

for (const { name, run, share = 1 } of scenarios)
  test(name, async (t) => {
    const scene = await startScene({
      platform: memoryPlatform(),
      compositions: { ...functions, offers: { ...offers, ...orderOffers } },
      limits,
      share,
    });
    t.onTestFinished(() => scene.close());
    await run(scene);
  });
