/** Trade events: nothing of them until they are opened, then a listener that can do exactly what it needs. */

import assert from 'node:assert/strict';
import { Template } from 'aws-cdk-lib/assertions';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { test } from 'vitest';
import type { CountersignConfig } from '../../infra/stack/config.ts';
import { CountersignStack } from '../../infra/stack/stack.ts';
import { testRefusals } from './refusals.ts';
import {
  base,
  type CfnTemplate,
  createApp,
  partOf,
  removals,
  type Synthesised,
  settingsOf,
  statementsOf,
  synthesise,
  variablesOf,
} from './synthesise.ts';

const opened = synthesise({ tradeEvents: {} });

const { only } = partOf('TradeEvents');

const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const identityKey = ({ all }: Synthesised) =>
  all('AWS::SecretsManager::Secret').filter(([id]) => id.startsWith('UsersIdentityKey'));

test('without them a stack has nothing of them, and with them all else stays', () => {
  const { template } = synthesise();
  assert.doesNotMatch(JSON.stringify(template), /TradeEvents|IdentityKey/);
  for (const id of Object.keys(template.Resources).filter((one) => !one.startsWith('Dashboard')))
    assert.deepEqual(opened.template.Resources[id], template.Resources[id], id);
});

test('the identity key is there once, and stays the same when a group that asks who calls is opened', () => {
  const [[id = ''] = [], ...others] = identityKey(opened);
  assert.deepEqual(others, []);
  // No operator grants anything to anyone there.
  assert.equal(opened.table('Users'), undefined);
  const both = synthesise({ tradeEvents: {}, groups: { orders: 'iam' } });
  assert.deepEqual(
    identityKey(both).map(([one]) => one),
    [id],
  );
  assert.ok(both.table('Users'));
});

test('it starts every minute by a schedule, which alone may invoke it, and never again by itself', () => {
  const [rule, { Properties }] = only(opened, 'AWS::Events::Rule');
  const [lambda, { Properties: function_ }] = only(opened, 'AWS::Lambda::Function');
  assert.equal(Properties.ScheduleExpression, 'rate(1 minute)');
  const [target] = Properties.Targets as Record<string, unknown>[];
  assert.deepEqual(
    [target?.Arn, target?.RetryPolicy],
    [arn(lambda), { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 }],
  );
  const [, permission] = only(opened, 'AWS::Lambda::Permission');
  assert.deepEqual(permission.Properties.SourceArn, arn(rule));
  const [, invocation] = only(opened, 'AWS::Lambda::EventInvokeConfig');
  assert.deepEqual(
    [invocation.Properties.MaximumEventAgeInSeconds, invocation.Properties.MaximumRetryAttempts],
    [60, 0],
  );
  assert.deepEqual(
    [function_.Timeout, function_.MemorySize, function_.Architectures, function_.VpcConfig],
    [900, 256, ['arm64'], undefined],
  );
});

test('three instances are kept free for it, unless the account has none to keep', () => {
  const reservedOf = (from: Synthesised) =>
    only(from, 'AWS::Lambda::Function')[1].Properties.ReservedConcurrentExecutions;
  assert.equal(reservedOf(opened), 3);
  assert.equal(
    reservedOf(synthesise({ tradeEvents: {}, functions: { reservedConcurrency: 'none' } })),
    undefined,
  );
});

test('the function is told where it listens and what is reserved, and has no cache', () => {
  const listener = (props: Partial<CountersignConfig>) =>
    only(synthesise({ tradeEvents: {}, ...props }), 'AWS::Lambda::Function')[1].Properties;
  const [[key = ''] = []] = identityKey(opened);
  const published = { ...base.upstream, limits: 'published' } as const;
  const own = listener({ upstream: published });
  assert.deepEqual(Object.keys(variablesOf(own)), ['UPSTREAM', 'LIMITER', 'IDENTITY', 'TRADE_EVENTS']);
  assert.deepEqual(settingsOf(own, 'TRADE_EVENTS'), {
    url: 'https://upstream.example',
    tableName: only(opened, 'AWS::DynamoDB::Table')[0],
    busName: only(opened, 'AWS::Events::EventBus')[0],
    compareEveryMs: 300_000,
  });
  assert.equal(settingsOf(own, 'IDENTITY')?.identityKeySecretId, key);
  assert.equal(settingsOf(own, 'LIMITER')?.reserve, undefined);
  const reserving = listener({
    upstream: published,
    limiter: { reserve: 0.5 },
    functions: {
      reservedConcurrency: { 'market-data': 2, instruments: 2, screeners: 2, fundamentals: 2 },
    },
  });
  assert.deepEqual(settingsOf(reserving, 'LIMITER')?.reserve, { part: 0.5, instances: 8 });
  const elsewhere = { endpoint: 'events.example:8443', compareEveryMinutes: 60 };
  const { url, compareEveryMs } = settingsOf(listener({ tradeEvents: elsewhere }), 'TRADE_EVENTS') ?? {};
  assert.deepEqual([url, compareEveryMs], ['https://events.example:8443', 3_600_000]);
});

test('the role can do what the listener does, to what is its own, and no more', () => {
  const [table] = only(opened, 'AWS::DynamoDB::Table');
  const [bus] = only(opened, 'AWS::Events::EventBus');
  const [logs] = only(opened, 'AWS::Logs::LogGroup');
  const [secret] = opened.all('AWS::SecretsManager::Secret')[0]!;
  const [[key = ''] = []] = identityKey(opened);
  const index = { 'Fn::Join': ['', [arn(table), '/index/Work']] };
  assert.deepEqual(
    statementsOf(only(opened, 'AWS::IAM::Role')[1]).map((statement) => {
      const { Action, Resource } = statement as {
        readonly Action: string | string[];
        readonly Resource: unknown;
      };
      return [[Action].flat(), Resource];
    }),
    [
      [['secretsmanager:GetSecretValue'], { Ref: secret }],
      [['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], arn(opened.table('Budget')![0])],
      [['secretsmanager:GetSecretValue'], { Ref: key }],
      [['dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], arn(table)],
      [['dynamodb:Query'], index],
      [['events:PutEvents'], arn(bus)],
      [['logs:CreateLogStream', 'logs:PutLogEvents'], arn(logs)],
    ],
  );
});

test('the bus has its own name, and takes events from the listener alone', () => {
  const [bus, { Properties }] = only(opened, 'AWS::Events::EventBus');
  assert.equal(Properties.Name, 'Countersign-test-trade-events');
  const [role] = only(opened, 'AWS::IAM::Role');
  const [, policy] = only(opened, 'AWS::Events::EventBusPolicy');
  assert.deepEqual(policy.Properties.Statement, {
    Sid: 'cdk-EventsOfTheListenerAlone',
    Effect: 'Deny',
    Principal: '*',
    Action: 'events:PutEvents',
    Resource: arn(bus),
    Condition: { ArnNotEquals: { 'aws:PrincipalArn': arn(role) } },
  });
});

test('the table expires by itself, can be set back, indexes what is to be done, and stays where logs do', () => {
  for (const [onRemoval, policy] of removals) {
    const [, table] = only(synthesise({ tradeEvents: {}, onRemoval }), 'AWS::DynamoDB::Table');
    assert.equal(table.DeletionPolicy, policy);
    const { BillingMode, TimeToLiveSpecification, PointInTimeRecoverySpecification } = table.Properties;
    assert.deepEqual(
      [BillingMode, TimeToLiveSpecification, PointInTimeRecoverySpecification],
      [
        'PAY_PER_REQUEST',
        { AttributeName: 'expires_at', Enabled: true },
        { PointInTimeRecoveryEnabled: true },
      ],
    );
    assert.deepEqual(table.Properties.LocalSecondaryIndexes, [
      {
        IndexName: 'Work',
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'work', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ]);
  }
});

test('a rule takes what its filter names, and all events without one', () => {
  const app = createApp();
  const stack = new CountersignStack(app, 'Rules', { ...base, tradeEvents: {} });
  const target = new SqsQueue(new Queue(stack, 'Fills'));
  const { countersign } = stack;
  countersign.onTradeEvents('All', target);
  countersign.onTradeEvents('Some', target, {
    detailType: ['OrderChanged'],
    account: ['hash'],
    symbol: ['AAPL', 'MSFT'],
    scene: ['FINAL_FILLED'],
    status: ['FILLED'],
    clientOrderId: ['mine-1'],
    reconciled: false,
  });
  const { Resources } = Template.fromStack(stack).toJSON() as CfnTemplate;
  const patterns = Object.entries(Resources).flatMap(([id, { Type, Properties }]) =>
    Type === 'AWS::Events::Rule' && !/Schedule/.test(id) ? [Properties.EventPattern] : [],
  );
  assert.deepEqual(patterns, [
    { 'detail-type': ['OrderChanged', 'PositionChanged', 'TradeEventReceived'] },
    {
      'detail-type': ['OrderChanged'],
      detail: {
        account: ['hash'],
        symbol: ['AAPL', 'MSFT'],
        scene: ['FINAL_FILLED'],
        status: ['FILLED'],
        client_order_id: ['mine-1'],
        reconciled: [false],
      },
    },
  ]);
  const closed = new CountersignStack(app, 'Closed', base);
  assert.throws(() => closed.countersign.onTradeEvents('All', target), /tradeEvents must be configured/);
});

test('its outputs name where events come from', () => {
  for (const name of ['Bus', 'BusArn', 'Function', 'Table'])
    assert.ok(opened.template.Outputs[`TradeEvents${name}`], name);
});

const { upstream } = base;
const emulator = { ...upstream, baseUrl: 'http://127.0.0.1:8787', allowLoopback: true };
testRefusals([
  [
    'a URL for a host',
    { upstream, tradeEvents: { endpoint: 'https://a.example' } },
    /tradeEvents\.endpoint takes a host/,
  ],
  [
    'a path',
    { upstream, tradeEvents: { endpoint: 'a.example/b' } },
    /tradeEvents\.endpoint takes a host name/,
  ],
  [
    'no port',
    { upstream, tradeEvents: { endpoint: 'a.example:99999' } },
    /tradeEvents\.endpoint "a\.example:99999" cannot be used/,
  ],
  [
    'comparisons too rarely',
    { upstream, tradeEvents: { compareEveryMinutes: 61 } },
    /tradeEvents\.compareEveryMinutes takes a whole number from 1 to 60/,
  ],
  [
    'no topic',
    { upstream, tradeEvents: { alarmTopic: 'me' } },
    /tradeEvents\.alarmTopic takes the ARN of an SNS topic/,
  ],
  [
    'accounts, which would stand in the template',
    { upstream, tradeEvents: { accounts: ['1'] } },
    /tradeEvents\.accounts is not a property/,
  ],
  ['no object', { upstream, tradeEvents: true }, /tradeEvents takes an object/],
  [
    'an emulator’s events at no port',
    { upstream: emulator, tradeEvents: {} },
    /tradeEvents\.endpoint is required/,
  ],
  [
    'events of an emulator elsewhere',
    { upstream: emulator, tradeEvents: { endpoint: 'a.example:1' } },
    /cannot be used: it is http, and not on a loopback/,
  ],
]);
