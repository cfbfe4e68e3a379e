/** The audit of orders, deployed, with roles enforced: each order has its lines, and what is settled comes onto the bus. */

import assert from 'node:assert/strict';
import { EventBridgeClient, PutRuleCommand, PutTargetsCommand } from '@aws-sdk/client-eventbridge';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { describe, test } from 'vitest';
import { createDynamoOrderJournal } from '../../functions/aws/dynamo-order-journal.ts';
import { deployedOrders, type OrdersArguments, showOrders } from '../../infra/commands/orders.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { readRecord, withOutcome } from '../../lib/orders/record.ts';
import { orderSettled } from '../../lib/orders/schemas.ts';
import { given } from '../commands/given.ts';
import { accountId, orderBody, orderPath } from '../support/core.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { itemsOf, textOfItems } from '../world/dynamo.ts';
import { answerOf, deployedStage, pause } from './deployed-stage.ts';
import { clientConfig, dynamoOf } from './deployment.ts';
import { identityKeyOf } from './operator.ts';
import { roleNames, roleOf } from './roles.ts';
import { canary, type Stage, stageName } from './stage.ts';

describe('the audit of orders on the emulator', needsEmulator(), () => {
  const stage = deployedStage({ enforced: true, granted: true, props: { groups: { orders: 'iam' } } });

  /** What the command prints. */
  async function audited(line: string): Promise<readonly string[]> {
    const asked = await given<OrdersArguments>(`orders audit --stack Countersign-${stageName} ${line}`);
    const ports = await deployedOrders(asked);
    return (await showOrders(asked, { ...ports, warn: (text) => assert.fail(text) })).lines;
  }

  /**
   * Does it again, for the emulator brings no change again that the function could not take, as Lambda does: on a busy
   * machine a write may come too late.
   */
  async function until<T>(
    act: (round: number) => Promise<void>,
    read: () => Promise<T | undefined>,
  ): Promise<T> {
    for (let round = 1; ; round++) {
      await act(round);
      for (let look = 0; look < 50; look++) {
        const found = await read();
        if (found !== undefined) return found;
        await pause(200);
      }
    }
  }

  test('an order that is placed is answered for by the command: who, what, outcome and times', async () => {
    let id = '';
    const text = await until(
      async (round) => {
        id = `canary-order-${round}`;
        const order = { client_order_id: id, order_type: 'LIMIT', limit_price: '1.10' };
        const placed = await answerOf(stage, orderPath, orderBody(order));
        assert.equal(placed.status, 200, placed.text);
      },
      async () => {
        const [one] = await audited(`--since 1h --client-order-id ${id}`);
        return one && JSON.parse(one).changes.length === 2 ? one : undefined;
      },
    );
    const line = JSON.parse(text);
    assert.deepEqual(
      [line.account_id, line.client_order_id, line.operation, line.evidence, line.who],
      [accountId, id, 'placeOrder', 'answer', 'iam arn:aws:iam::000000000000:root'],
    );
    assert.equal(line.asked.new_orders[0].limit_price, '1.10');
    assert.deepEqual(
      line.changes.map(({ after }: { readonly after: string }) => after),
      ['pending', 'accepted'],
    );
    assert.ok(line.answer.order_id && line.took_ms >= 0 && line.begun_at < line.known_at, text);
  });

  test('no line in the table and none in a log has an account, an order or a secret in it', async () => {
    const items = await itemsOf(stage.emulator.endpoint, stage.outputs.OrderAuditTable ?? '');
    assert.ok(items.length >= 2);
    const output = stage.emulator.output();
    assert.match(output, /"event":"orders_audited"/);
    for (const word of [accountId, 'canary-order', 'AAPL', canary.appSecret, canary.appKey]) {
      assert.ok(!textOfItems(items).includes(word), word);
      assert.ok(!output.includes(word), word);
    }
  });

  test('an entry that evidence settles is told on the bus, by this function’s role alone', async () => {
    const next = await consumerOf(stage);
    const identityKey = await identityKeyOf(stage);
    const identity = createIdentity(async () => identityKey);
    const client = dynamoOf(stage.emulator);
    const tableName = stage.outputs.OrderJournalTable ?? '';
    const journal = createDynamoOrderJournal({
      client,
      tableName,
      sealer: identity.sealer,
      timeoutMs: 60_000,
    });
    const [item] = await itemsOf(stage.emulator.endpoint, tableName);
    const entry = (await journal.read([item?.pk?.S ?? ''])).values().next().value;
    assert.ok(entry);
    // As a function leaves it that loses an answer, and the settlement then finds it.
    const outcome = (evidence?: 'look_up') => {
      const said = evidence && { evidence, answer: '{"order_id":"7"}' };
      return JSON.stringify(withOutcome(readRecord(entry.record), Date.now(), { ...said }));
    };
    const event = await until(async (round) => {
      const lost = { ...entry, key: `lost-${round}`, attempt: 'lost', state: 'pending' as const };
      const { key, attempt } = lost;
      await journal.begin([lost], Date.now());
      await journal.finish({ key, attempt, state: 'unknown', record: outcome() });
      await journal.finish({ key, attempt, state: 'accepted', record: outcome('look_up') });
    }, next);
    const detail = v.parse(orderSettled, event.detail);
    assert.deepEqual(
      [event['detail-type'], detail.state, detail.evidence, detail.account_id, detail.order_id],
      ['OrderSettled', 'accepted', 'look_up', accountId, '7'],
    );
    assert.equal(detail.account, await identity.names.nameOf('account', accountId));
  });

  test('its role adds lines, the settlement reads them, and no role of the stack changes or removes one', async () => {
    const table = stage.outputs.OrderAuditTable ?? '';
    const naming: unknown[] = [];
    for (const name of await roleNames(stage)) {
      const role = await roleOf(stage, name);
      for (const policy of await role.policies()) {
        const text = await role.policy(policy);
        if (text.includes(table)) naming.push([policy, JSON.parse(text).Statement[0].Action]);
      }
    }
    assert.deepEqual(naming.sort(), [
      ['AddLines', 'dynamodb:PutItem'],
      ['ReadOrderAudit', 'dynamodb:Query'],
    ]);
  });
});

/** A rule as any consumer has it, into a queue of its own. @returns the next event; undefined of none */
async function consumerOf({ emulator, outputs }: Stage) {
  const sqs = new SQSClient(clientConfig(emulator));
  const events = new EventBridgeClient(clientConfig(emulator));
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'settled' }));
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  );
  const rule = { EventBusName: outputs.OrdersBus };
  const EventPattern = JSON.stringify({ 'detail-type': ['OrderSettled'] });
  await events.send(new PutRuleCommand({ ...rule, Name: 'settled', EventPattern }));
  await events.send(
    new PutTargetsCommand({
      ...rule,
      Rule: 'settled',
      Targets: [{ Id: 'queue', Arn: Attributes?.QueueArn }],
    }),
  );
  return async (): Promise<{ readonly 'detail-type': string; readonly detail: unknown } | undefined> => {
    const { Messages: [message] = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
    return message && JSON.parse(message.Body ?? '');
  };
}
