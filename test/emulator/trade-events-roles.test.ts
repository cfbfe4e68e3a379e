/** With roles enforced: the listener works with exactly its role, and not without a part of it. */

import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { needsEmulator } from '../support/missing-emulator.ts';
import { type Role, roleOf } from './roles.ts';
import { startTradeScene, type TradeScene } from './trade-events-scene.ts';

describe('with roles enforced', needsEmulator(), () => {
  let scene: TradeScene;
  let role: Role;
  beforeAll(async () => {
    // Roles are enforced over TLS only; the certificate is made by the emulator at its start.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    scene = await startTradeScene({ env: { AUTH: 'true', USE_SSL: '1' } });
    role = await roleOf(scene.stage, 'TradeEvents');
  });
  afterAll(() => scene?.stop());

  /** Until the function's log says so once more. */
  async function logged(text: string): Promise<void> {
    const count = () => scene.stage.emulator.output().split(text).length;
    const before = count();
    await scene.until(() => count() > before);
  }

  test('without the table and without the keys it opens no stream, and with them it does', async () => {
    assert.deepEqual(await role.policies(), [
      // Of orders there is a limit only when limits are tightened.
      'CountRequests',
      'KeepEvents',
      'Publish',
      'ReadIdentityKey',
      'ReadSecret',
      'WriteLog',
    ]);
    const { events } = scene.stage.simulator;
    for (const [PolicyName, text] of [
      ['ReadSecret', '"event":"secret_not_read"'],
      ['ReadIdentityKey', '"event":"identity_key_not_read"'],
      ['KeepEvents', '"step":"store"'],
    ] as const)
      await role.without(PolicyName, async () => {
        const failed = logged(text);
        await scene.start({ remainingMs: 5000 });
        await failed;
        assert.equal(events.subscriptions.length, 0, PolicyName);
      });
    scene.schedule(3000, () => ({ remainingMs: 20_000 }));
    await scene.until(() => events.open === 1);
  });

  test('without the permission to publish an event waits in the table, and comes with it', async () => {
    await scene.until(() => scene.stage.simulator.events.open === 1);
    await role.without('Publish', async () => {
      const refused = logged('trade_events_not_taken');
      await scene.trade(Math.random);
      await refused;
      assert.deepEqual(scene.arrived, []);
    });
    await scene.until(() => scene.arrived.length > 0);
  });
});
