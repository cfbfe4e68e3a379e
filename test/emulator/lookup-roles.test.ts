/** With roles enforced: the function of lookups works with exactly its role, and not without a part of it. */

import assert from 'node:assert/strict';
import {
  DeleteRolePolicyCommand,
  GetRolePolicyCommand,
  IAMClient,
  ListRolePoliciesCommand,
  ListRolesCommand,
  PutRolePolicyCommand,
} from '@aws-sdk/client-iam';
import { type Message, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { needsEmulator } from '../support/missing-emulator.ts';
import { clientConfig } from './deployment.ts';
import { collectReplies, drain, type Replies } from './replies.ts';
import { putSecret } from './secret.ts';
import { type Stage, startStage } from './stage.ts';

describe('with roles enforced', needsEmulator(), () => {
  let stage: Stage;
  let iam: IAMClient;
  let sqs: SQSClient;
  let replies: Replies;
  let RoleName: string | undefined;
  beforeAll(async () => {
    // Roles are enforced over TLS only; the certificate is made by the emulator at its start.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    stage = await startStage({
      env: { AUTH: 'true', USE_SSL: '1' },
      props: { groups: { accounts: 'iam' }, events: { groups: ['accounts', 'market-data'] } },
    });
    await putSecret(stage);
    iam = new IAMClient(clientConfig(stage.emulator));
    sqs = new SQSClient(clientConfig(stage.emulator));
    replies = await collectReplies(stage);
    const { Roles = [] } = await iam.send(new ListRolesCommand({}));
    RoleName = Roles.map((role) => role.RoleName).find((name) => name?.includes('quotelookup'));
  });
  afterAll(() => stage?.stop());

  const send = (MessageBody: string) =>
    sqs.send(new SendMessageCommand({ QueueUrl: stage.outputs.LookupQueueUrl, MessageBody }));
  const request = (request_id: string) =>
    JSON.stringify({ request_id, symbols: ['AAPL'], category: 'US_STOCK' });

  test('with its role it takes requests, answers them and puts poison aside', async () => {
    const { PolicyNames = [] } = await iam.send(new ListRolePoliciesCommand({ RoleName }));
    assert.deepEqual(PolicyNames.toSorted(), [
      'CountRequests',
      'ReadIdentityKey',
      'ReadSecret',
      'ReadUsers',
      'RememberRequests',
      'Reply',
      'ShareAnswers',
      'TakeRequests',
      'WriteLog',
    ]);
    await send(request('role-0'));
    await send('no json');
    await replies.until(() => replies.of('role-0').length > 0);
    let dead: readonly Message[] = [];
    while (dead.length === 0) dead = await drain(sqs, stage.outputs.LookupDeadLettersUrl ?? '');
    assert.equal(dead[0]?.Body, 'no json');

    await send(JSON.stringify({ request_id: 'role-1', operation: 'listAccounts' }));
    await replies.until(() => replies.of('role-1').length > 0);
    // The directory was read: otherwise the request would wait.
    assert.equal(replies.of('role-1')[0]?.detail.code, 'forbidden');
  });

  for (const PolicyName of ['RememberRequests', 'Reply'])
    test(`without ${PolicyName} a request stays in the queue`, async () => {
      const policy = { RoleName, PolicyName };
      const { PolicyDocument = '' } = await iam.send(new GetRolePolicyCommand(policy));
      await iam.send(new DeleteRolePolicyCommand(policy));
      const undone = () => stage.emulator.output().split('"undone":1').length - 1;
      const before = undone();
      await send(request(`without-${PolicyName}`));
      while (undone() === before) await new Promise((resolve) => setTimeout(resolve, 200));
      assert.deepEqual(replies.of(`without-${PolicyName}`), []);
      await iam.send(
        new PutRolePolicyCommand({ ...policy, PolicyDocument: decodeURIComponent(PolicyDocument) }),
      );
    });
});
