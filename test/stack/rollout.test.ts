/** A deployment step by step: what the API calls, what moves, and what brings the old version back. */

import assert from 'node:assert/strict';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, test } from 'vitest';
import { alarmTable } from '../../infra/stack/alarm-table.ts';
import { rolledBackBy } from '../../infra/stack/rollout.ts';
import { testRefusals } from './refusals.ts';
import { base, type Synthesised, synthesise } from './synthesise.ts';

const stage = {
  groups: { orders: 'iam', accounts: 'jwt' },
  auth: { issuer: 'https://issuer.example', clientIds: ['app'] },
  trading: { limits: { max_order_notional: '10000', max_orders_per_minute: 30 } },
  tradeEvents: {},
  live: { maxStreams: 5, maxOrderStreams: 5 },
} as const;
const behind = [
  'instruments',
  'market-data',
  'fundamentals',
  'screeners',
  'accounts',
  'orders',
  'order-cancels',
  'order-reads',
] as const;

const canary = synthesise({ ...stage, functions: { rollout: 'canary' } });
const atOnce = synthesise(stage);

const types = ({ template }: Synthesised) => Object.values(template.Resources).map(({ Type }) => Type);

test('without it there is no alias, no version and no deployment group', () => {
  assert.ok(!types(atOnce).some((type) => /Alias|Version|CodeDeploy/.test(type)));
});

describe('with it', () => {
  const aliases = canary.all('AWS::Lambda::Alias');
  const functionOfAlias = (id: string) =>
    (canary.template.Resources[id]!.Properties.FunctionName as { readonly Ref: string }).Ref;

  test('each function behind the API but those of streams has an alias of its version', () => {
    const expected = behind.map((name) => canary.functionOf(name)[0]);
    assert.deepEqual(aliases.map(([id]) => functionOfAlias(id)).sort(), expected.sort());
    for (const [id, { Properties }] of aliases) {
      const { 'Fn::GetAtt': [version = ''] = [] } = Properties.FunctionVersion as {
        readonly 'Fn::GetAtt'?: readonly string[];
      };
      assert.deepEqual(canary.template.Resources[version]?.Properties.FunctionName, {
        Ref: functionOfAlias(id),
      });
    }
  });

  test('the API calls the alias, and may call it and nothing else of the function', () => {
    const body = JSON.stringify(canary.one('AWS::ApiGateway::RestApi')[1].Properties.Body);
    const permissions = canary
      .all('AWS::Lambda::Permission')
      .filter(([, { Properties }]) => JSON.stringify(Properties.SourceArn).includes('execute-api'));
    const permitted = permissions.map(([, { Properties }]) => JSON.stringify(Properties.FunctionName));
    for (const [id] of aliases) {
      assert.ok(body.includes(`functions/",{"Ref":"${id}"},"/invocations`), id);
      assert.ok(permitted.includes(JSON.stringify({ Ref: id })), id);
      const own = functionOfAlias(id);
      assert.ok(!body.includes(`"${own}"`), own);
      assert.ok(!permitted.some((one) => one.includes(`"${own}"`)), own);
    }
    // Streams and the authorizer are called themselves.
    for (const name of ['quote-streams', 'order-streams'] as const)
      assert.ok(body.includes(`{"Fn::GetAtt":["${canary.functionOf(name)[0]}","Arn"]}`), name);
  });

  test('CodeDeploy moves each alias, a tenth first, and goes back for an alarm of failing answers or a stop', () => {
    const groups = canary.all('AWS::CodeDeploy::DeploymentGroup');
    assert.equal(groups.length, behind.length);
    const alarmIds = rolledBackBy.map(
      (name) =>
        canary
          .all('AWS::CloudWatch::Alarm')
          .find(([, { Properties }]) => Properties.AlarmName === `Countersign-test-${name}`)?.[0],
    );
    for (const [id, { Properties }] of groups) {
      assert.equal(Properties.DeploymentConfigName, 'CodeDeployDefault.LambdaCanary10Percent15Minutes', id);
      assert.deepEqual(
        Properties.AlarmConfiguration,
        { Alarms: alarmIds.map((Ref) => ({ Name: { Ref } })), Enabled: true },
        id,
      );
      assert.deepEqual(
        Properties.AutoRollbackConfiguration,
        { Enabled: true, Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'] },
        id,
      );
    }
    const moved = aliases.map(
      ([, alias]) =>
        (
          alias as unknown as {
            readonly UpdatePolicy: {
              readonly CodeDeployLambdaAliasUpdate: {
                readonly DeploymentGroupName: { readonly Ref: string };
              };
            };
          }
        ).UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref,
    );
    assert.deepEqual(moved.sort(), groups.map(([id]) => id).sort());
  });

  test('its steps take longer than the alarms look back', () => {
    for (const name of rolledBackBy) {
      const { minutes, periods = 1 } = alarmTable[name] as {
        readonly minutes: number;
        readonly periods?: number;
      };
      assert.ok(minutes * periods < 15, name);
    }
  });

  test('workers, streams and what they are started by stay as they are', () => {
    const of = ({ all }: Synthesised) =>
      ['AWS::Events::Rule', 'AWS::Lambda::EventSourceMapping'].map((type) => all(type));
    assert.deepEqual(of(canary), of(atOnce));
  });

  test('linear is a tenth each three minutes', () => {
    const [, { Properties }] = synthesise({ functions: { rollout: 'linear' } }).all(
      'AWS::CodeDeploy::DeploymentGroup',
    )[0]!;
    assert.equal(Properties.DeploymentConfigName, 'CodeDeployDefault.LambdaLinear10PercentEvery3Minutes');
  });

  test('cdk-nag, AwsSolutions', () => {
    const { success, violations } = new AwsSolutionsChecks(canary.app).validateScope(canary.app);
    assert.deepEqual([success, violations], [true, []], JSON.stringify(violations));
  });
});

testRefusals([
  [
    'another word',
    { ...base, functions: { rollout: 'blue-green' } },
    /functions\.rollout takes one of all-at-once, canary, linear/,
  ],
  [
    'without alarms',
    { ...base, functions: { rollout: 'canary' }, alarms: 'off' },
    /functions\.rollout needs alarms/,
  ],
]);
