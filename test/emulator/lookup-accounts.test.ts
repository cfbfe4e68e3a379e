/** Account data by event through the deployed stack: two queues, grants to sources, and nothing in the clear at rest. */

import assert from 'node:assert/strict';
import { DynamoDBClient, ListTablesCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, test } from 'vitest';
import { getAccountBalance } from '../../lib/catalogue/index.ts';
import { busEntry, readRequested, requesters } from '../../lib/events/index.ts';
import { accountId } from '../support/core.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { deployedStage } from './deployed-stage.ts';
import { clientConfig } from './deployment.ts';
import { operatorOf } from './operator.ts';
import { collectReplies, type Replies } from './replies.ts';

describe('account data by event', needsEmulator(), () => {
  let replies: Replies;
  const stage = deployedStage({
    props: { groups: { accounts: 'iam' }, events: { groups: ['accounts', 'market-data'] } },
    async prepare() {
      replies = await collectReplies(stage);
      const operator = await operatorOf(stage);
      await operator.apply({
        action: 'grant',
        subject: { kind: 'source', name: 'reports' },
        accounts: [accountId],
        userData: false,
        scopes: ['read'],
      });
    },
  });

  const balance = readRequested(getAccountBalance, {
    request_id: 'same-for-all',
    query: { account_id: accountId },
  });
  const put = (source: string) =>
    new EventBridgeClient(clientConfig(stage.emulator)).send(
      new PutEventsCommand({ Entries: [busEntry(balance, { bus: stage.outputs.LookupBus ?? '', source })] }),
    );
  const send = (body: object) =>
    new SQSClient(clientConfig(stage.emulator)).send(
      new SendMessageCommand({
        QueueUrl: stage.outputs.LookupQueueUrl,
        MessageBody: JSON.stringify(body),
      }),
    );
  const replyTo = async (requester: string) => {
    const find = () => replies.of('same-for-all').find(({ detail }) => detail.requester === requester);
    await replies.until(() => find() !== undefined);
    return find()!;
  };

  test('the same id of three requesters: the one with a grant has the answer, and no envelope in the queue is one', async () => {
    await put('alerts');
    await send({ 'detail-type': balance.detailType, source: 'reports', detail: balance.detail });
    for (const requester of ['alerts', requesters.queue]) {
      const { detail, ...event } = await replyTo(requester);
      assert.deepEqual([event['detail-type'], detail.code], ['ReadFailed', 'forbidden'], requester);
    }
    assert.deepEqual(stage.simulator.received, []);
    await put('reports');
    const granted = await replyTo('reports');
    assert.equal(granted['detail-type'], 'ReadCompleted', JSON.stringify(granted));
    assert.equal(stage.simulator.received.length, 1);
  });

  test('no table and no log holds the account in the clear', async () => {
    const client = new DynamoDBClient(clientConfig(stage.emulator));
    const { TableNames = [] } = await client.send(new ListTablesCommand({}));
    let stored = 0;
    for (const TableName of TableNames) {
      const { Items = [] } = await client.send(new ScanCommand({ TableName }));
      for (const item of Items) {
        for (const { S = '', B } of Object.values(item))
          assert.ok(!S.includes(accountId) && !Buffer.from(B ?? []).includes(accountId), TableName);
        if (item.sealed?.BOOL) stored++;
      }
    }
    assert.equal(stored, 3, 'replies, sealed');
    assert.ok(!stage.emulator.output().includes(accountId));
    assert.ok(!stage.template.includes(accountId));
  });
});
