/** The function of order events as it is deployed, in Lambda's own runtime client: over a table of users and one of events. */

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, type TestContext, test } from 'vitest';
import { createDynamoAccessStore } from '../../../functions/aws/dynamo-access-store.ts';
import { createDynamoEventHistory } from '../../../functions/aws/dynamo-event-history.ts';
import { createAccessAdmin } from '../../../lib/access/admin.ts';
import { createIdentity } from '../../../lib/access/identity.ts';
import { streamOrderEvents } from '../../../lib/catalogue/live.ts';
import { keptBus } from '../../../lib/trade-events/history.ts';
import { bundleFile } from '../../deployed/bundles.ts';
import {
  identityKey,
  identityKeyId,
  operatorArn,
  startSecretsManagerStub,
} from '../../deployed/secrets-manager-stub.ts';
import { whatIsMissing } from '../../support/ministack.ts';
import { orSkip } from '../../support/missing.ts';
import { part } from '../../support/parts.ts';
import { createTable, emulatorEnvironment } from '../../world/dynamo.ts';
import { dynamoEngine } from '../../world/dynamo-engine.ts';
import { missingForStartUp } from '../runtime-client.ts';
import { readWhole, startStreaming, streamEvent } from '../streaming-runtime.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

describe('the deployed function of order events', orSkip(whatIsMissing() ?? missingForStartUp()), () => {
  const engine = dynamoEngine();
  const identity = createIdentity(async () => identityKey);
  let directory: string;
  let file: string;
  beforeAll(async () => {
    const parent = here('../../../.build/');
    await mkdir(parent, { recursive: true });
    directory = await mkdtemp(join(parent, 'order-streams-'));
    ({ file } = await bundleFile(
      here('../../../functions/order-streams/handler.ts'),
      join(directory, 'function'),
    ));
    await createTable(engine.endpoint, 'users');
    const store = createDynamoAccessStore({ client: engine.client, tableName: 'users' });
    const subject = { kind: 'iam', arn: operatorArn } as const;
    const admin = createAccessAdmin({ store, identity, by: 'test' });
    await admin.apply({ action: 'grant', subject, accounts: ['mine'], userData: false, scopes: ['read'] });
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const event = (userArn: string, headers: Readonly<Record<string, string>> = {}) =>
    streamEvent(streamOrderEvents.path, { headers, identity: { userArn } });

  async function deployed(t: TestContext) {
    const secrets = await startSecretsManagerStub();
    t.onTestFinished(() => secrets.close());
    const tableName = await engine.table();
    const history = createDynamoEventHistory({ client: engine.client, tableName, sealer: identity.sealer });
    const listener = keptBus({ publish: async (events) => events.map(() => true) }, history, {
      clock: Date.now,
      onFailure: (error) => assert.fail(String(error)),
    });
    const runtime = await startStreaming(t, file, {
      ...emulatorEnvironment,
      AWS_ENDPOINT_URL: secrets.url,
      AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
      ...part('ACCESS', { identityKeySecretId: identityKeyId }),
      ...part('EVENT_HISTORY', { tableName }),
      ...part('LIVE', { maxStreams: 5 }),
    });
    return {
      ...runtime,
      async happens(id: string, accountId: string) {
        const account = await identity.names.nameOf('account', accountId);
        const detail = JSON.stringify({ event_id: id, account, account_id: accountId });
        await listener.publish([{ id, detailType: 'OrderChanged', detail }]);
      },
    };
  }

  test('tells what was kept of the caller’s accounts, and what comes after it', async (t) => {
    const { call, happens } = await deployed(t);
    await happens('one', 'mine');
    await happens('two', 'of another');
    const answer = await call(event(operatorArn, { 'last-event-id': 'of another gateway' }), 900_000);
    assert.equal(answer.headers['lambda-runtime-function-response-mode'], 'streaming');
    answer.setEncoding('utf8');
    let text = '';
    let isLater = false;
    for await (const chunk of answer) {
      text += chunk;
      if (!isLater && text.includes('"one"')) {
        isLater = true;
        await happens('three', 'of another');
        await happens('four', 'mine');
      }
      if (/\nevent: beat\n.*\n\n/.test(text) && text.includes('"four"')) break;
    }
    const [head = '', body = ''] = text.split('\0'.repeat(8));
    const { statusCode, headers } = JSON.parse(head);
    assert.deepEqual(
      [statusCode, headers['content-type'], headers['cache-control']],
      [200, 'text/event-stream', 'no-store'],
    );
    assert.match(body, /^retry: 1000\n\nid: \d{15}-\nevent: start\ndata: \{"now":\d+,"resumed":false\}\n\n/);
    const told = [...body.matchAll(/"event_id":"(\w+)"/g)].map(([, id]) => id);
    assert.deepEqual(told, ['one', 'four']);
  });

  test('ends before its time is over, and refuses one whom nobody has granted anything, before it begins', async (t) => {
    const { call } = await deployed(t);
    const { body } = await readWhole(await call(event(operatorArn), 6000));
    assert.match(
      body.toString().trimEnd().split('\n\n').at(-1) ?? '',
      /^event: end\ndata: \{"reason":"time"/,
    );
    const refused = await readWhole(await call(event(`${operatorArn}-2`), 60_000));
    assert.deepEqual([refused.head.statusCode, JSON.parse(refused.body.toString()).code], [403, 'forbidden']);
  });
});
