/** Mass cancels, deployed, with roles enforced: what is open is cancelled for a stop, and for a check that asks for it. */

import assert from 'node:assert/strict';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { DisableRuleCommand, EventBridgeClient, ListRulesCommand } from '@aws-sdk/client-eventbridge';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { describe, test } from 'vitest';
import { toItem } from '../../functions/aws/dynamo-items.ts';
import { massCancelKey, massCancelPartition } from '../../functions/aws/dynamo-mass-cancel-requests.ts';
import { deployedTrading, manageTrading, type TradingArguments } from '../../infra/commands/trading.ts';
import { stackScope } from '../../lib/guard-rails/controls.ts';
import type { MassCancelReport } from '../../lib/orders/mass-cancel.ts';
import { given } from '../commands/given.ts';
import { accountId, orderBody, orderPath } from '../support/core.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { itemsOf, textOfItems } from '../world/dynamo.ts';
import { answerOf, deployedStage, pause } from './deployed-stage.ts';
import { clientConfig } from './deployment.ts';
import { roleOf } from './roles.ts';
import { canary, type Stage, stageName } from './stage.ts';

describe('mass cancels on the emulator', needsEmulator(), () => {
  let orders = 0;
  const stage = deployedStage({
    enforced: true,
    granted: true,
    props: {
      groups: { orders: 'iam' },
      trading: {
        limits: { max_order_quantity: '1000', actions: { max_order_quantity: 'block_and_cancel' } },
      },
    },
    prepare: withoutSchedule,
  });

  const place = (quantity = '1') => {
    const client_order_id = `canary-order-${++orders}`;
    const order = { client_order_id, order_type: 'LIMIT', limit_price: '1.10', quantity };
    return answerOf(stage, orderPath, orderBody(order));
  };

  /** Places one; a function may use what it knows of a stop for five seconds. */
  async function placed(): Promise<string> {
    for (;;) {
      const { status, text } = await place();
      if (status === 200) return `canary-order-${orders}`;
      assert.equal(status, 403, text);
      await pause(500);
    }
  }

  async function trading(line: string): Promise<void> {
    const asked = await given<TradingArguments>(`trading ${line}`);
    await manageTrading(asked, await deployedTrading(asked));
  }

  const isCancelled = (id: string) =>
    stage.simulator.trading
      .changes()
      .some(({ clientOrderId, scene }) => clientOrderId === id && scene === 'CANCEL_SUCCESS');

  /** Does it again, for on a busy machine a run may come to its end too early, and the schedule is off. */
  async function untilCancelled(ids: readonly string[], ask: () => Promise<unknown>): Promise<void> {
    for (;;) {
      await ask();
      for (let look = 0; look < 75; look++) {
        if (ids.every(isCancelled)) return;
        await pause(200);
      }
    }
  }

  const requests = async () =>
    (await itemsOf(stage.emulator.endpoint, stage.outputs.TradingControlsTable ?? '')).filter(
      ({ pk }) => pk?.S === massCancelPartition,
    );

  async function run(): Promise<MassCancelReport> {
    const client = new LambdaClient(clientConfig(stage.emulator));
    const command = new InvokeCommand({ FunctionName: stage.outputs.MassCancelFunction });
    const { FunctionError, Payload } = await client.send(command);
    const text = Buffer.from(Payload ?? []).toString();
    assert.equal(FunctionError, undefined, text);
    return JSON.parse(text);
  }

  test('a stop that says so cancels what is open, by the table’s stream alone', async () => {
    const open = [await placed(), await placed(), await placed()];
    await untilCancelled(open, () =>
      trading(`stop --stack Countersign-${stageName} --reason emulator --cancel-open`),
    );
    assert.deepEqual(
      (await requests()).map(({ sk }) => sk?.S),
      [stackScope],
    );
  });

  test('the request goes on, and is gone when a list that is late enough shows nothing', async () => {
    const going = await run();
    assert.deepEqual([going.requests, going.finished, going.left, going.unread], [1, 0, 0, 0]);
    await backInTime(stage, 30 * 60_000);
    // The stream starts the function, too: either run may be the one that finishes it.
    while ((await requests()).length > 0) await run();
    const none = await run();
    assert.deepEqual([none.requests, none.oldestMs], [0, 0]);
  });

  test('an order that a check blocks and cancels by is refused, and what its user has open is cancelled', async () => {
    await trading(`resume --stack Countersign-${stageName} --reason over`);
    const open = await placed();
    const blocked = async () => {
      const { status, text } = await place('1001');
      assert.equal(status, 403, text);
      return text;
    };
    const giveBack = await (await roleOf(stage, 'ordersRole')).take('AskToCancel');
    const alone = await blocked();
    assert.doesNotMatch(alone, /being cancelled/);
    assert.deepEqual(await requests(), []);
    await giveBack();
    let told = '';
    await untilCancelled([open], async () => {
      told ||= await blocked();
    });
    assert.match(told, /being cancelled/);
    const [request] = await requests();
    assert.match(request?.sk?.S ?? '', /^user /);
  });

  test('no item and no line of a log has an account, an order or a secret in it', async () => {
    const tables = [stage.outputs.TradingControlsTable, stage.outputs.OrderJournalTable];
    const items = await Promise.all(tables.map((name = '') => itemsOf(stage.emulator.endpoint, name)));
    const output = stage.emulator.output();
    assert.match(output, /"event":"open_orders_cancelled"/);
    assert.doesNotMatch(output, /open_order_not_cancelled|journal_failed/);
    for (const word of [accountId, 'canary-order', canary.appSecret, canary.appKey]) {
      assert.ok(!textOfItems(items.flat()).includes(word), word);
      assert.ok(!output.includes(word), word);
    }
  });
});

/** So that it is the stream that starts the function. */
async function withoutSchedule({ emulator }: Stage): Promise<void> {
  const client = new EventBridgeClient(clientConfig(emulator));
  const { Rules = [] } = await client.send(new ListRulesCommand({}));
  const own = Rules.filter(({ Name = '' }) => /MassCancels/.test(Name));
  assert.equal(own.length, 1);
  for (const { Name } of own) await client.send(new DisableRuleCommand({ Name }));
}

/** The request of the whole gateway, as if it had been made earlier. */
async function backInTime({ emulator, outputs }: Stage, ms: number): Promise<void> {
  const client = new DynamoDBClient(clientConfig(emulator));
  const earlier = { N: String(Date.now() - ms) };
  await client.send(
    new UpdateItemCommand({
      TableName: outputs.TradingControlsTable,
      Key: toItem(massCancelKey(stackScope)),
      UpdateExpression: 'SET #at = :earlier, placed_before = :earlier',
      ExpressionAttributeNames: { '#at': 'at' },
      ExpressionAttributeValues: { ':earlier': earlier },
    }),
  );
}
