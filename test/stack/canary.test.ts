/** The canary: what it asks for, with which key, how often, and what its function may do. */

import assert from 'node:assert/strict';
import { AwsSolutionsChecks } from 'cdk-nag';
import { test } from 'vitest';
import { testRefusals } from './refusals.ts';
import { base, idOf, policiesOf, settingsOf, synthesise } from './synthesise.ts';

const domain = {
  name: 'api.example.com',
  hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' },
};
const made = synthesise({ canary: { symbol: 'MSFT' }, domain });
const canaryOf = (from: typeof made) =>
  from.all('AWS::Lambda::Function').find(([id]) => id.startsWith('Canary'))?.[1].Properties ?? {};
const [keyId] = made.all('AWS::SecretsManager::Secret').find(([id]) => id.startsWith('Canary'))!;

test('there is none by default', () => {
  const { Resources } = synthesise().template;
  assert.ok(!Object.keys(Resources).some((id) => id.startsWith('Canary')));
});

test('it asks by the API’s name for a quote, and reads its key and nothing else', () => {
  const { url = '', keySecretId } = settingsOf(canaryOf(made), 'CANARY') ?? {};
  assert.match(url, /^https:\/\/api\.example\.com\/[\w/-]+\?symbols=MSFT&category=US_STOCK$/);
  assert.equal(keySecretId, keyId);
  const policies = policiesOf(made.template.Resources[idOf(canaryOf(made).Role)]);
  assert.deepEqual(
    policies.map(({ PolicyName }) => PolicyName),
    ['ReadKey', 'WriteLog'],
  );
});

test('its path is one that the API has, with a key', () => {
  const { pathname } = new URL(settingsOf(canaryOf(made), 'CANARY')?.url ?? '');
  const { paths } = made.one('AWS::ApiGateway::RestApi')[1].Properties.Body as {
    readonly paths: Readonly<Record<string, { readonly get?: { readonly security?: unknown } }>>;
  };
  assert.match(JSON.stringify(paths[pathname]?.get?.security), /key/i);
});

test('its key is one of a plan of the stage, and its value stands in no template', () => {
  const [id, { Properties }] = made.all('AWS::ApiGateway::ApiKey').find(([one]) => one.startsWith('Canary'))!;
  assert.match(JSON.stringify(Properties.Value), new RegExp(`resolve:secretsmanager:.*"Ref":"${keyId}"`));
  const [plan] = made.all('AWS::ApiGateway::UsagePlan').find(([one]) => one.startsWith('Canary'))!;
  const isOfPlan = ({ UsagePlanId, KeyId }: Readonly<Record<string, unknown>>) =>
    JSON.stringify([UsagePlanId, KeyId]) === JSON.stringify([{ Ref: plan }, { Ref: id }]);
  assert.ok(made.all('AWS::ApiGateway::UsagePlanKey').some(([, one]) => isOfPlan(one.Properties)));
});

test('it is started every five minutes, or as often as the stage says, and not again for an error', () => {
  const rateOf = (from: typeof made) =>
    from.all('AWS::Events::Rule').find(([id]) => id.startsWith('Canary'))?.[1].Properties as {
      readonly ScheduleExpression: string;
      readonly Targets: readonly object[];
    };
  assert.equal(rateOf(made).ScheduleExpression, 'rate(5 minutes)');
  assert.match(JSON.stringify(rateOf(made).Targets), /"MaximumRetryAttempts":0/);
  assert.equal(rateOf(synthesise({ canary: { everyMinutes: 2 } })).ScheduleExpression, 'rate(2 minutes)');
});

test('cdk-nag, AwsSolutions', () => {
  const { success, violations } = new AwsSolutionsChecks(made.app).validateScope(made.app);
  assert.deepEqual([success, violations], [true, []], JSON.stringify(violations));
});

testRefusals([
  [
    'too seldom for its alarm',
    { ...base, canary: { everyMinutes: 8 } },
    /^canary\.everyMinutes takes a whole number from 1 to 7/,
  ],
  [
    'without quotes',
    { ...base, groups: { 'market-data': 'closed' }, canary: {} },
    /^canary needs groups\.market-data/,
  ],
]);
