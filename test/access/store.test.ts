/**
 * The directory's store in memory keeps the contract, as the one over DynamoDB does (`store-dynamo.test.ts`); and what
 * the one over DynamoDB makes of an engine that is away, throttles, or answers what is no record.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  createDynamoAccessReader,
  createDynamoAccessStore,
} from '../../functions/aws/dynamo-access-store.ts';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createMemoryAccessStore } from '../../lib/access/store.ts';
import { StoreThrottled } from '../../lib/limiter/store-throttled.ts';
import { startAwsStub } from '../lookups/aws-stub.ts';
import { closedPort } from '../support/closed-port.ts';
import { emulatorEnvironment } from '../world/dynamo.ts';
import { accessStoreContract } from './store.contract.ts';

Object.assign(process.env, emulatorEnvironment);

accessStoreContract('in memory', createMemoryAccessStore);

test('an engine that is not there rejects', async () => {
  const client = createDynamoClient(`http://127.0.0.1:${await closedPort()}`);
  const store = createDynamoAccessStore({ client, tableName: 'access', timeoutMs: 100 });
  await assert.rejects(store.read(['a']));
  await assert.rejects(store.list());
  await assert.rejects(store.audit(1));
  const write = {
    key: 'a',
    expected: undefined,
    next: undefined,
    audit: { id: 'a', sealed: new Uint8Array() },
  };
  await assert.rejects(store.write(write));
});

const item = (key: string) => ({
  pk: { S: key },
  sk: { S: 'record' },
  revision: { S: 'r' },
  sealed: { B: 'AA==' },
});

test('keys that DynamoDB leaves unread are read again; in the end it rejects, and never counts them as none', async (t) => {
  const unread = (key: string) => ({ access: { Keys: [{ pk: { S: key }, sk: { S: 'record' } }] } });
  const stub = await startAwsStub(t, (_, nth) =>
    nth === 1
      ? { Responses: { access: [item('a')] }, UnprocessedKeys: unread('b') }
      : nth === 2
        ? { Responses: { access: [item('b')] }, UnprocessedKeys: {} }
        : { Responses: {}, UnprocessedKeys: unread('c') },
  );
  const reader = createDynamoAccessReader({
    client: createDynamoClient(stub.url),
    tableName: 'access',
    timeoutMs: 10_000,
  });
  assert.deepEqual([...(await reader.read(['a', 'b'])).keys()], ['a', 'b']);
  await assert.rejects(reader.read(['c']), StoreThrottled);
  assert.equal(stub.sent.length, 5);
});

test('an item that is no record rejects', async (t) => {
  const { revision: _, ...broken } = item('a');
  const stub = await startAwsStub(t, () => ({ Responses: { access: [broken] } }));
  const client = createDynamoClient(stub.url);
  const reader = createDynamoAccessReader({ client, tableName: 'access', timeoutMs: 10_000 });
  await assert.rejects(reader.read(['a']), /without revision$/);
});

test('a write whose answer is lost is repeated as the same one', async (t) => {
  const stub = await startAwsStub(t, (_, nth) => (nth === 1 ? 500 : {}));
  const client = createDynamoClient(stub.url);
  const store = createDynamoAccessStore({ client, tableName: 'access' });
  const audit = { id: 'a', sealed: new Uint8Array([1]) };
  assert.equal(await store.write({ key: 'k', expected: undefined, next: undefined, audit }), true);
  const tokens = stub.sent.map(({ body }) => body.ClientRequestToken);
  assert.equal(tokens.length, 2);
  assert.equal(tokens[0], tokens[1]);
});
