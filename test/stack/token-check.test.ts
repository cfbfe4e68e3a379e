/** The scheduled check of the access token: only where it is configured, with a role for it, and alarms that hear it. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { testRefusals } from './refusals.ts';
import { base, partOf, policiesOf, settingsOf, synthesise, variablesOf } from './synthesise.ts';

const opened = synthesise({ accessToken: {} });

const { only } = partOf('AccessToken');

test('without it a stack has nothing of it, and with it all else stays', () => {
  const { template } = synthesise();
  // The dashboard and its queries are of all functions.
  const before = Object.keys(template.Resources).filter((id) => !id.startsWith('Dashboard'));
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
  assert.deepEqual(Object.keys(variablesOf(Properties)), ['UPSTREAM']);
  assert.deepEqual(settingsOf(Properties, 'UPSTREAM'), {
    ...base.upstream,
    paths: {},
    timeoutMs: 10_000,
    secretId: secret,
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
  assert.deepEqual(Object.keys(variablesOf(Properties)), ['UPSTREAM']);
  assert.deepEqual(settingsOf(Properties, 'UPSTREAM')?.paths, { checkToken: paths.checkToken });
});

test('it runs on a schedule, which alone may invoke it', () => {
  const [rule, { Properties }] = only(opened, 'AWS::Events::Rule');
  assert.equal(Properties.ScheduleExpression, 'rate(6 hours)');
  const [, permission] = only(opened, 'AWS::Lambda::Permission');
  assert.deepEqual(permission.Properties.SourceArn, { 'Fn::GetAtt': [rule, 'Arn'] });
  const often = synthesise({ accessToken: { checkEveryHours: 1 } });
  assert.equal(only(often, 'AWS::Events::Rule')[1].Properties.ScheduleExpression, 'rate(1 hour)');
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
