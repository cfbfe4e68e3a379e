/** The scenarios of compositions, deployed: one of each kind. An order that has ended once never left its counter here. */

import { describe, test } from 'vitest';
import { deployedStage } from '../../emulator/deployed-stage.ts';
import { needsEmulator } from '../../support/missing-emulator.ts';
import { leaveNothing, limits, smoke } from '../scenarios.ts';
import type { Scene } from '../scene.ts';
import { stageScene } from '../stage-scene.ts';

describe('scenarios on the emulator', needsEmulator(), () => {
  let scene: Scene;
  deployedStage({
    enforced: true,
    props: {
      groups: { orders: 'iam' },
      trading: { limits, stopOnAlarms: { names: ['drawdown'] } },
      events: { groups: ['market-data', 'orders'] },
      tradeEvents: {},
      live: { maxOrderStreams: 2 },
    },
    async prepare(stage) {
      scene = await stageScene(stage);
    },
  });

  for (const { name, run } of smoke)
    test(name, async () => {
      await run(scene);
      await leaveNothing(scene);
    });
});
