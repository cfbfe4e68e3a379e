/** What is deployed for lookups by event, where the deployer opens them. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { responseActions, snapshotActions } from '../../infra/stack/cache.ts';
import { type Resource, type Synthesised, synthesise } from './synthesise.ts';

const closed = synthesise();
const opened = synthesise({ events: {} });

const inLookups = ({ all }: Synthesised, type: string) =>
  all(type).filter(([id]) => id.startsWith('Lookups'));
const only = (from: Synthesised, type: string): Resource => {
  const found = inLookups(from, type);
  assert.equal(found.length, 1, type);
  return found[0]![1];
};
const idOf = (value: unknown) => (value as { 'Fn::GetAtt': readonly [string, string] })['Fn::GetAtt'][0];
const queueIds = (from: Synthesised) => {
  const [id] = inLookups(from, 'AWS::SQS::Queue').find(([, { Properties }]) => Properties.RedrivePolicy)!;
  const [dead] = inLookups(from, 'AWS::SQS::Queue').find(([, { Properties }]) => !Properties.RedrivePolicy)!;
  return { id, dead };
};

test('nothing of it is there until it is opened', () => {
  assert.doesNotMatch(JSON.stringify(closed.template), /Lookup|AWS::SQS|AWS::Events/);
  assert.equal(
    opened.all('AWS::Lambda::Function').length,
    closed.all('AWS::Lambda::Function').length + 1,
    'one function more',
  );
});

test('a message stays away for six times the function’s limit, and comes back only so often', () => {
  for (const timeoutSeconds of [25, 28]) {
    const stack = synthesise({ events: {}, functions: { timeoutSeconds } });
    const { id, dead } = queueIds(stack);
    const { Properties } = stack.template.Resources[id]!;
    const lambda = only(stack, 'AWS::Lambda::Function');
    assert.equal(lambda.Properties.Timeout, timeoutSeconds);
    assert.equal(Properties.VisibilityTimeout, 6 * timeoutSeconds);
    assert.deepEqual(Properties.RedrivePolicy, {
      deadLetterTargetArn: { 'Fn::GetAtt': [dead, 'Arn'] },
      maxReceiveCount: 6,
    });
  }
});

test('both queues are encrypted, keep messages for 14 days, and refuse what comes without TLS', () => {
  const { id, dead } = queueIds(opened);
  for (const queue of [id, dead]) {
    const { Properties } = opened.template.Resources[queue]!;
    assert.equal(Properties.SqsManagedSseEnabled, true);
    assert.equal(Properties.MessageRetentionPeriod, 14 * 86_400);
    const policies = inLookups(opened, 'AWS::SQS::QueuePolicy').filter(
      ([, policy]) => (policy.Properties.Queues as { Ref: string }[])[0]?.Ref === queue,
    );
    assert.equal(policies.length, 1);
    const { Statement } = policies[0]![1].Properties.PolicyDocument as { Statement: Statement[] };
    const [deny, allow, ...more] = Statement;
    assert.deepEqual(more, []);
    assert.deepEqual(
      [deny?.Effect, deny?.Action, deny?.Condition],
      ['Deny', 'sqs:*', { Bool: { 'aws:SecureTransport': 'false' } }],
    );
    const [rule] = inLookups(opened, 'AWS::Events::Rule')[0]!;
    assert.deepEqual(
      [allow?.Principal, allow?.Condition],
      [
        { Service: 'events.amazonaws.com' },
        { ArnEquals: { 'aws:SourceArn': { 'Fn::GetAtt': [rule, 'Arn'] } } },
      ],
    );
  }
});

test('requests of the own bus go into the queue, or among the dead letters; replies do not', () => {
  const { id, dead } = queueIds(opened);
  const { Properties } = only(opened, 'AWS::Events::Rule');
  assert.deepEqual(Properties.EventPattern, { 'detail-type': ['QuoteLookupRequested', 'ReadRequested'] });
  const [target] = Properties.Targets as { Arn: unknown; DeadLetterConfig: { Arn: unknown } }[];
  assert.equal(idOf(target?.Arn), id);
  assert.equal(idOf(target?.DeadLetterConfig.Arn), dead);
});

test('batches fail in part, a bounded number of functions works on them, and waiting is no loop', () => {
  const { Properties } = only(opened, 'AWS::Lambda::EventSourceMapping');
  assert.deepEqual(Properties.FunctionResponseTypes, ['ReportBatchItemFailures']);
  assert.deepEqual(Properties.ScalingConfig, { MaximumConcurrency: 2 });
  assert.equal(Properties.BatchSize, 100);
  const more = only(synthesise({ events: { concurrency: 5 } }), 'AWS::Lambda::EventSourceMapping');
  assert.deepEqual(more.Properties.ScalingConfig, { MaximumConcurrency: 5 });
  const configured = only(synthesise({ events: { concurrency: 5 } }), 'AWS::Lambda::Function').Properties
    .Environment;
  assert.equal((configured as { Variables: Record<string, unknown> }).Variables.LOOKUP_INSTANCES, '5');
  assert.equal(only(opened, 'AWS::Lambda::Function').Properties.RecursiveLoop, 'Allow');
});

test('the role can do what the function does, to what is its own, and no more', () => {
  const { id, dead } = queueIds(opened);
  const [table] = inLookups(opened, 'AWS::DynamoDB::Table')[0]!;
  const [bus] = inLookups(opened, 'AWS::Events::EventBus')[0]!;
  const [logs] = inLookups(opened, 'AWS::Logs::LogGroup')[0]!;
  const [limiter] = opened.table('Budget')!;
  const [cache] = opened.table('Cache')!;
  const [secret] = opened.one('AWS::SecretsManager::Secret');
  const policies = only(opened, 'AWS::IAM::Role').Properties.Policies as {
    PolicyName: string;
    PolicyDocument: { Statement: Statement[] };
  }[];
  const cacheActions = [...new Set([...snapshotActions, ...responseActions])]
    .sort()
    .map((action) => `dynamodb:${action}`);
  const arn = (name: string) => ({ 'Fn::GetAtt': [name, 'Arn'] });
  assert.deepEqual(
    policies.flatMap(({ PolicyDocument }) =>
      PolicyDocument.Statement.map(({ Action, Resource }) => [[Action].flat(), Resource]),
    ),
    [
      [['secretsmanager:GetSecretValue'], { Ref: secret }],
      [['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], arn(limiter)],
      [cacheActions, arn(cache)],
      [['dynamodb:PutItem', 'dynamodb:UpdateItem'], arn(table)],
      [['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:SendMessage'], arn(id)],
      [['sqs:SendMessage'], arn(dead)],
      [['events:PutEvents'], arn(bus)],
      [['logs:CreateLogStream', 'logs:PutLogEvents'], arn(logs)],
    ],
  );
});

test('records expire by themselves, and stay with the stack’s logs where those are retained', () => {
  for (const [onRemoval, policy] of [
    ['destroy', 'Delete'],
    ['retain', 'Retain'],
  ] as const) {
    const table = only(synthesise({ events: {}, onRemoval }), 'AWS::DynamoDB::Table');
    assert.equal(table.DeletionPolicy, policy);
    assert.equal(table.Properties.BillingMode, 'PAY_PER_REQUEST');
    assert.deepEqual(table.Properties.TimeToLiveSpecification, {
      AttributeName: 'expires_at',
      Enabled: true,
    });
  }
});

test('a dead letter raises an alarm, for the topic that the deployer names; an archive exists on demand', () => {
  const { dead } = queueIds(opened);
  const { Properties } = only(opened, 'AWS::CloudWatch::Alarm');
  assert.deepEqual(Properties.Dimensions, [
    { Name: 'QueueName', Value: { 'Fn::GetAtt': [dead, 'QueueName'] } },
  ]);
  assert.deepEqual([Properties.Threshold, Properties.TreatMissingData], [1, 'notBreaching']);
  assert.equal(Properties.AlarmActions, undefined);
  assert.deepEqual(inLookups(opened, 'AWS::Events::Archive'), []);
  const alarmTopic = 'arn:aws:sns:eu-central-1:123456789012:alarms';
  const configured = synthesise({ events: { alarmTopic, archiveDays: 14 } });
  assert.deepEqual(only(configured, 'AWS::CloudWatch::Alarm').Properties.AlarmActions, [alarmTopic]);
  const archive = only(configured, 'AWS::Events::Archive').Properties;
  assert.equal(archive.RetentionDays, 14);
  assert.deepEqual(archive.EventPattern, only(configured, 'AWS::Events::Rule').Properties.EventPattern);
});

test('what may be read follows the groups that are open', () => {
  const variables = (from: Synthesised) =>
    (only(from, 'AWS::Lambda::Function').Properties.Environment as { Variables: Record<string, unknown> })
      .Variables;
  assert.equal(variables(opened).LOOKUP_GROUPS, 'instruments,market-data,screeners,fundamentals');
  const paths = { getStockBars: '/elsewhere', placeOrder: '/orders' };
  const some = synthesise({
    events: {},
    groups: { screeners: 'closed', orders: 'iam' },
    upstream: { baseUrl: 'https://upstream.example', limits: 'interface', paths },
  });
  assert.equal(variables(some).LOOKUP_GROUPS, 'orders,instruments,market-data,fundamentals');
  assert.equal(variables(some).UPSTREAM_PATHS, JSON.stringify({ getStockBars: '/elsewhere' }));
});

test('its outputs name where to send, and what to watch', () => {
  for (const name of [
    'Bus',
    'BusArn',
    'QueueUrl',
    'QueueArn',
    'DeadLettersUrl',
    'DeadLettersArn',
    'Function',
  ])
    assert.ok(opened.template.Outputs[`Lookup${name}`], name);
  assert.ok(synthesise({ events: { archiveDays: 1 } }).template.Outputs.LookupArchiveArn);
});

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Principal?: unknown;
  readonly Condition?: unknown;
}
