/** With roles enforced: the function of lookups works with exactly its role, and not without a part of it. */

import assert from 'node:assert/strict';
import { type Message, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, test } from 'vitest';
import { needsEmulator } from '../support/missing-emulator.ts';
import { deployedStage, pause } from './deployed-stage.ts';
import { clientConfig } from './deployment.ts';
import { collectReplies, drain, type Replies } from './replies.ts';
import { type Role, roleOf } from './roles.ts';

describe('with roles enforced', needsEmulator(), () => {
  let sqs: SQSClient;
  let replies: Replies;
  let role: Role;
  const stage = deployedStage({
    enforced: true,
    props: { groups: { accounts: 'iam' }, events: { groups: ['accounts', 'market-data'] } },
    async prepare() {
      sqs = new SQSClient(clientConfig(stage.emulator));
      replies = await collectReplies(stage);
      role = await roleOf(stage, 'quotelookup');
    },
  });

  const send = (MessageBody: string) =>
    sqs.send(new SendMessageCommand({ QueueUrl: stage.outputs.LookupQueueUrl, MessageBody }));
  const request = (request_id: string) =>
    JSON.stringify({ request_id, symbols: ['AAPL'], category: 'US_STOCK' });

  test('with its role it takes requests, answers them and puts poison aside', async () => {
    assert.deepEqual(await role.policies(), [
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

  for (const policy of ['RememberRequests', 'Reply'])
    test(`without ${policy} a request stays in the queue`, () =>
      role.without(policy, async () => {
        const undone = () => stage.emulator.output().split('"undone":1').length - 1;
        const before = undone();
        await send(request(`without-${policy}`));
        while (undone() === before) await pause(200);
        assert.deepEqual(replies.of(`without-${policy}`), []);
      }));
});
