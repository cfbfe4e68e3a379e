/** The scenarios over the ports that are deployed, on a DynamoDB engine of their own each. */

import { afterAll, describe, test } from 'vitest';
import * as compositions from '../../functions/compose/functions.ts';
import { startMinistack } from '../support/ministack.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { enginePlatform, makeResources } from './engine-platform.ts';
import { limits, scenarios } from './scenarios.ts';
import { startScene } from './scene.ts';

describe('on a DynamoDB engine', needsEmulator(), () => {
  const before = { ...process.env };
  afterAll(() => {
    process.env = before;
  });

  for (const { name, run, share = '1' } of scenarios)
    test(name, async (t) => {
      const emulator = await startMinistack();
      t.onTestFinished(() => emulator.stop());
      Object.assign(process.env, {
        AWS_ENDPOINT_URL: emulator.endpoint,
        AWS_REGION: emulator.region,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
      });
      await makeResources(emulator);
      const scene = await startScene({ platform: enginePlatform(emulator), compositions, limits, share });
      t.onTestFinished(() => scene.close());
      await run(scene);
    });
});
