/** The construct in another stack: beside one of its kind, and with access for others. */

import assert from 'node:assert/strict';
import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { expect, test } from 'vitest';
import { Countersign, type CountersignProps } from '../../infra/stack/countersign.ts';
import { getStockSnapshots, operations } from '../../lib/catalogue/index.ts';
import { base, type CfnTemplate, createApp, policiesOf, synthesise } from './synthesise.ts';

const own = (id = 'Own') => new Stack(createApp(), id);
const templateOf = (stack: Stack) => Template.fromStack(stack).toJSON() as CfnTemplate;
const named = (template: CfnTemplate, type: string, property: string) =>
  Object.values(template.Resources)
    .filter(({ Type }) => Type === type)
    .map(({ Properties }) => Properties[property]);

const all: Omit<CountersignProps, 'upstream'> = {
  groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam' },
  events: { archiveDays: 1, alarmTopic: 'arn:aws:sns:eu-central-1:123456789012:alarms' },
  tradeEvents: {},
  trading: { limits: 'none', stopOnAlarms: { names: ['orders-refused'] } },
  plans: { app: { tier: 'app' } },
  logs: { access: 'use-account-role' },
};

test('two stand side by side in one stack: each has all of its own, under its own name', () => {
  const stack = own();
  new Countersign(stack, 'First', { ...base, ...all });
  new Countersign(stack, 'Second', { ...base, ...all });
  const two = templateOf(stack);
  const one = synthesise(all).template;
  assert.equal(Object.keys(two.Resources).length, 2 * Object.keys(one.Resources).length);
  assert.deepEqual(
    named(two, 'AWS::Events::EventBus', 'Name'),
    ['First', 'Second'].flatMap((id) => [`Own-${id}-orders`, `Own-${id}-lookups`, `Own-${id}-trade-events`]),
  );
  assert.deepEqual(named(two, 'AWS::ApiGateway::RestApi', 'Name'), ['Own-First', 'Own-Second']);
  const plans = named(two, 'AWS::ApiGateway::UsagePlan', 'UsagePlanName');
  assert.deepEqual(plans, ['Own-First default', 'Own-First app', 'Own-Second default', 'Own-Second app']);
  // No export and no output: those belong to the stack around it.
  assert.equal(two.Outputs, undefined);
});

test('CountersignStack adds no resource to the construct', () => {
  const stack = own('Countersign-test');
  new Countersign(stack, 'Default', { ...base, ...all });
  assert.deepEqual(templateOf(stack).Resources, synthesise(all).template.Resources);
});

test('a title names the API and its plans, but not the bus, which one account has once', () => {
  const stack = own();
  new Countersign(stack, 'First', { ...base, title: 'Quotes', events: {} });
  const template = templateOf(stack);
  assert.deepEqual(named(template, 'AWS::ApiGateway::RestApi', 'Name'), ['Quotes']);
  assert.deepEqual(named(template, 'AWS::ApiGateway::UsagePlan', 'UsagePlanName'), ['Quotes default']);
  assert.deepEqual(named(template, 'AWS::Events::EventBus', 'Name'), ['Own-First-lookups']);
});

test('its members are what it made', () => {
  const stack = own();
  const made = new Countersign(stack, 'Own', { ...base, ...all });
  assert.deepEqual(Object.keys(made.functions).sort(), [
    'accounts',
    'fundamentals',
    'instruments',
    'market-data',
    'order-cancels',
    'order-reads',
    'orders',
    'screeners',
    'watchlists',
  ]);
  assert.deepEqual(Object.keys(made.tables), [
    'limiter',
    'cache',
    'lookups',
    'users',
    'orderJournal',
    'orderAudit',
    'tradingControls',
    'tradeEvents',
  ]);
  assert.ok(made.identityKey);
  assert.equal(made.authorizer, undefined, 'no group opens with jwt');
  assert.deepEqual([...made.plans.keys()], ['default', 'app']);
  assert.ok(made.bus === made.lookups?.bus && made.bus);
  assert.ok(made.queue === made.lookups?.queue && made.queue);
  const secret = stack.resolve(made.secret.secretArn) as { Ref: string };
  assert.equal(templateOf(stack).Resources[secret.Ref]?.Type, 'AWS::SecretsManager::Secret');

  const { upstream } = base;
  const least = new Countersign(own(), 'Own', { upstream, cache: 'off' });
  assert.deepEqual(Object.keys(least.tables), ['limiter']);
  assert.deepEqual([least.lookups, least.bus, least.queue], [undefined, undefined, undefined]);
});

test('a secret and a topic of the same app are its own; nothing else is made in their place', () => {
  const stack = own();
  const secret = new Secret(stack, 'There');
  const topic = new Topic(stack, 'Heard');
  const existingSecret = secret.secretArn;
  const made = new Countersign(stack, 'C', { ...base, existingSecret, alarmTopic: topic.topicArn });
  const { Resources } = templateOf(stack);
  const secrets = Object.entries(Resources).filter(([, { Type }]) => Type === 'AWS::SecretsManager::Secret');
  assert.deepEqual(secrets.length, 1);
  const ref = stack.resolve(existingSecret);
  assert.deepEqual(stack.resolve(made.secret.secretArn), ref);
  const roles = Object.values(Resources).filter(({ Type }) => Type === 'AWS::IAM::Role');
  assert.equal(roles.length, 4);
  for (const role of roles) {
    const [read] = policiesOf(role).filter(({ PolicyName }) => PolicyName === 'ReadSecret');
    const statements = read?.PolicyDocument.Statement as readonly { readonly Resource: unknown }[];
    assert.deepEqual(
      statements.map(({ Resource }) => Resource),
      [ref],
    );
  }
  for (const actions of named({ Resources, Outputs: {} }, 'AWS::CloudWatch::Alarm', 'AlarmActions'))
    assert.deepEqual(actions, [stack.resolve(topic.topicArn)]);
  assert.throws(
    () => new Countersign(own(), 'C', { ...base, existingSecret: 'broker-secret' }),
    /existingSecret takes the whole ARN/,
  );
});

test('without alarms there are none, of any part', () => {
  const stack = own();
  new Countersign(stack, 'C', { ...base, ...all, alarms: 'off' });
  const kinds = (template: CfnTemplate) => Object.values(template.Resources).map(({ Type }) => Type);
  const rest = kinds(synthesise(all).template).filter((type) => type !== 'AWS::CloudWatch::Alarm');
  assert.deepEqual(kinds(templateOf(stack)), rest);
});

test('in a VPC every function may join it, and all share one security group', () => {
  const stack = own();
  // The library's class is its own interface, but not to a compiler that tells undefined from absent.
  const vpc = new Vpc(stack, 'Network') as IVpc;
  new Countersign(stack, 'C', { ...base, ...all, vpc });
  const template = templateOf(stack);
  assert.equal(named(template, 'AWS::EC2::SecurityGroup', 'GroupDescription').length, 1);
  const configs = named(template, 'AWS::Lambda::Function', 'VpcConfig');
  assert.ok(configs.length > 10);
  assert.equal(new Set(configs.map((config) => JSON.stringify(config))).size, 1);
  assert.ok(configs[0]);
  const joining = Object.values(template.Resources).filter(
    (one) =>
      one.Type === 'AWS::IAM::Role' && policiesOf(one).some(({ PolicyName }) => PolicyName === 'JoinNetwork'),
  );
  assert.equal(joining.length, configs.length);
  assert.doesNotMatch(JSON.stringify(synthesise(all).template), /JoinNetwork|VpcConfig/);
});

function granted(grant: (countersign: Countersign, role: Role) => void) {
  const stack = own();
  const countersign = new Countersign(stack, 'C', { ...base, ...all });
  const role = new Role(stack, 'Grantee', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  grant(countersign, role);
  const { Resources } = templateOf(stack);
  const policies = Object.values(Resources).filter(
    ({ Type, Properties }) => Type === 'AWS::IAM::Policy' && Properties.PolicyName !== 'AddLines',
  );
  assert.equal(policies.length, 1);
  const { PolicyDocument, Roles } = policies[0]!.Properties as {
    PolicyDocument: { Statement: { Action: string | string[]; Resource: unknown }[] };
    Roles: unknown;
  };
  assert.deepEqual(Roles, [stack.resolve(role.roleName)]);
  assert.equal(PolicyDocument.Statement.length, 1);
  const { Action, Resource } = PolicyDocument.Statement[0]!;
  return {
    actions: [Action].flat(),
    resources: [Resource].flat(),
    of: (value: string) => stack.resolve(value),
    countersign,
  };
}

test('access to lookups is granted to exactly what the way in needs', () => {
  const bus = granted((one, role) => one.grantPutEvents(role));
  assert.deepEqual(bus.actions, ['events:PutEvents']);
  assert.deepEqual(bus.resources, [bus.of(bus.countersign.bus!.eventBusArn)]);

  const queue = granted((one, role) => one.grantSendMessages(role));
  expect(queue.actions).toContain('sqs:SendMessage');
  expect(queue.actions).not.toContain('sqs:ReceiveMessage');
  assert.deepEqual(queue.resources, [queue.of(queue.countersign.queue!.queueArn)]);

  const lambda = granted((one, role) => one.grantInvoke(role));
  assert.deepEqual(lambda.actions, ['lambda:InvokeFunction']);
  assert.deepEqual(lambda.resources[0], lambda.of(lambda.countersign.lookups!.directFunction.functionArn));
});

test('a group that opens with IAM is granted path by path', () => {
  const accounts = granted((one, role) => one.grantExecute(role, 'accounts'));
  assert.deepEqual(accounts.actions, ['execute-api:Invoke']);
  const ends = accounts.resources.map((resource) => JSON.stringify(resource).replace(/^.*?\/v1\//, ''));
  const entries = operations.filter(({ group }) => group === 'accounts');
  const expected = entries.flatMap(({ method, path, aliases }) =>
    [path, ...aliases].map((one) => `${method}${one}`),
  );
  assert.deepEqual(ends.map((end) => end.replace(/"\]\]\}$/, '')).sort(), expected.sort());
});

test('what cannot be granted is refused in one sentence', () => {
  const stack = own();
  const role = new Role(stack, 'Grantee', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  const plain = new Countersign(stack, 'C', { ...base, operations: [getStockSnapshots] });
  for (const grant of [plain.grantPutEvents, plain.grantSendMessages, plain.grantInvoke])
    assert.throws(() => grant.call(plain, role), {
      name: 'ConfigError',
      message: /^events must be configured/,
    });
  for (const group of ['market-data', 'orders'] as const)
    assert.throws(() => plain.grantExecute(role, group), {
      name: 'ConfigError',
      message: `groups.${group} must be iam: only then a call is granted to an identity.`,
    });
});
