/** What is deployed for lookups by event, where the deployer opens them. */

import assert from 'node:assert/strict';
import { Template } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { test } from 'vitest';
import { responseActions, snapshotActions } from '../../infra/stack/cache.ts';
import type { CountersignConfig } from '../../infra/stack/config.ts';
import { CountersignStack } from '../../infra/stack/stack.ts';
import {
  base,
  createApp,
  type Resource,
  removals,
  type Synthesised,
  settingsOf,
  synthesise,
} from './synthesise.ts';

const closed = synthesise();
const opened = synthesise({ events: {} });

const ordersOpen = { groups: { orders: 'iam' } } as const;
const ordersRead = { groups: ['orders', 'market-data'] } as const;
const withOrders = synthesise({ ...ordersOpen, events: ordersRead });

const inLookups = ({ all }: Synthesised, type: string) =>
  all(type).filter(([id]) => id.startsWith('Lookups'));
const only = (from: Synthesised, type: string): Resource => {
  const found = inLookups(from, type);
  assert.equal(found.length, 1, type);
  return found[0]![1];
};
/** The one that takes messages, or the one that is called directly. */
const lambda = (from: Synthesised, name: 'quotelookup' | 'directlookup', type = 'AWS::Lambda::Function') => {
  const [found, ...more] = inLookups(from, type).filter(([id]) => id.startsWith(`Lookups${name}`));
  assert.ok(found && more.length === 0, type);
  return found;
};
const lookupsOf = (from: Synthesised, name: Parameters<typeof lambda>[1] = 'quotelookup') =>
  settingsOf(lambda(from, name)[1].Properties, 'LOOKUPS') ?? assert.fail(name);
const idOf = (value: unknown) => (value as { 'Fn::GetAtt': readonly [string, string] })['Fn::GetAtt'][0];
const queueIds = (from: Synthesised) => {
  const [id] = inLookups(from, 'AWS::SQS::Queue').find(([, { Properties }]) => Properties.RedrivePolicy)!;
  const [dead] = inLookups(from, 'AWS::SQS::Queue').find(([, { Properties }]) => !Properties.RedrivePolicy)!;
  return { id, dead };
};

const queuesByName = (from: Synthesised) =>
  Object.fromEntries(
    inLookups(from, 'AWS::SQS::Queue').map((found) => [
      /^Lookups([A-Za-z]+?)(?=[\dA-F]{8}$)/.exec(found[0])?.[1] ?? '',
      found,
    ]),
  ) as Readonly<Record<string, readonly [string, Resource]>>;

test('nothing of it is there until it is opened', () => {
  assert.doesNotMatch(JSON.stringify(closed.template), /Lookup|AWS::SQS|AWS::Events/);
  assert.equal(
    opened.all('AWS::Lambda::Function').length,
    closed.all('AWS::Lambda::Function').length + 2,
    'one function for messages, one for direct calls',
  );
});

test('a message stays away for six times the function’s limit, and comes back only so often', () => {
  for (const timeoutSeconds of [25, 28]) {
    const stack = synthesise({ events: {}, functions: { timeoutSeconds } });
    const { id, dead } = queueIds(stack);
    const { Properties } = stack.template.Resources[id]!;
    assert.equal(lambda(stack, 'quotelookup')[1].Properties.Timeout, timeoutSeconds);
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
  assert.equal(lookupsOf(synthesise({ events: { concurrency: 5 } })).instances, 5);
  assert.equal(lambda(opened, 'quotelookup')[1].Properties.RecursiveLoop, 'Allow');
});

test('the role can do what the function does, to what is its own, and no more', () => {
  const { id, dead } = queueIds(opened);
  const [table] = inLookups(opened, 'AWS::DynamoDB::Table')[0]!;
  const [bus] = inLookups(opened, 'AWS::Events::EventBus')[0]!;
  const [logs] = lambda(opened, 'quotelookup', 'AWS::Logs::LogGroup');
  const [limiter] = opened.table('Budget')!;
  const [cache] = opened.table('Cache')!;
  const [secret] = opened.one('AWS::SecretsManager::Secret');
  const cacheActions = [...new Set([...snapshotActions, ...responseActions])]
    .sort()
    .map((action) => `dynamodb:${action}`);
  const arn = (name: string) => ({ 'Fn::GetAtt': [name, 'Arn'] });
  const rightsOf = (name: Parameters<typeof lambda>[1]) =>
    (lambda(opened, name, 'AWS::IAM::Role')[1].Properties.Policies as Policy[]).flatMap(
      ({ PolicyDocument }) =>
        PolicyDocument.Statement.map(({ Action, Resource }) => [[Action].flat(), Resource]),
    );
  assert.deepEqual(rightsOf('quotelookup'), [
    [['secretsmanager:GetSecretValue'], { Ref: secret }],
    [['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], arn(limiter)],
    [cacheActions, arn(cache)],
    [['dynamodb:PutItem', 'dynamodb:UpdateItem'], arn(table)],
    [['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:SendMessage'], arn(id)],
    [['sqs:SendMessage'], arn(dead)],
    [['events:PutEvents'], arn(bus)],
    [['logs:CreateLogStream', 'logs:PutLogEvents'], arn(logs)],
  ]);
  const [ownLogs] = lambda(opened, 'directlookup', 'AWS::Logs::LogGroup');
  assert.deepEqual(rightsOf('directlookup'), [
    [['secretsmanager:GetSecretValue'], { Ref: secret }],
    [['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], arn(limiter)],
    [cacheActions, arn(cache)],
    [['logs:CreateLogStream', 'logs:PutLogEvents'], arn(ownLogs)],
  ]);
});

test('messages and direct calls have a function each: no queue leads to what may be called', () => {
  for (const stack of [opened, withOrders]) {
    const [messages] = lambda(stack, 'quotelookup');
    const targets = inLookups(stack, 'AWS::Lambda::EventSourceMapping').map(
      ([, { Properties }]) => Properties,
    );
    for (const { FunctionName } of targets) assert.deepEqual(FunctionName, { Ref: messages });
    const [called] = lambda(stack, 'directlookup');
    assert.deepEqual(stack.template.Outputs.LookupFunction?.Value, { Ref: called });
    assert.equal(lookupsOf(stack, 'directlookup').queues, undefined);
    assert.ok(lookupsOf(stack).queues);
  }
  const events = { ...ordersRead, concurrency: 2, reservedConcurrency: 7 };
  const bounded = synthesise({ ...ordersOpen, events });
  assert.deepEqual(
    (['quotelookup', 'directlookup'] as const).map(
      (name) => lambda(bounded, name)[1].Properties.ReservedConcurrentExecutions,
    ),
    [4, 3],
  );
});

test('records expire by themselves, and stay with the stack’s logs where those are retained', () => {
  for (const [onRemoval, policy] of removals) {
    const table = only(synthesise({ events: {}, onRemoval }), 'AWS::DynamoDB::Table');
    assert.equal(table.DeletionPolicy, policy);
    assert.equal(table.Properties.BillingMode, 'PAY_PER_REQUEST');
    assert.deepEqual(table.Properties.TimeToLiveSpecification, {
      AttributeName: 'expires_at',
      Enabled: true,
    });
  }
});

test('an archive exists on demand', () => {
  assert.deepEqual(inLookups(opened, 'AWS::Events::Archive'), []);
  const configured = synthesise({ events: { archiveDays: 14 } });
  const archive = only(configured, 'AWS::Events::Archive').Properties;
  assert.equal(archive.RetentionDays, 14);
  assert.deepEqual(archive.EventPattern, only(configured, 'AWS::Events::Rule').Properties.EventPattern);
});

test('what may be read are market facts of the groups that are open, and of account data what is named', () => {
  const settings = (from: Synthesised) => {
    assert.deepEqual(lookupsOf(from, 'directlookup').groups, lookupsOf(from).groups);
    return lookupsOf(from);
  };
  assert.deepEqual(settings(opened).groups, ['instruments', 'market-data', 'screeners', 'fundamentals']);
  const paths = { getStockBars: '/elsewhere', placeOrder: '/orders' };
  const some = synthesise({
    events: {},
    groups: { screeners: 'closed', orders: 'iam' },
    upstream: { baseUrl: 'https://upstream.example', limits: 'interface', paths },
  });
  assert.deepEqual(settings(some).groups, ['instruments', 'market-data', 'fundamentals']);
  const { paths: known } = settingsOf(lambda(some, 'quotelookup')[1].Properties, 'UPSTREAM') ?? {};
  assert.deepEqual(known, { getStockBars: '/elsewhere' });
  assert.equal(settings(some).queues?.busQueueUrl, undefined);
  const named = settings(withOrders);
  assert.deepEqual(named.groups, ['orders', 'market-data']);
  const [bus] = queuesByName(withOrders).BusQueue!;
  assert.equal(named.queues?.busQueueUrl, bus);
  assert.equal(named.instances, 4);
});

test('what would open nothing, what is closed, or would stay in the clear is refused in a sentence', () => {
  for (const [props, sentence] of [
    [{ events: { groups: ['orders'] } }, /^events\.groups names orders, which is closed/],
    [{ events: { groups: ['auth'] } }, /^events\.groups\.0 takes a list of accounts, orders/],
    [{ events: { groups: [] } }, /^events\.groups takes at least one group/],
    [{ ...ordersOpen, events: { ...ordersRead, archiveDays: 1 } }, /^events\.archiveDays .* in the clear/],
    [
      { ...ordersOpen, events: { ...ordersRead, reservedConcurrency: 4 } },
      /^events\.reservedConcurrency .* twice/,
    ],
    [
      {
        groups: {
          orders: 'iam',
          instruments: 'closed',
          'market-data': 'closed',
          screeners: 'closed',
          fundamentals: 'closed',
        },
        events: {},
      },
      /^events leaves nothing to be read/,
    ],
  ] as const)
    assert.throws(
      () => synthesise(props as Parameters<typeof synthesise>[0]),
      (error: Error) => {
        assert.match(error.message, sentence);
        return true;
      },
    );
});

test('where account data is readable the bus has a queue of its own, which takes its rule’s messages alone', () => {
  const { BusQueue = [], Queue = [], DeadLetters = [] } = queuesByName(withOrders);
  const [rule, { Properties }] = inLookups(withOrders, 'AWS::Events::Rule')[0]!;
  const [target] = Properties.Targets as { Arn: unknown }[];
  assert.equal(idOf(target?.Arn), BusQueue[0]);
  assert.deepEqual(BusQueue[1]?.Properties, Queue[1]?.Properties);
  const allowed = (queue: string | undefined) =>
    inLookups(withOrders, 'AWS::SQS::QueuePolicy')
      .filter(([, policy]) => (policy.Properties.Queues as { Ref: string }[])[0]?.Ref === queue)
      .flatMap(([, policy]) => (policy.Properties.PolicyDocument as { Statement: Statement[] }).Statement)
      .filter(({ Effect }) => Effect === 'Allow')
      .map(({ Condition }) => Condition);
  const byRule = { ArnEquals: { 'aws:SourceArn': { 'Fn::GetAtt': [rule, 'Arn'] } } };
  assert.deepEqual([allowed(BusQueue[0]), allowed(Queue[0])], [[byRule], []]);
  assert.ok(DeadLetters[0]);
  const mappings = inLookups(withOrders, 'AWS::Lambda::EventSourceMapping');
  assert.deepEqual(
    mappings.map(([, one]) => idOf(one.Properties.EventSourceArn)).sort(),
    [BusQueue[0], Queue[0]].sort(),
  );
  assert.ok(withOrders.template.Outputs.LookupBusQueueUrl);
});

test('the bus takes no event with the source of replies, or one that stands for none, but from the function', () => {
  for (const stack of [opened, withOrders]) {
    const [bus] = inLookups(stack, 'AWS::Events::EventBus')[0]!;
    const [role] = lambda(stack, 'quotelookup', 'AWS::IAM::Role');
    const { Properties } = only(stack, 'AWS::Events::EventBusPolicy');
    assert.deepEqual(Properties.Statement, {
      Sid: 'cdk-RepliesOfTheFunctionAlone',
      Effect: 'Deny',
      Principal: '*',
      Action: 'events:PutEvents',
      Resource: { 'Fn::GetAtt': [bus, 'Arn'] },
      Condition: {
        'ForAnyValue:StringEquals': {
          'events:source': ['countersign', 'countersign.queue', 'countersign.function'],
        },
        ArnNotEquals: { 'aws:PrincipalArn': { 'Fn::GetAtt': [role, 'Arn'] } },
      },
    });
  }
});

test('an identity is granted the sources that it may name, and must name them where grants depend on it', () => {
  const statementFor = (props: Partial<CountersignConfig>, ...sources: string[]) => {
    const app = createApp();
    const stack = new CountersignStack(app, 'Granting', { ...base, ...props });
    const role = new Role(stack, 'Reports', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    stack.countersign.grantPutEvents(role, ...sources);
    const { Resources } = Template.fromStack(stack).toJSON() as Synthesised['template'];
    const [found] = Object.entries(Resources).filter(([id]) => id.startsWith('ReportsDefaultPolicy'));
    const { Statement } = found![1].Properties.PolicyDocument as { Statement: Statement[] };
    return Statement[0];
  };
  const condition = {
    'ForAllValues:StringEquals': { 'events:source': ['reports', 'alerts'] },
    Null: { 'events:source': 'false' },
  };
  assert.deepEqual(statementFor({ events: {} }, 'reports', 'alerts')?.Condition, condition);
  assert.equal(statementFor({ events: {} })?.Condition, undefined);
  const readable = { ...ordersOpen, events: ordersRead } as const;
  assert.deepEqual(statementFor(readable, 'reports', 'alerts')?.Condition, condition);
  assert.throws(() => statementFor(readable), /takes the sources/);
  assert.throws(() => statementFor({ events: {} }, 'countersign.queue'), /no source of a request/);
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

interface Policy {
  readonly PolicyDocument: { readonly Statement: readonly Statement[] };
}

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Principal?: unknown;
  readonly Condition?: unknown;
}
