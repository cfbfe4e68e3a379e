/** With roles enforced: the listener works with exactly its role, and not without a part of it. */

import assert from 'node:assert/strict';
import {
  DeleteRolePolicyCommand,
  GetRolePolicyCommand,
  IAMClient,
  ListRolePoliciesCommand,
  ListRolesCommand,
  PutRolePolicyCommand,
} from '@aws-sdk/client-iam';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { needsEmulator } from '../support/missing-emulator.ts';
import { clientConfig } from './deployment.ts';
import { startTradeScene, type TradeScene } from './trade-events-scene.ts';

describe('with roles enforced', needsEmulator(), () => {
  let scene: TradeScene;
  let iam: IAMClient;
  let RoleName: string | undefined;
  beforeAll(async () => {
    // Roles are enforced over TLS only; the certificate is made by the emulator at its start.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    scene = await startTradeScene({ env: { AUTH: 'true', USE_SSL: '1' } });
    iam = new IAMClient(clientConfig(scene.stage.emulator));
    const { Roles = [] } = await iam.send(new ListRolesCommand({}));
    RoleName = Roles.map((role) => role.RoleName).find((name) => name?.includes('TradeEvents'));
  });
  afterAll(() => scene?.stop());

  /** Until the function's log says so once more. */
  async function logged(text: string): Promise<void> {
    const count = () => scene.stage.emulator.output().split(text).length;
    const before = count();
    await scene.until(() => count() > before);
  }

  async function without(PolicyName: string, use: () => Promise<void>): Promise<void> {
    const policy = { RoleName, PolicyName };
    const { PolicyDocument = '' } = await iam.send(new GetRolePolicyCommand(policy));
    await iam.send(new DeleteRolePolicyCommand(policy));
    await use();
    await iam.send(
      new PutRolePolicyCommand({ ...policy, PolicyDocument: decodeURIComponent(PolicyDocument) }),
    );
  }

  test('without the table and without the keys it opens no stream, and with them it does', async () => {
    const { PolicyNames = [] } = await iam.send(new ListRolePoliciesCommand({ RoleName }));
    assert.deepEqual(PolicyNames.toSorted(), [
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
      await without(PolicyName, async () => {
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
    await without('Publish', async () => {
      const refused = logged('trade_events_not_taken');
      await scene.trade(Math.random);
      await refused;
      assert.deepEqual(scene.arrived, []);
    });
    await scene.until(() => scene.arrived.length > 0);
  });
});
