/**
 * The store of controls in memory keeps the contract, as the one over DynamoDB does (`control-store-dynamo.test.ts`); and
 * what the reader makes of an engine that is away, throttles, or has what it cannot read.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoControlAdmin, stopAttributes } from '../../functions/aws/dynamo-control-admin.ts';
import { createDynamoControls } from '../../functions/aws/dynamo-trading-controls.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { createControlAdmin } from '../../lib/guard-rails/admin.ts';
import type { ControlChange } from '../../lib/guard-rails/control-changes.ts';
import { createMemoryControls } from '../../lib/guard-rails/index.ts';
import { StoreThrottled } from '../../lib/limiter/store-throttled.ts';
import { startAwsStub } from '../lookups/aws-stub.ts';
import { closedPort } from '../support/closed-port.ts';
import { emulatorEnvironment } from '../world/dynamo.ts';
import { controlStoreContract } from './controls.contract.ts';

Object.assign(process.env, emulatorEnvironment);

controlStoreContract('in memory', createMemoryControls);

const tableName = 'controls';
const next = { key: 'stack', version: 1, limits: {}, sealed: new Uint8Array([1]) };
const history = { id: 'a', sealed: new Uint8Array([1]) };

test('an engine that is not there rejects', async () => {
  const client = createDynamoClient(`http://127.0.0.1:${await closedPort()}`);
  const store = createDynamoControlAdmin({ client, tableName, timeoutMs: 100 });
  await assert.rejects(store.read(['stack']));
  await assert.rejects(store.find('stack'));
  await assert.rejects(store.list());
  await assert.rejects(store.history(1));
  await assert.rejects(store.write({ expected: 0, next, history }));
});

const item = {
  pk: { S: 'stack' },
  sk: { S: 'control' },
  version: { N: '1' },
  limits: { S: '{"max_orders_per_minute":1}' },
  sealed: { B: 'AA==' },
};

test('keys that DynamoDB leaves unread never count as none', async (t) => {
  const UnprocessedKeys = { controls: { Keys: [{ pk: item.pk, sk: item.sk }] } };
  const stub = await startAwsStub(t, (_, nth) =>
    nth === 2 ? { Responses: { controls: [item] } } : { Responses: {}, UnprocessedKeys },
  );
  const client = createDynamoClient(stub.url);
  const controls = createDynamoControls({ client, tableName, timeoutMs: 10_000 });
  const read = await controls.read(['stack']);
  assert.deepEqual(read.get('stack'), { version: 1, limits: { max_orders_per_minute: 1 } });
  await assert.rejects(controls.read(['stack']), StoreThrottled);
});

test('the reader asks for what was written last, each key once', async (t) => {
  const stub = await startAwsStub(t, () => ({ Responses: { controls: [] } }));
  const controls = createDynamoControls({ client: createDynamoClient(stub.url), tableName });
  await controls.read(['stack', 'account a', 'stack']);
  const keys = ['stack', 'account a'].map((key) => ({ pk: { S: key }, sk: { S: 'control' } }));
  assert.deepEqual(stub.sent, [
    {
      action: 'BatchGetItem',
      body: { RequestItems: { controls: { Keys: keys, ConsistentRead: true } } },
    },
  ]);
});

for (const [what, change] of [
  ['no version', { version: undefined }],
  ['no limits', { limits: undefined }],
  ['limits that are no JSON', { limits: { S: '{' } }],
  ['a limit that only a later version knows', { limits: { S: '{"max_moon":"1"}' } }],
  ['a limit that is none', { limits: { S: '{"max_order_notional":"-1"}' } }],
  ['nothing sealed', { sealed: undefined }],
] as const)
  test(`an item with ${what} rejects: it must not count as no limit`, async (t) => {
    const stub = await startAwsStub(t, () => ({ Responses: { controls: [{ ...item, ...change }] } }));
    const client = createDynamoClient(stub.url);
    const controls = createDynamoControls({ client, tableName, timeoutMs: 10_000 });
    await assert.rejects(controls.read(['stack']));
  });

interface NamingUpdate {
  readonly Key: object;
  readonly UpdateExpression: string;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames: Readonly<Record<string, string>>;
}

test('a stop names no attribute beyond those of its right; what sets limits does', async (t) => {
  const stub = await startAwsStub(t, () => ({}));
  const store = createDynamoControlAdmin({ client: createDynamoClient(stub.url), tableName: 'controls' });
  const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');
  const admin = createControlAdmin({ store, identity, by: 'alarm' });
  const namedBy = async (change: ControlChange) => {
    await admin.apply(change);
    const [write] = (stub.sent.at(-1)?.body.TransactItems ?? []) as readonly {
      readonly Update: NamingUpdate;
    }[];
    assert.ok(write);
    const { Key, UpdateExpression, ConditionExpression, ExpressionAttributeNames } = write.Update;
    const bare = `${UpdateExpression} ${ConditionExpression}`.match(/(?<![#:\w])[a-z]\w+/g) ?? [];
    const names = [...Object.keys(Key), ...Object.values(ExpressionAttributeNames), ...bare];
    return [...new Set(names)].filter((name) => name !== 'attribute_not_exists').sort();
  };
  const subject = { kind: 'gateway' } as const;
  assert.deepEqual(await namedBy({ action: 'stop', subject, reason: 'drawdown' }), stopAttributes.toSorted());
  const limits = await namedBy({ action: 'limits', subject, changes: { max_orders_per_minute: 1 } });
  assert.ok(limits.includes('limits'));
});

test('a write whose answer is lost is repeated as the same one', async (t) => {
  const stub = await startAwsStub(t, (_, nth) => (nth === 1 ? 500 : {}));
  const store = createDynamoControlAdmin({ client: createDynamoClient(stub.url), tableName });
  assert.equal(await store.write({ expected: 0, next, history }), true);
  const tokens = stub.sent.map(({ body }) => body.ClientRequestToken);
  assert.equal(tokens.length, 2);
  assert.equal(tokens[0], tokens[1]);
});
