/** The stop that an alarm sets, as resources: who may invoke it, what it may do, and what tells that it failed. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { StopOnAlarmsConfig } from '../../infra/stack/trading-config.ts';
import { tradingStopActions } from '../../infra/stack/trading-stop.ts';
import { cancelOrder, getStockSnapshots, placeOrder } from '../../lib/catalogue/index.ts';
import { calledBy } from './called-by.ts';
import {
  idOf,
  type Policy,
  policiesOf,
  type Resource,
  type Synthesised,
  settingsOf,
  synthesise,
  variablesOf,
} from './synthesise.ts';

const operations = [getStockSnapshots, placeOrder, cancelOrder];
const names = ['orders-refused', 'Größe / Verlust'];

const stopping = (stopOnAlarms?: StopOnAlarmsConfig, more: Parameters<typeof synthesise>[0] = {}) =>
  synthesise({
    operations,
    groups: { orders: 'iam' },
    trading: { limits: 'none', ...(stopOnAlarms && { stopOnAlarms }) },
    ...more,
  });
const of = ({ all }: Synthesised, type: string) => all(type).filter(([id]) => id.startsWith('TradingStop'));
/** The only one of a type. */
const oneOf = (given: Synthesised, type: string) => {
  const [found, ...others] = of(given, type);
  assert.ok(found && others.length === 0, type);
  return { id: found[0], properties: found[1].Properties };
};
const targetOf = ({ Targets }: Resource['Properties']) =>
  (Targets as readonly Readonly<Record<string, unknown>>[])[0] ?? {};
interface Statement {
  readonly Action: string;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

/** The partitions to which a policy's statements are held, and the attributes, by the statement's action. */
const partitionsOf = (policy: Policy | undefined) =>
  ((policy?.PolicyDocument.Statement ?? []) as readonly Statement[]).map(({ Action, Condition }) => {
    const { 'dynamodb:LeadingKeys': keys, 'dynamodb:Attributes': attributes } =
      Condition?.['ForAllValues:StringEquals'] ?? {};
    return [Action, keys, ...(attributes ? [attributes] : [])];
  });
/** The limits are an attribute of the gateway's scope, and not among them. */
const stopAttributes = ['pk', 'sk', 'version', 'sealed', 'stopped_at'];
const ofStack = [
  ['dynamodb:BatchGetItem', ['stack']],
  ['dynamodb:UpdateItem', ['stack'], stopAttributes],
];
const opened = stopping({ names });
const lambda = oneOf(opened, 'AWS::Lambda::Function');

test('there is none unless the stage asks for it', () => {
  assert.doesNotMatch(JSON.stringify(stopping().template), /TradingStop/);
  assert.equal(of(stopping({}), 'AWS::Lambda::Function').length, 1);
});

test('a rule brings it the alarms that the stage names, of this account alone, when they are raised', () => {
  const { properties } = oneOf(opened, 'AWS::Events::Rule');
  assert.deepEqual(properties.EventPattern, {
    source: ['aws.cloudwatch'],
    'detail-type': ['CloudWatch Alarm State Change'],
    account: [{ Ref: 'AWS::AccountId' }],
    detail: { alarmName: names, state: { value: ['ALARM'] } },
  });
  assert.equal(properties.EventBusName, undefined);
  assert.equal(idOf(targetOf(properties).Arn), lambda.id);
});

test('without names there is no rule, and any alarm of the account and Region can still invoke it', () => {
  const direct = stopping({});
  assert.deepEqual(of(direct, 'AWS::Events::Rule'), []);
  const { Principal, SourceAccount, SourceArn } = oneOf(direct, 'AWS::Lambda::Permission').properties;
  assert.deepEqual(
    [Principal, SourceAccount],
    ['lambda.alarms.cloudwatch.amazonaws.com', { Ref: 'AWS::AccountId' }],
  );
  assert.match(JSON.stringify(SourceArn), /:cloudwatch:.*"AWS::Region".*"AWS::AccountId".*:alarm:\*/);
  const arn = direct.template.Outputs.TradingStopFunctionArn?.Value;
  assert.match(idOf(arn), /^TradingStop/);
});

test('it reads and writes what is set of the gateway, reads the identity key, and does nothing else: not even the app secret', () => {
  const role = opened.template.Resources[idOf(lambda.properties.Role)];
  const [controls] = opened.table('TradingControls') ?? [''];
  const [appSecret] = opened.all('AWS::SecretsManager::Secret').find(([id]) => id.startsWith('Secret')) ?? [
    '',
  ];
  const granted = policiesOf(role).flatMap(({ PolicyName, PolicyDocument }) =>
    (PolicyDocument.Statement as readonly { readonly Action: unknown }[]).map(({ Action }) => [
      PolicyName,
      Action,
    ]),
  );
  assert.deepEqual(granted.sort(), [
    ['NoteLost', 'sqs:SendMessage'],
    ['ReadIdentityKey', 'secretsmanager:GetSecretValue'],
    ['StopTrading', 'dynamodb:BatchGetItem'],
    ['StopTrading', 'dynamodb:PutItem'],
    ['StopTrading', 'dynamodb:UpdateItem'],
    ['WriteLog', ['logs:CreateLogStream', 'logs:PutLogEvents']],
  ]);
  const [own] = policiesOf(role).filter(({ PolicyName }) => PolicyName === 'StopTrading');
  assert.match(JSON.stringify(own), new RegExp(`\\["${controls}","Arn"\\]`));
  assert.deepEqual(partitionsOf(own), [...ofStack, ['dynamodb:PutItem', ['history']]]);
  // It names the secret in its metrics, and cannot read it.
  const { METRICS: _, ...variables } = variablesOf(lambda.properties);
  assert.equal(settingsOf(lambda.properties, 'METRICS')?.secretId, appSecret);
  assert.ok(appSecret && !JSON.stringify([role, variables]).includes(`"${appSecret}"`));
  assert.deepEqual(
    opened.all('AWS::IAM::Policy').filter(([, one]) => JSON.stringify(one).includes('TradingStop')),
    [],
  );
  assert.deepEqual(Object.keys(variables).sort(), ['IDENTITY', 'TRADING_STOP']);
});

test('no other function may write limits and stops', () => {
  const writing = opened.all('AWS::IAM::Role').filter(([, role]) =>
    policiesOf(role).some((policy) => {
      const text = JSON.stringify(policy);
      // Blocked orders may ask for cancels, and the settlement writes checkpoints, in partitions of their own.
      const isElsewhere = partitionsOf(policy).every(([, keys]) =>
        ['mass-cancel', 'checkpoint'].includes(String(keys)),
      );
      return /TradingControls/.test(text) && /PutItem|UpdateItem/.test(text) && !isElsewhere;
    }),
  );
  assert.deepEqual(
    writing.map(([id]) => id.replace(/[0-9A-F]{8}$/, '')),
    ['TradingStopRole'],
  );
});

test('where a stop cancels what is open, the function is told so, and may ask for it', () => {
  const cancelling = stopping({ cancelOpen: true });
  const { properties } = oneOf(cancelling, 'AWS::Lambda::Function');
  assert.equal(settingsOf(properties, 'TRADING_STOP')?.cancelOpen, true);
  const policies = policiesOf(cancelling.template.Resources[idOf(properties.Role)]);
  const [own] = policies.filter(({ PolicyName }) => PolicyName === 'StopTrading');
  assert.deepEqual(partitionsOf(own), [...ofStack, ['dynamodb:PutItem', ['history', 'mass-cancel']]]);
});

test('the actions are among those of the code', () => {
  const calls = calledBy('dynamo-control-admin', 'dynamo-sealed-records');
  // A change is one transaction of an update and puts; commands alone query and scan.
  const { read, stop, note } = tradingStopActions;
  assert.deepEqual(
    calls.flatMap((name) => (name === 'TransactWriteItems' ? [...stop, ...note] : name)).sort(),
    [...read, ...stop, ...note, 'Query', 'Scan'].sort(),
  );
});

test('Lambda tries three times within a quarter of an hour; what is left is kept', () => {
  const { properties: invoke } = oneOf(opened, 'AWS::Lambda::EventInvokeConfig');
  assert.deepEqual([invoke.MaximumRetryAttempts, invoke.MaximumEventAgeInSeconds], [2, 900]);
  const lost = { 'Fn::GetAtt': [oneOf(opened, 'AWS::SQS::Queue').id, 'Arn'] };
  assert.deepEqual(invoke.DestinationConfig, { OnFailure: { Destination: lost } });
  const { DeadLetterConfig, RetryPolicy } = targetOf(oneOf(opened, 'AWS::Events::Rule').properties);
  assert.deepEqual([DeadLetterConfig, RetryPolicy], [{ Arn: lost }, { MaximumEventAgeInSeconds: 900 }]);
});

test('an instance is kept free for it, unless the stage reserves none', () => {
  const reserved = (given: Synthesised) =>
    oneOf(given, 'AWS::Lambda::Function').properties.ReservedConcurrentExecutions;
  assert.equal(reserved(opened), 1);
  for (const reservedConcurrency of ['none', { orders: 'none' }] as const)
    assert.equal(reserved(stopping({ names }, { functions: { reservedConcurrency } })), undefined);
});

test('names that are none, and a stop where nothing trades, are refused in a sentence', () => {
  const refused = (given: unknown, message: string) =>
    assert.throws(() => stopping(given as StopOnAlarmsConfig), { name: 'ConfigError', message });
  const such = "such as {} or { names: ['orders-refused'] }";
  refused(true, `trading.stopOnAlarms takes an object, ${such}.`);
  refused(['orders-refused'], `trading.stopOnAlarms takes an object, ${such}.`);
  refused(
    { names: 'orders-refused' },
    "trading.stopOnAlarms.names takes a list, such as ['orders-refused'].",
  );
  refused({ alarms: names }, 'trading.stopOnAlarms.alarms is not a property that can be configured here.');
  refused({ names: ['a', 'a'] }, 'trading.stopOnAlarms.names has the same alarm twice.');
  const name = 'takes the name of a CloudWatch alarm, of 1 to 255 visible characters, and not its ARN';
  for (const wrong of [
    '',
    ' ',
    'a\nb',
    'x'.repeat(256),
    'arn:aws:cloudwatch:us-east-1:123456789012:alarm:a',
    7,
  ])
    refused({ names: ['a', wrong] }, `trading.stopOnAlarms.names.1 ${name}.`);
  refused(
    { names: Array.from({ length: 10 }, (_, index) => `${index}`.repeat(200)) },
    'trading.stopOnAlarms.names takes names that fit 1,500 characters as JSON, because one rule has them: make a composite alarm of several.',
  );
  refused({ cancelOpen: 'yes' }, 'trading.stopOnAlarms.cancelOpen takes true or false.');
  assert.throws(() => stopping({ names }, { operations: [getStockSnapshots, cancelOrder] }), {
    message:
      'trading.stopOnAlarms has nothing to stop, because no open operation places or replaces orders: open groups.orders, or leave it out.',
  });
});
