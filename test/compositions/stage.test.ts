/** The scenarios of compositions, deployed: one of each kind. An order that has ended once never left its counter here. */

import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Stage, startStage } from '../emulator/stage.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { leaveNothing, limits, smoke } from './scenarios.ts';
import type { Scene } from './scene.ts';
import { stageScene } from './stage-scene.ts';

describe('scenarios on the emulator', needsEmulator(), () => {
  let stage: Stage;
  let scene: Scene;
  const before = { ...process.env };

  beforeAll(async () => {
    // Roles are enforced over TLS only; the certificate is made by the emulator at its start.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    stage = await startStage({
      env: { AUTH: 'true', USE_SSL: '1' },
      props: {
        groups: { orders: 'iam' },
        trading: { limits, stopOnAlarms: { names: ['drawdown'] } },
        events: { groups: ['market-data', 'orders'] },
        tradeEvents: {},
      },
    });
    scene = await stageScene(stage);
  });
  afterAll(async () => {
    await stage?.stop();
    process.env = before;
  });

  for (const { name, run } of smoke)
    test(name, async () => {
      await run(scene);
      await leaveNothing(scene);
    });
});
