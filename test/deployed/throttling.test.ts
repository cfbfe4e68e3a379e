/** DynamoDB's refusal of too many requests is told apart from its failures. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type TestContext, test } from 'vitest';
import { asStoreError, createDynamoClient, isThrottling } from '../../functions/aws/dynamo-client.ts';
import { StoreThrottled } from '../../lib/limiter/store-throttled.ts';
import { emulatorEnvironment } from '../support/dynamo.ts';
import { urlFor } from '../support/listening.ts';

/** What the client rejects with when DynamoDB answers so. */
async function rejection(t: TestContext, status: number, type: string): Promise<unknown> {
  Object.assign(process.env, emulatorEnvironment);
  const server = createServer((_, response) =>
    response
      .writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
      .end(JSON.stringify({ __type: type, message: 'made up' })),
  );
  const client = createDynamoClient(await urlFor(t, server));
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
