/** The scheduled check of the access token: only where it is configured, with a role for it, and alarms that hear it. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { testRefusals } from './refusals.ts';
import { base, policiesOf, type Synthesised, synthesise, variablesOf } from './synthesise.ts';

const opened = synthesise({ accessToken: {} });

const ours = ({ all }: Synthesised, type: string) => all(type).filter(([id]) => id.startsWith('AccessToken'));

function only(from: Synthesised, type: string) {
  const [first, ...others] = ours(from, type);
  assert.ok(first && others.length === 0, type);
  return first;
}

test('without it a stack has nothing of it, and with it all else stays', () => {
  const { template } = synthesise();
  const before = Object.keys(template.Resources);
  assert.deepEqual(
    before.filter((id) => id.startsWith('AccessToken')),
    [],
  );
  for (const id of before) assert.deepEqual(opened.template.Resources[id], template.Resources[id], id);
});

test('the function reads the secret, writes its own log, and can do nothing else', () => {
  const [, role] = only(opened, 'AWS::IAM::Role');
  const [secret] = opened.one('AWS::SecretsManager::Secret');
  const [logs] = only(opened, 'AWS::Logs::LogGroup');
  assert.deepEqual(
    policiesOf(role).flatMap(({ PolicyDocument }) => PolicyDocument.Statement),
    [
      { Action: 'secretsmanager:GetSecretValue', Effect: 'Allow', Resource: { Ref: secret } },
      {
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Effect: 'Allow',
        Resource: { 'Fn::GetAtt': [logs, 'Arn'] },
      },
    ],
  );
  const [, { Properties }] = only(opened, 'AWS::Lambda::Function');
  assert.deepEqual(variablesOf(Properties), {
    UPSTREAM_BASE_URL: 'https://upstream.example',
    UPSTREAM_TIMEOUT_MS: '10000',
    SECRET_ID: { Ref: secret },
  });
  // Four calls, each of which may time out.
  assert.equal(Properties.Timeout, 50);
});

test('it is asked where the operations are, also under other paths', () => {
  const paths = { checkToken: '/openapi/auth/token/check', getStockBars: '/elsewhere' };
  const elsewhere = synthesise({
    accessToken: {},
    upstream: { ...base.upstream, paths },
    limiter: { operationLimits: { tokens: { requests: 5, perSeconds: 10, for: ['accounts'] } } },
  });
  const [, { Properties }] = only(elsewhere, 'AWS::Lambda::Function');
  assert.deepEqual(Object.keys(variablesOf(Properties)).sort(), [
    'SECRET_ID',
    'UPSTREAM_BASE_URL',
    'UPSTREAM_PATHS',
    'UPSTREAM_TIMEOUT_MS',
  ]);
  assert.equal(variablesOf(Properties).UPSTREAM_PATHS, JSON.stringify({ checkToken: paths.checkToken }));
});

test('it runs on a schedule, which alone may invoke it', () => {
  const [rule, { Properties }] = only(opened, 'AWS::Events::Rule');
  assert.equal(Properties.ScheduleExpression, 'rate(6 hours)');
  const [, permission] = only(opened, 'AWS::Lambda::Permission');
  assert.deepEqual(permission.Properties.SourceArn, { 'Fn::GetAtt': [rule, 'Arn'] });
  const often = synthesise({ accessToken: { checkEveryHours: 1 } });
  assert.equal(only(often, 'AWS::Events::Rule')[1].Properties.ScheduleExpression, 'rate(1 hour)');
});

test('alarms hear the days that are left, a request whose token is refused, and a day of failures', () => {
  const [lambda] = only(opened, 'AWS::Lambda::Function');
  const [secret] = opened.one('AWS::SecretsManager::Secret');
  const dimensionOf: Readonly<Record<string, object>> = {
    // Those that the functions write, and that of Lambda itself.
    TokenDaysLeft: { Name: 'Function', Value: { Ref: lambda } },
    AccessTokenRefused: { Name: 'Secret', Value: { Ref: secret } },
    Errors: { Name: 'FunctionName', Value: { Ref: lambda } },
  };
  const alarmTopic = 'arn:aws:sns:eu-central-1:123456789012:alarms';
  for (const [from, days, actions] of [
    [opened, 3, undefined],
    [synthesise({ accessToken: { alarmDaysBefore: 7, alarmTopic } }), 7, [alarmTopic]],
  ] as const) {
    const alarms = ours(from, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
    assert.deepEqual(
      alarms
        .map(
          ({ Namespace, MetricName, Statistic, Period, Threshold, ComparisonOperator, TreatMissingData }) => [
            Namespace,
            MetricName,
            Statistic,
            Period,
            Threshold,
            ComparisonOperator,
            TreatMissingData,
          ],
        )
        .sort(),
      [
        ['AWS/Lambda', 'Errors', 'Minimum', 86_400, 1, 'GreaterThanOrEqualToThreshold', 'ignore'],
        ['Countersign', 'AccessTokenRefused', 'Sum', 300, 1, 'GreaterThanOrEqualToThreshold', 'notBreaching'],
        ['Countersign', 'TokenDaysLeft', 'Minimum', 300, days, 'LessThanOrEqualToThreshold', 'ignore'],
      ],
    );
    for (const { MetricName, Dimensions, AlarmActions } of alarms) {
      assert.deepEqual(Dimensions, [dimensionOf[MetricName as string]]);
      assert.deepEqual(AlarmActions, actions);
    }
  }
});

const upstream = { baseUrl: 'https://upstream.example', limits: 'interface' };
testRefusals([
  [
    'an alarm too early',
    { upstream, accessToken: { alarmDaysBefore: 8 } },
    /accessToken\.alarmDaysBefore takes a whole number from 1 to 7/,
  ],
  [
    'checks too rarely',
    { upstream, accessToken: { checkEveryHours: 25 } },
    /accessToken\.checkEveryHours takes/,
  ],
  [
    'no topic',
    { upstream, accessToken: { alarmTopic: 'me' } },
    /accessToken\.alarmTopic takes the ARN of an SNS topic/,
  ],
  ['an unknown property', { upstream, accessToken: { every: 1 } }, /accessToken\.every is not a property/],
  [
    'no object',
    { upstream, accessToken: true },
    /^accessToken takes an object, such as \{\} or \{ checkEveryHours: 6 \}\.$/,
  ],
]);
