/** What the store of mass cancels makes of an engine that is away, fails, or has what it cannot read. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoControlAdmin } from '../../functions/aws/dynamo-control-admin.ts';
import { createDynamoMassCancelRequests } from '../../functions/aws/dynamo-mass-cancel-requests.ts';
import { createDynamoMassCancels } from '../../functions/aws/dynamo-mass-cancels.ts';
import { startAwsStub } from '../lookups/aws-stub.ts';
import { closedPort } from '../support/closed-port.ts';
import { each } from '../support/each.ts';
import { emulatorEnvironment } from '../world/dynamo.ts';

Object.assign(process.env, emulatorEnvironment);

const tableName = 'controls';
const patient = { tableName, timeoutMs: 600_000 };
const massCancel = { id: 'an-id', scope: 'user a', at: 1000, placedBefore: 66_000 };
const item = {
  pk: { S: 'mass-cancel' },
  sk: { S: 'user a' },
  id: { S: 'an-id' },
  at: { N: '1000' },
  placed_before: { N: '66000' },
};

test('an engine that is not there rejects', async () => {
  const client = createDynamoClient(`http://127.0.0.1:${await closedPort()}`);
  const store = createDynamoMassCancels({ client, tableName, timeoutMs: 100 });
  await assert.rejects(store.request(massCancel));
  await assert.rejects(store.open());
  await assert.rejects(store.finish(massCancel));
});

test('one that fails is asked once more, and no third time: the refusal of an order waits for it', async (t) => {
  const stub = await startAwsStub(t, (_, nth) => (nth === 1 || nth > 2 ? 500 : {}));
  const requests = createDynamoMassCancelRequests({ ...patient, client: createDynamoClient(stub.url) });
  await requests.request(massCancel);
  await assert.rejects(requests.request(massCancel));
  assert.equal(stub.sent.length, 4);
});

test('a stop of the same scope that is being written is no failure of a request, nor of its end', async (t) => {
  const conflict = { refused: 'TransactionConflictException' };
  const stub = await startAwsStub(t, (_, nth) => (nth % 2 === 1 ? conflict : {}));
  const store = createDynamoMassCancels({ ...patient, client: createDynamoClient(stub.url) });
  await store.request(massCancel);
  assert.equal(await store.finish(massCancel), true);
  assert.deepEqual(each(stub.sent, 'action'), ['PutItem', 'PutItem', 'DeleteItem', 'DeleteItem']);
});

test('a function asks by one write, in the partition of requests alone', async (t) => {
  const stub = await startAwsStub(t, () => ({}));
  const requests = createDynamoMassCancelRequests({ ...patient, client: createDynamoClient(stub.url) });
  await requests.request(massCancel);
  assert.deepEqual(
    stub.sent.map(({ action, body }) => [action, body.TableName, body.Item]),
    [['PutItem', tableName, item]],
  );
});

test('a stop writes the same item in its transaction, and none without the word', async (t) => {
  const stub = await startAwsStub(t, () => ({}));
  const admin = createDynamoControlAdmin({ ...patient, client: createDynamoClient(stub.url) });
  const next = { key: 'user a', version: 1, limits: {}, sealed: new Uint8Array([1]) };
  const history = { id: 'a', sealed: new Uint8Array([1]) };
  await admin.write({ expected: 0, next, history, massCancel });
  await admin.write({ expected: 0, next, history });
  const puts = stub.sent.map(({ body }) =>
    (body.TransactItems as readonly { readonly Put?: { readonly Item: object } }[]).map(
      ({ Put }) => Put?.Item,
    ),
  );
  assert.deepEqual(puts[0]?.[2], item);
  assert.deepEqual(each(puts, 'length'), [3, 2]);
});

test('the list is of what was written last, over all pages', async (t) => {
  const stub = await startAwsStub(t, (_, nth) =>
    nth === 1
      ? { Items: [item], LastEvaluatedKey: { pk: item.pk, sk: item.sk } }
      : { Items: [{ ...item, sk: { S: 'user b' } }] },
  );
  const store = createDynamoMassCancels({ ...patient, client: createDynamoClient(stub.url) });
  assert.deepEqual(await store.open(), [massCancel, { ...massCancel, scope: 'user b' }]);
  assert.deepEqual(
    stub.sent.map(({ action, body }) => [action, body.ConsistentRead, body.ExclusiveStartKey]),
    [
      ['Query', true, undefined],
      ['Query', true, { pk: item.pk, sk: item.sk }],
    ],
  );
});

for (const name of ['sk', 'id', 'at', 'placed_before'] as const)
  test(`an item without ${name} rejects: it must not count as no request`, async (t) => {
    const { [name]: _, ...rest } = item;
    const stub = await startAwsStub(t, () => ({ Items: [rest] }));
    const store = createDynamoMassCancels({ ...patient, client: createDynamoClient(stub.url) });
    await assert.rejects(store.open(), new RegExp(`without ${name}$`));
  });
