/** The audit of orders as resources: a table that takes lines from one function alone, its stream, its bus, its alarms. */

import assert from 'node:assert/strict';
import { Template } from 'aws-cdk-lib/assertions';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { test } from 'vitest';
import { orderAuditActions } from '../../infra/stack/order-audit.ts';
import { auditReadActions } from '../../infra/stack/order-settlement.ts';
import { CountersignStack } from '../../infra/stack/stack.ts';
import { getStockSnapshots, listAccounts, placeOrder } from '../../lib/catalogue/index.ts';
import { calledBy } from './called-by.ts';
import {
  base,
  type CfnTemplate,
  createApp,
  partOf,
  policiesOf,
  removals,
  settingsOf,
  statementsOf,
  synthesise,
  variablesOf,
} from './synthesise.ts';

const operations = [getStockSnapshots, listAccounts, placeOrder];
const groups = { accounts: 'iam', orders: 'iam' } as const;
const opened = synthesise({ operations, groups });

const { ours, only } = partOf('OrderAudit');

const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const [table] = only(opened, 'AWS::DynamoDB::Table');
const [role, roleResource] = only(opened, 'AWS::IAM::Role');
const [lambda] = only(opened, 'AWS::Lambda::Function');
const [bus] = only(opened, 'AWS::Events::EventBus');
const lost = ours(opened, 'AWS::SQS::Queue')[0]?.[0] ?? '';

test('there is none without a journal', () => {
  const { template } = synthesise({ operations, groups: { accounts: 'iam' } });
  assert.doesNotMatch(JSON.stringify(template), /OrderAudit|OrdersBus/);
});

test('the table’s own policy refuses every change of a line, and every writer but the function', () => {
  const [, { Properties }] = only(opened, 'AWS::DynamoDB::Table');
  const { PolicyDocument } = Properties.ResourcePolicy as { readonly PolicyDocument: object };
  assert.deepEqual((PolicyDocument as { readonly Statement: unknown }).Statement, [
    {
      Sid: 'LinesStayAsTheyAre',
      Effect: 'Deny',
      Principal: '*',
      Action: [
        'dynamodb:UpdateItem',
        'dynamodb:DeleteItem',
        'dynamodb:BatchWriteItem',
        'dynamodb:PartiQLInsert',
        'dynamodb:PartiQLUpdate',
        'dynamodb:PartiQLDelete',
        'dynamodb:UpdateTimeToLive',
      ],
      Resource: '*',
    },
    {
      Sid: 'LinesOfTheAuditorAlone',
      Effect: 'Deny',
      Principal: '*',
      Action: 'dynamodb:PutItem',
      Resource: '*',
      Condition: { ArnNotEquals: { 'aws:PrincipalArn': arn(role) } },
    },
  ]);
});

test('the table: on demand, restorable, without an end of lines, and protected unless it goes with the stack', () => {
  for (const [onRemoval, policy] of removals) {
    const [, found] = only(synthesise({ operations, groups, onRemoval }), 'AWS::DynamoDB::Table');
    assert.deepEqual([found.DeletionPolicy, found.UpdateReplacePolicy], [policy, policy]);
    const {
      BillingMode,
      DeletionProtectionEnabled,
      TimeToLiveSpecification,
      PointInTimeRecoverySpecification,
    } = found.Properties;
    assert.deepEqual(
      [BillingMode, DeletionProtectionEnabled, TimeToLiveSpecification, PointInTimeRecoverySpecification],
      ['PAY_PER_REQUEST', policy === 'Retain', undefined, { PointInTimeRecoveryEnabled: true }],
    );
  }
});

test('the function may add lines, the settlement read them, and no other identity do anything with the table', () => {
  const [policy, { Properties }] = only(opened, 'AWS::IAM::Policy');
  assert.deepEqual(Properties.PolicyDocument, {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: 'dynamodb:PutItem', Resource: arn(table) }],
  });
  assert.deepEqual(Properties.Roles, [{ Ref: role }]);
  for (const type of ['AWS::IAM::Role', 'AWS::IAM::Policy'])
    for (const [id, resource] of opened.all(type))
      if (id.startsWith('OrderSettlementRole')) {
        const { PolicyDocument } = policiesOf(resource).find(
          ({ PolicyName }) => PolicyName === 'ReadOrderAudit',
        )!;
        assert.deepEqual(PolicyDocument.Statement, [
          {
            Effect: 'Allow',
            Action: auditReadActions.map((action) => `dynamodb:${action}`)[0],
            Resource: arn(table),
          },
        ]);
        const others = policiesOf(resource).filter(({ PolicyName }) => PolicyName !== 'ReadOrderAudit');
        assert.ok(!JSON.stringify(others).includes(table), id);
      } else if (id !== policy) assert.ok(!JSON.stringify(resource).includes(table), id);
});

test('the function may read its key and the stream, note what was lost, and publish; not the journal', () => {
  const [journal] = opened.table('OrderJournal') ?? [''];
  const [appSecret] = opened.all('AWS::SecretsManager::Secret').find(([id]) => id.startsWith('Secret')) ?? [];
  const { Properties } = only(opened, 'AWS::Lambda::Function')[1];
  const identityKey = { Ref: settingsOf(Properties, 'IDENTITY')?.identityKeySecretId };
  assert.deepEqual(Object.keys(variablesOf(Properties)), ['ORDER_AUDIT', 'METRICS', 'IDENTITY']);
  assert.deepEqual(settingsOf(Properties, 'ORDER_AUDIT'), { tableName: table, busName: bus });
  assert.equal(settingsOf(Properties, 'METRICS')?.secretId, appSecret);
  const [logs] = only(opened, 'AWS::Logs::LogGroup');
  assert.deepEqual(
    statementsOf(roleResource).map((one) => {
      const { Action, Resource } = one as { readonly Action: unknown; readonly Resource: unknown };
      return [Action, Resource];
    }),
    [
      ['secretsmanager:GetSecretValue', identityKey],
      [
        ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map((one) => `dynamodb:${one}`),
        { 'Fn::GetAtt': [journal, 'StreamArn'] },
      ],
      ['sqs:SendMessage', arn(lost)],
      ['events:PutEvents', arn(bus)],
      [['logs:CreateLogStream', 'logs:PutLogEvents'], arn(logs)],
    ],
  );
});

test('the actions are those of the code, without its reading', () => {
  const calls = new Set(calledBy('dynamo-order-audit'));
  assert.ok(calls.delete('Query'));
  assert.deepEqual([...calls], orderAuditActions);
});

test('it reads the stream from its beginning, and each record again until it is audited', () => {
  const [journal] = opened.table('OrderJournal') ?? [''];
  const [, { Properties }] = only(opened, 'AWS::Lambda::EventSourceMapping');
  assert.deepEqual(Properties, {
    EventSourceArn: { 'Fn::GetAtt': [journal, 'StreamArn'] },
    FunctionName: { Ref: lambda },
    StartingPosition: 'TRIM_HORIZON',
    BatchSize: 100,
    MaximumBatchingWindowInSeconds: 1,
    // What was an entry or is one: counters are neither.
    FilterCriteria: {
      Filters: ['NewImage', 'OldImage'].map((image) => ({
        Pattern: JSON.stringify({ dynamodb: { [image]: { attempt: { S: [{ exists: true }] } } } }),
      })),
    },
    BisectBatchOnFunctionError: true,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    DestinationConfig: { OnFailure: { Destination: arn(lost) } },
  });
});

test('the bus has its own name, and takes events from the function alone', () => {
  const [, { Properties }] = only(opened, 'AWS::Events::EventBus');
  assert.equal(Properties.Name, 'Countersign-test-orders');
  const [, policy] = only(opened, 'AWS::Events::EventBusPolicy');
  assert.deepEqual(policy.Properties.Statement, {
    Sid: 'cdk-EventsOfTheAuditorAlone',
    Effect: 'Deny',
    Principal: '*',
    Action: 'events:PutEvents',
    Resource: arn(bus),
    Condition: { ArnNotEquals: { 'aws:PrincipalArn': arn(role) } },
  });
});

test('a rule takes what its filter names, and all events without one', () => {
  const app = createApp();
  const stack = new CountersignStack(app, 'Rules', { ...base, operations, groups });
  const target = new SqsQueue(new Queue(stack, 'Settled'));
  const { countersign } = stack;
  countersign.onOrderSettled('All', target);
  countersign.onOrderSettled('Some', target, {
    account: ['hash'],
    state: ['accepted'],
    clientOrderId: ['a'],
  });
  const { Resources } = Template.fromStack(stack).toJSON() as CfnTemplate;
  assert.deepEqual(
    Object.values(Resources).flatMap(({ Type, Properties }) =>
      Type === 'AWS::Events::Rule' && Properties.EventPattern ? [Properties.EventPattern] : [],
    ),
    [
      { 'detail-type': ['OrderSettled'] },
      {
        'detail-type': ['OrderSettled'],
        detail: { account: ['hash'], state: ['accepted'], client_order_id: ['a'] },
      },
    ],
  );
  const closed = new CountersignStack(app, 'Closed', base);
  assert.throws(() => closed.countersign.onOrderSettled('All', target), /groups\.orders must be open/);
});
