/** The scenarios over the ports that are deployed, each on a DynamoDB engine that has forgotten the one before. */

import { afterAll, beforeAll, describe, test } from 'vitest';
import * as functions from '../../../functions/compose/functions.ts';
import * as offers from '../../../functions/compose/offers.ts';
import * as orderOffers from '../../../functions/compose/order-offers.ts';
import { startWorker } from '../../../functions/compositions.ts';
import { type Ministack, startMinistack } from '../../support/ministack.ts';
import { needsEmulator } from '../../support/missing-emulator.ts';
import { enginePlatform, makeResources } from '../engine-platform.ts';
import { limits, scenarios } from '../scenarios.ts';
import { startScene } from '../scene.ts';

describe('on a DynamoDB engine', needsEmulator(), () => {
  const before = { ...process.env };
  let emulator: Ministack;
  beforeAll(async () => {
    emulator = await startMinistack();
    Object.assign(process.env, {
      AWS_ENDPOINT_URL: emulator.endpoint,
      AWS_REGION: emulator.region,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    });
  });
  afterAll(async () => {
    process.env = before;
    await emulator?.stop();
  });

  for (const { name, run, share = 1 } of scenarios)
    test(name, async (t) => {
      await emulator.reset();
      await makeResources(emulator);
      const scene = await startScene({
        platform: enginePlatform(emulator),
        compositions: { ...functions, offers: { ...offers, ...orderOffers }, startWorker },
        limits,
        share,
      });
      t.onTestFinished(() => scene.close());
      await run(scene);
    });
});
