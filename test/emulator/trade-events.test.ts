/** Trade events, deployed: what the simulator's book says comes onto the bus, also while listeners and streams end. */

import assert from 'node:assert/strict';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { EventFault } from '../../infra/simulator/index.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { clientConfig } from './deployment.ts';
import { canary } from './stage.ts';
import { startTradeScene, streamsOf, type TradeScene, tallyOf } from './trade-events-scene.ts';

describe('trade events', needsEmulator(), () => {
  let scene: TradeScene;
  beforeAll(async () => {
    scene = await startTradeScene();
  });
  afterAll(() => scene?.stop());

  const subscribed = () =>
    scene.stage.simulator.events.subscriptions.filter(({ outcome }) => outcome === 'subscribed').length;
  const tally = () => tallyOf(scene.stage.simulator.trading.changes(), scene.arrived);

  test('each change of an order comes, over kills, faults and hand-overs, and none that was not', async () => {
    const { stage, until } = scene;
    const { events } = stage.simulator;
    // The first one dies, and the others hand over every few seconds.
    let starts = 0;
    scene.schedule(5000, () => ({ remainingMs: 20_000, ...(starts++ === 0 && { killAfterMs: 8000 }) }));
    await until(() => subscribed() >= 1);
    const trading = Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 700));
        await scene.trade(Math.random);
      }),
    );
    const another = async (fault: EventFault) => {
      const before = subscribed();
      await until(() => events.open === 1);
      events.bring(fault);
      await until(() => subscribed() > before);
    };
    await until(() => scene.arrived.length >= 5);
    await another({ kind: 'drop' });
    events.bring({ kind: 'repeat', events: 5 });
    await another({ kind: 'goaway' });
    await another({ kind: 'expire' });
    await trading;
    await until(() => tally().missing.length === 0);
    const { invented, changes, reconciled } = tally();
    assert.deepEqual(invented, []);
    assert.ok(changes > 60, `${changes} changes`);
    assert.ok(reconciled > 0, 'what fell into the gap that the kill left was found by a read');
    assert.equal(streamsOf(scene).most, 1);
  });

  test('no log line and no item has an account, an order or a secret in it', async () => {
    const { stage, account } = scene;
    const [{ clientOrderId } = { clientOrderId: '' }] = stage.simulator.trading.changes();
    const words = [canary.appSecret, canary.appKey, account, clientOrderId];
    const output = stage.emulator.output();
    assert.match(output, /trade_stream_subscribed/);
    const client = new DynamoDBClient(clientConfig(stage.emulator));
    const { Items = [] } = await client.send(new ScanCommand({ TableName: stage.outputs.TradeEventsTable }));
    assert.ok(Items.length > 60);
    // Sealed bytes as characters, in which a clear word would be seen.
    const items = JSON.stringify(Items, (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
    for (const word of words) {
      assert.ok(!output.includes(word), word);
      assert.ok(!items.includes(word), word);
    }
  });
});
