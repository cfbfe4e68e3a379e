/** Account data by event through the deployed stack: two queues, grants to sources, and nothing in the clear at rest. */

import assert from 'node:assert/strict';
import { DynamoDBClient, ListTablesCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createDynamoAccessStore } from '../../functions/aws/dynamo-access-store.ts';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { type AccessAdmin, createAccessAdmin } from '../../lib/access/admin.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { getAccountBalance } from '../../lib/catalogue/index.ts';
import { busEntry, readRequested, requesters } from '../../lib/events/index.ts';
import { accountId } from '../support/core.ts';
import { emulatorEnvironment } from '../support/dynamo.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { clientConfig } from './deployment.ts';
import { collectReplies, type Replies } from './replies.ts';
import { putSecret } from './secret.ts';
import { type Stage, startStage } from './stage.ts';

Object.assign(process.env, emulatorEnvironment);

describe('account data by event', needsEmulator(), () => {
  let stage: Stage;
  let replies: Replies;
  let admin: AccessAdmin;
  beforeAll(async () => {
    stage = await startStage({
      props: { groups: { accounts: 'iam' }, events: { groups: ['accounts', 'market-data'] } },
    });
    await putSecret(stage);
    replies = await collectReplies(stage);
    const { AccessTable: tableName = '', IdentityKeySecretArn: SecretId } = stage.outputs;
    const secrets = new SecretsManagerClient(clientConfig(stage.emulator));
    const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId }));
    admin = createAccessAdmin({
      store: createDynamoAccessStore({ client: createDynamoClient(stage.emulator.endpoint), tableName }),
      identity: createIdentity(async () => SecretString),
      by: 'test',
    });
    await admin.apply({
      action: 'grant',
      subject: { kind: 'source', name: 'reports' },
      accounts: [accountId],
      userData: false,
      scopes: ['read'],
    });
  });
  afterAll(() => stage?.stop());

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
