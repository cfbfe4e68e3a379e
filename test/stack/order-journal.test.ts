/** The journal of orders as resources: there where an open operation changes something, and known to its function alone. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { journalActions } from '../../infra/stack/order-journal.ts';
import {
  createWatchlist,
  getOrderOutcome,
  getStockSnapshots,
  listAccounts,
  placeOrder,
  previewOrder,
} from '../../lib/catalogue/index.ts';
import { calledBy } from './called-by.ts';
import {
  idOf,
  policiesOf,
  removals,
  type Synthesised,
  settingsOf,
  synthesise,
  variablesOf,
} from './synthesise.ts';

const operations = [getStockSnapshots, listAccounts, placeOrder];
const opened = synthesise({ operations, groups: { accounts: 'iam', orders: 'iam' }, limiter: {} });

const actionsOf = (statements: readonly unknown[]) =>
  (statements as readonly { readonly Action: string }[]).map(({ Action }) => Action);
const roleOf = ({ functionOf, template }: Synthesised, group: 'accounts' | 'orders' | 'market-data') =>
  template.Resources[idOf(functionOf(group)[1].Properties.Role)];

test('there is none while no open operation changes anything', () => {
  for (const props of [
    { operations },
    { operations, groups: { accounts: 'iam' } },
    { operations: [getStockSnapshots, previewOrder], groups: { orders: 'iam' } },
  ] as const) {
    const { table, template } = synthesise(props);
    assert.equal(table('OrderJournal'), undefined);
    assert.doesNotMatch(JSON.stringify(template), /JOURNAL|KeepJournal/);
  }
});

test('watchlists have one, too, for requests with an Idempotency-Key', () => {
  const synthesised = synthesise({ operations: [createWatchlist], groups: { watchlists: 'iam' } });
  const journal = settingsOf(synthesised.functionOf('watchlists')[1].Properties, 'JOURNAL');
  assert.equal(journal?.tableName, synthesised.table('OrderJournal')?.[0]);
});

test('the table: on demand, restorable, with a stream, and protected unless it goes with the stack', () => {
  for (const [onRemoval, policy] of removals) {
    const table = synthesise({ operations, groups: { orders: 'iam' }, onRemoval }).table('OrderJournal')?.[1];
    assert.deepEqual([table?.DeletionPolicy, table?.UpdateReplacePolicy], [policy, policy]);
    assert.deepEqual(table?.Properties, {
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'unsettled', AttributeType: 'S' },
        { AttributeName: 'exposed', AttributeType: 'S' },
      ],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'Unsettled',
          KeySchema: [
            { AttributeName: 'unsettled', KeyType: 'HASH' },
            { AttributeName: 'pk', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
        {
          IndexName: 'Exposed',
          KeySchema: [
            { AttributeName: 'exposed', KeyType: 'HASH' },
            { AttributeName: 'pk', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: policy === 'Retain',
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
    });
  }
});

test('the function that sends orders may read and write entries, not list them, and no other function may anything', () => {
  const policies = policiesOf(roleOf(opened, 'orders')).filter(
    ({ PolicyName }) => PolicyName === 'KeepJournal',
  );
  assert.deepEqual(
    policies.map(({ PolicyDocument }) => PolicyDocument.Statement),
    [
      [
        {
          Effect: 'Allow',
          Action: ['dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
          Resource: { 'Fn::GetAtt': [opened.table('OrderJournal')?.[0], 'Arn'] },
        },
      ],
    ],
  );
  for (const group of ['accounts', 'market-data'] as const) {
    assert.doesNotMatch(JSON.stringify(roleOf(opened, group)), /OrderJournal/);
    assert.equal(variablesOf(opened.functionOf(group)[1].Properties).JOURNAL, undefined);
  }
});

test('a function that tells what became of orders may read entries, and write none', () => {
  const { functionOf, template } = synthesise({
    operations: [placeOrder, getOrderOutcome],
    groups: { 'market-data': 'closed', orders: 'iam' },
  });
  const role = template.Resources[idOf(functionOf('order-reads')[1].Properties.Role)];
  const policies = policiesOf(role).filter((policy) => /OrderJournal/.test(JSON.stringify(policy)));
  assert.deepEqual(
    policies.map(({ PolicyName, PolicyDocument }) => [PolicyName, actionsOf(PolicyDocument.Statement)]),
    [['ReadJournal', ['dynamodb:BatchGetItem']]],
  );
});

test('the actions are those of the code, without its list', () => {
  const calls = calledBy('dynamo-order-journal');
  // A transaction of puts and updates needs the permissions to put and to update.
  const own = calls.filter((name) => name !== 'Query' && name !== 'TransactWriteItems');
  assert.deepEqual(own, journalActions);
});

test('a function that places alone knows the limiter and the path of the look-ups that it makes', () => {
  const { upstream } = { upstream: { baseUrl: 'https://upstream.example', limits: 'published' as const } };
  const { functionOf } = synthesise({
    operations: [placeOrder],
    groups: { 'market-data': 'closed', orders: 'iam' },
    upstream,
  });
  assert.ok(variablesOf(functionOf('orders')[1].Properties).LIMITER);
});

test('the output names the table', () => {
  assert.deepEqual(opened.template.Outputs.OrderJournalTable?.Value, {
    Ref: opened.table('OrderJournal')?.[0],
  });
});
