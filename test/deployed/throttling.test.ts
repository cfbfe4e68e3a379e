/** DynamoDB's refusal of too many requests is told apart from its failures. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type TestContext, test } from 'vitest';
import { asStoreError, createDynamoClient, isThrottling } from '../../functions/aws/dynamo-client.ts';
import { orderStreamPorts } from '../../functions/aws/event-ports.ts';
import { orderAuditPorts, tradingStopPorts } from '../../functions/aws/order-ports.ts';
import type { Host } from '../../functions/compose/ports.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { StoreThrottled } from '../../lib/limiter/store-throttled.ts';
import { lineOf } from '../orders/audit.contract.ts';
import { hostWith } from '../support/deployed.ts';
import { emulatorEnvironment } from '../support/dynamo.ts';
import { each } from '../support/each.ts';
import { identity } from '../support/instances.ts';
import { urlFor } from '../support/listening.ts';

/** Where DynamoDB answers everything so. */
function answering(t: TestContext, status: number, type: string): Promise<string> {
  Object.assign(process.env, emulatorEnvironment);
  const server = createServer((_, response) =>
    response
      .writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
      .end(JSON.stringify({ __type: type, message: 'made up' })),
  );
  return urlFor(t, server);
}

/** What the client rejects with then. */
async function rejection(
  t: TestContext,
  ...answer: readonly [status: number, type: string]
): Promise<unknown> {
  const client = createDynamoClient(await answering(t, ...answer));
  return client.send('GetItem', { TableName: 'any', Key: { pk: { S: 'a' } } }).then(
    () => assert.fail('answered'),
    (error: unknown) => error,
  );
}

for (const type of [
  'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
  'com.amazon.coral.availability#ThrottlingException',
  'com.amazonaws.dynamodb.v20120810#RequestLimitExceeded',
])
  test(`${type} is throttling`, async (t) => {
    const error = await rejection(t, 400, type);
    assert.equal(isThrottling(error), true);
    const storeError = asStoreError(error);
    assert.ok(storeError instanceof StoreThrottled);
    assert.equal(storeError.cause, error);
    assert.equal(asStoreError(storeError), storeError);
    assert.equal(isThrottling(storeError), true);
  });

for (const [status, type] of [
  [500, 'com.amazonaws.dynamodb.v20120810#InternalServerError'],
  [400, 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException'],
  [400, 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException'],
] as const)
  test(`${type} is none`, async (t) => {
    const error = await rejection(t, status, type);
    assert.equal(isThrottling(error), false);
    assert.equal(asStoreError(error), error);
  });

test('neither is a store that does not answer', () => {
  for (const error of [new Error('no answer in time'), 'ThrottlingException', undefined]) {
    assert.equal(isThrottling(error), false);
    assert.equal(asStoreError(error), error);
  }
});

const uses: Readonly<Record<string, (host: Host) => Promise<unknown>>> = {
  'the audit of orders': (host) =>
    orderAuditPorts(host).auditStore('a-table', identity.sealer).append(lineOf()),
  'the stop that an alarm sets': (host) => tradingStopPorts(host).controlAdmin('a-table').find('stack'),
  'streams of order events': (host) => orderStreamPorts(host).streams('a-table', 'all').read('caller'),
};

for (const [name, use] of Object.entries(uses))
  test(`${name} tells of a throttled table in the metric of the secret, which the function cannot read`, async (t) => {
    const url = await answering(t, 400, 'com.amazon.coral.availability#ThrottlingException');
    Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: url, SECRET_OF_METRICS: 'the-secret' });
    t.onTestFinished(() => {
      delete process.env.AWS_ENDPOINT_URL_DYNAMODB;
      delete process.env.SECRET_OF_METRICS;
    });
    const logged: LogEntry[] = [];
    await assert.rejects(use(hostWith((entry) => logged.push(entry))));
    assert.deepEqual(each(logged.slice(0, 1), 'event', 'Secret', 'StoreThrottled'), [
      ['store_throttled', 'the-secret', 1],
    ]);
  });
