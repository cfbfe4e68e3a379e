/** DynamoDB's refusal of too many requests is told apart from its failures. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { BatchGetItemInput } from '@aws-sdk/client-dynamodb';
import { type TestContext, test } from 'vitest';
import {
  createDynamoAccessReader,
  createDynamoAccessStore,
} from '../../functions/aws/dynamo-access-store.ts';
import { createDynamoCheckpoints } from '../../functions/aws/dynamo-checkpoints.ts';
import {
  asStoreError,
  createDynamoClient,
  type DynamoSender,
  isThrottling,
} from '../../functions/aws/dynamo-client.ts';
import { createDynamoControlAdmin } from '../../functions/aws/dynamo-control-admin.ts';
import { DynamoError } from '../../functions/aws/dynamo-http.ts';
import { createDynamoLookupStore } from '../../functions/aws/dynamo-lookup-store.ts';
import { createDynamoOrderJournal } from '../../functions/aws/dynamo-order-journal.ts';
import { createDynamoResponseStore } from '../../functions/aws/dynamo-response-store.ts';
import { createDynamoSnapshotReads } from '../../functions/aws/dynamo-snapshot-reads.ts';
import { createDynamoTradeEventStore } from '../../functions/aws/dynamo-trade-event-store.ts';
import { createDynamoControls } from '../../functions/aws/dynamo-trading-controls.ts';
import { orderAuditPorts, orderStreamPorts, tradingStopPorts } from '../../functions/aws/order-ports.ts';
import { withThrottlesTold } from '../../functions/aws/throttles-told.ts';
import type { Host } from '../../functions/compose/ports.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { StoreThrottled } from '../../lib/limiter/store-throttled.ts';
import type { JournalUnavailable } from '../../lib/orders/index.ts';
import { lineOf } from '../orders/audit.contract.ts';
import { hostWith } from '../support/deployed.ts';
import { each } from '../support/each.ts';
import { identity } from '../support/instances.ts';
import { urlFor } from '../support/listening.ts';
import { part } from '../support/parts.ts';
import { emulatorEnvironment } from '../world/dynamo.ts';

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

/** A transaction that DynamoDB cancelled, for these reasons. */
const cancelled = (...codes: readonly string[]) =>
  new DynamoError(400, {
    __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

test('a transaction with a throttled item is throttling, one whose condition failed is none', () => {
  for (const code of ['ThrottlingError', 'ProvisionedThroughputExceeded'])
    assert.ok(asStoreError(cancelled('None', code)) instanceof StoreThrottled);
  for (const codes of [['TransactionConflict'], ['ThrottlingError', 'ConditionalCheckFailed'], []])
    assert.equal(isThrottling(cancelled(...codes)), false);
});

const tableName = 'a-table';
const at = 1_800_000_000_000;
const keys = { expected: undefined, key: 'a-key', sealed: new Uint8Array(1) };
const audit = { id: 'a-line', sealed: new Uint8Array(1) };
const claim = { id: 'a', hash: 'h', owner: 'o', now: at, leaseUntil: at + 1, expiresAt: at + 2 };
const order = { order: 'an-order', expected: undefined, state: '{}', isOpen: true, expiresAt: at + 2 };

/** One request of each store that does not only read. */
const writes: Readonly<Record<string, (client: DynamoSender) => Promise<unknown>>> = {
  users: (client) =>
    createDynamoAccessStore({ client, tableName }).write({
      ...keys,
      next: { revision: 'r', sealed: keys.sealed },
      audit,
    }),
  controls: (client) =>
    createDynamoControlAdmin({ client, tableName }).write({
      expected: 0,
      next: { ...keys, version: 1, limits: {} },
      keepsLimits: false,
      history: audit,
    }),
  checkpoints: (client) =>
    createDynamoCheckpoints({ client, tables: { journal: tableName } }).write(
      JSON.stringify({ number: 1, tables: {} }),
      ['journal'],
      new Map(),
    ),
  'trade events': (client) =>
    createDynamoTradeEventStore({ client, tableName, sealer: identity.sealer }).add({
      lease: 'a-lease',
      event: { id: 'e', detailType: 'OrderChanged', detail: '{}' },
      order,
      now: at,
      expiresAt: at + 2,
    }),
  lookups: (client) => createDynamoLookupStore({ client, tableName }).claim(claim),
  answers: (client) =>
    createDynamoResponseStore({ client, tableName, partition: 'p' }).lease('an-answer', at, at + 1),
};

/** A read of each store that asks for several items at once. */
const reads: Readonly<Record<string, (client: DynamoSender) => Promise<unknown>>> = {
  users: (client) => createDynamoAccessReader({ client, tableName }).read(['a-key']),
  controls: (client) => createDynamoControls({ client, tableName }).read(['stack']),
  checkpoints: (client) => createDynamoCheckpoints({ client, tables: { journal: tableName } }).read(),
  'trade events': (client) =>
    createDynamoTradeEventStore({ client, tableName, sealer: identity.sealer }).known('a-lease', ['a']),
  orders: (client) =>
    createDynamoOrderJournal({ client, tableName, sealer: identity.sealer })
      .read(['a-key'])
      .catch((error: JournalUnavailable) => Promise.reject(error.cause)),
};

const readsNothing: DynamoSender = {
  send: async (_, input) => ({ UnprocessedKeys: (input as BatchGetItemInput).RequestItems }),
};

for (const [name, read] of Object.entries(reads))
  test(`the store of ${name} tells keys that DynamoDB leaves unread as StoreThrottled, and the log as a throttled table`, async () => {
    const logged: LogEntry[] = [];
    const host = hostWith((entry) => logged.push(entry));
    await assert.rejects(read(withThrottlesTold(readsNothing, host)), StoreThrottled);
    assert.deepEqual(each(logged, 'event', 'table', 'StoreThrottled'), [['store_throttled', tableName, 1]]);
  });

test('a read of snapshots without those that DynamoDB leaves unread goes on, and the log tells it, too', async () => {
  const logged: LogEntry[] = [];
  const client = withThrottlesTold(
    readsNothing,
    hostWith((entry) => logged.push(entry)),
  );
  const snapshots = createDynamoSnapshotReads({ client, tableName, partition: 'p' });
  assert.deepEqual(await snapshots.records([1], 'AAPL'), []);
  assert.deepEqual(each(logged, 'event', 'table'), [['store_throttled', tableName]]);
});

for (const [name, write] of Object.entries(writes))
  for (const error of [
    cancelled('ThrottlingError', 'None'),
    new DynamoError(400, { __type: 'x#ThrottlingException' }),
  ])
    test(`the store of ${name} tells ${error.name} for its throttling as StoreThrottled, and the log as a throttled table`, async () => {
      const logged: LogEntry[] = [];
      const host = hostWith((entry) => logged.push(entry));
      await assert.rejects(
        write(withThrottlesTold({ send: () => Promise.reject(error) }, host)),
        StoreThrottled,
      );
      assert.deepEqual(each(logged.slice(0, 1), 'event', 'table'), [['store_throttled', tableName]]);
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
    Object.assign(process.env, {
      AWS_ENDPOINT_URL_DYNAMODB: url,
      ...part('METRICS', { secretId: 'the-secret' }),
    });
    t.onTestFinished(() => {
      delete process.env.AWS_ENDPOINT_URL_DYNAMODB;
      delete process.env.METRICS;
    });
    const logged: LogEntry[] = [];
    await assert.rejects(use(hostWith((entry) => logged.push(entry))));
    assert.deepEqual(each(logged.slice(0, 1), 'event', 'Secret', 'StoreThrottled'), [
      ['store_throttled', 'the-secret', 1],
    ]);
  });
