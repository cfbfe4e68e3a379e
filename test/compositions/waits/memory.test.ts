/** The scenarios over the ports of the local run. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import * as functions from '../../../functions/compose/functions.ts';
import * as offers from '../../../functions/compose/offers.ts';
import * as orderOffers from '../../../functions/compose/order-offers.ts';
import { startWorker } from '../../../functions/compositions.ts';
import { type WorkerName, workerNames } from '../../../functions/rows.ts';
import { memoryPlatform } from '../memory-platform.ts';
import { limits, scenarios } from '../scenarios.ts';
import { startScene } from '../scene.ts';

/** Workers without a scenario, and the test that has them. */
const elsewhere: readonly WorkerName[] = [
  'authorizer', // test/deployed/token-authorizer.test.ts
  'access-token', // test/deployed/token-check.test.ts
  'canary', // test/deployed/canary.test.ts
];
const worked = new Set<WorkerName>();

for (const { name, run, share = 1 } of scenarios)
  test(name, async (t) => {
    const scene = await startScene({
      platform: memoryPlatform(),
      compositions: { ...functions, offers: { ...offers, ...orderOffers }, startWorker },
      limits,
      share,
    });
    t.onTestFinished(() => scene.close());
    await run(scene);
    for (const one of scene.worked ?? []) worked.add(one);
  });

test('each worker has a scenario', () =>
  assert.deepEqual(
    workerNames.filter((one) => !worked.has(one)),
    elsewhere,
  ));
