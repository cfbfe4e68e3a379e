/** Streams of quotes on managed instances: what a stage has with `live.capacity`, and what is refused. */

import assert from 'node:assert/strict';
import type { Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, test } from 'vitest';
import { quoteStreams } from '../../functions/compose/quote-streams.ts';
import { reservationFault } from '../../infra/commands/preflight-bounds.ts';
import { managed } from '../../infra/cost/cost-figures.ts';
import { resolveConfig } from '../../infra/stack/resolve-config.ts';
import { part } from '../support/parts.ts';
import { testRefusals } from './refusals.ts';
import { base, baseUrl, environmentOf, idOf, type Resource, synthesise, variablesOf } from './synthesise.ts';

const capacity = {
  subnets: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1', 'subnet-0123456789abcdef2'],
  securityGroups: ['sg-0123456789abcdef0'],
};
const { subnets } = capacity;
const live = { maxStreams: 10_000, capacity: { ...capacity, subnets: [...subnets, ...subnets] } };

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : (value as { 'Fn::Join': [string, readonly unknown[]] })['Fn::Join'][1]
        .map((piece) => (typeof piece === 'string' ? piece : JSON.stringify(piece)))
        .join('');

describe('with capacity', () => {
  const made = synthesise({ live });
  const [id, { Properties }] = made.functionOf('quote-streams');
  const [providerId, provider] = made.one('AWS::Lambda::CapacityProvider');

  test('the function takes many streams in each environment, with one loop, and reserves nothing', () => {
    assert.deepEqual(Properties.CapacityProviderConfig, {
      LambdaManagedInstancesCapacityProviderConfig: {
        CapacityProviderArn: { 'Fn::GetAtt': [providerId, 'Arn'] },
        ExecutionEnvironmentMemoryGiBPerVCpu: 2,
        PerExecutionEnvironmentMaxConcurrency: managed.streamsPerVCpu,
      },
    });
    assert.equal(Properties.PublishToLatestPublished, true);
    assert.deepEqual(Properties.FunctionScalingConfig, {
      MinExecutionEnvironments: 157,
      MaxExecutionEnvironments: 157,
    });
    assert.equal(Properties.MemorySize, 2048);
    assert.equal(Properties.Timeout, 900);
    assert.equal(Properties.ReservedConcurrentExecutions, undefined);
    assert.equal(variablesOf(Properties).AWS_LAMBDA_NODEJS_WORKER_COUNT, '1');
    assert.equal(reservationFault(resolveConfig({ ...base, live }), 10), undefined);
  });

  test('each environment reads the cache as often as one of so many may, and a caller has a tenth of all streams', () => {
    const env = environmentOf(Properties);
    const read = quoteStreams.read(env);
    assert.deepEqual(read.ok && read.settings.bounds, { perCaller: 1000, processes: 157 });
    const most = quoteStreams.read({ ...env, ...part('LIVE', { maxStreams: 480_000, processes: 300 }) });
    assert.equal(most.ok && most.settings.bounds.perCaller, 1000);
    const faulty = quoteStreams.read({ ...env, LIVE: '', CACHE: '' });
    assert.deepEqual(!faulty.ok && faulty.faults, ['CACHE: not set', 'LIVE: not set']);
  });

  test('instances stand where the deployer says, and their log is the stack’s', () => {
    const { VpcConfig, TelemetryConfig, InstanceRequirements, CapacityProviderScalingConfig } =
      provider.Properties as Record<string, object>;
    assert.deepEqual(VpcConfig, { SubnetIds: capacity.subnets, SecurityGroupIds: capacity.securityGroups });
    assert.deepEqual(InstanceRequirements, { Architectures: ['arm64'] });
    assert.deepEqual(CapacityProviderScalingConfig, { MaxVCpuCount: 326 });
    const { LogGroup } = (TelemetryConfig as { LoggingConfig: { LogGroup: { Ref: string } } }).LoggingConfig;
    assert.ok(made.template.Resources[LogGroup.Ref]?.Properties.RetentionInDays);
  });

  test('environments are there before the market opens, and go when it has closed', () => {
    const schedules = made.all('AWS::Scheduler::Schedule').map(([, one]) => one.Properties);
    assert.deepEqual(
      schedules.map(({ ScheduleExpression, ScheduleExpressionTimezone, Target }) => {
        const { Arn, Input } = Target as Record<string, unknown>;
        assert.match(textOf(Arn), /:scheduler:::aws-sdk:lambda:putFunctionScalingConfig$/);
        const { FunctionName, ...input } = JSON.parse(textOf(Input).replace(/"\{.*?\}"/, `"${id}"`));
        assert.equal(FunctionName, id);
        return [ScheduleExpression, ScheduleExpressionTimezone, input];
      }),
      [
        ['cron(0 9 ? * MON-FRI *)', 157],
        ['cron(15 16 ? * MON-FRI *)', 3],
      ].map(([expression, least]) => [
        expression,
        'America/New_York',
        {
          Qualifier: '$LATEST.PUBLISHED',
          FunctionScalingConfig: { MinExecutionEnvironments: least, MaxExecutionEnvironments: 157 },
        },
      ]),
    );
    const policies = made
      .all('AWS::IAM::Policy')
      .map(([, one]) => one.Properties as unknown as PolicyProperties);
    const own = policies.find(({ Roles }) =>
      schedules.every(({ Target }) => idOf((Target as { RoleArn: unknown }).RoleArn) === Roles[0]?.Ref),
    );
    const { Action, Resource } = own?.PolicyDocument.Statement[0] ?? {};
    assert.equal(Action, 'lambda:PutFunctionScalingConfig');
    assert.ok((Resource as unknown[]).every((one) => JSON.stringify(one).includes(id)));
  });

  test('a stage that had streams before gets another function: Lambda moves none to managed instances', () => {
    assert.notEqual(synthesise({ live: { maxStreams: 5 } }).functionOf('quote-streams')[0], id);
  });

  test('streams of orders stay as they are', () => {
    const both = synthesise({
      live: { ...live, maxOrderStreams: 5 },
      tradeEvents: {},
      groups: { orders: 'iam' },
      trading: { limits: 'none' },
    });
    const { ReservedConcurrentExecutions, CapacityProviderConfig } =
      both.functionOf('order-streams')[1].Properties;
    assert.deepEqual([ReservedConcurrentExecutions, CapacityProviderConfig], [5, undefined]);
  });

  test('synth says what it keeps and what that costs', () => {
    const said = Annotations.fromStack(made.app.node.findChild('Countersign-test') as Stack);
    said.hasInfo(
      '*',
      Match.stringLikeRegexp('157 vCPUs of EC2 from 09:00 to 16:15.*fee of 15 %.*docs/live.md'),
    );
    said.hasNoInfo('*', Match.stringLikeRegexp('^live reserves'));
    // A strict synth would end with one.
    assert.deepEqual(said.findWarning('*', Match.anyValue()), []);
  });

  test('cdk-nag, AwsSolutions', () => {
    const { violations } = new AwsSolutionsChecks(made.app).validateScope(made.app);
    assert.deepEqual(violations, []);
  });
});

interface PolicyProperties {
  readonly Roles: readonly { readonly Ref: string }[];
  readonly PolicyDocument: { readonly Statement: readonly Resource['Properties'][] };
}

const upstream = { baseUrl, limits: 'interface' };
const withLive = (change: object) => ({ upstream, marketDataUse: 'own-use', live: { ...live, ...change } });
const withCapacity = (change: object) => withLive({ capacity: { ...capacity, ...change } });

testRefusals([
  [
    'no network',
    withLive({ capacity: { securityGroups: ['sg-01234567'] } }),
    /^live\.capacity\.subnets is req/,
  ],
  ['no subnet', withCapacity({ subnets: [] }), /^live\.capacity\.subnets takes 1 to 16 ids of subnets/],
  ['the id of a network', withCapacity({ subnets: ['vpc-0123456789abcdef0'] }), /subnet-\.?$/],
  ['too few streams', withLive({ maxStreams: 100 }), /^live\.capacity is for more streams than 100: 3 env/],
  ['too many', withLive({ maxStreams: 19_201 }), /takes 301 environments of 64 .* set at most 19200\.$/],
  [
    'streams of orders only',
    {
      ...withLive({ maxStreams: undefined, maxOrderStreams: 5 }),
      tradeEvents: {},
      groups: { orders: 'iam' },
      trading: { limits: 'none' },
    },
    /^live\.capacity needs live\.maxStreams/,
  ],
  ['hours that end before they begin', withCapacity({ from: '17:00' }), /from 17:00 must come before/],
  [
    'a reserve',
    {
      ...withLive({}),
      limiter: { reserve: 0.5 },
      functions: {
        reservedConcurrency: { 'market-data': 5, instruments: 5, screeners: 5, fundamentals: 5 },
      },
    },
    /^live\.capacity needs limiter\.reserve 0/,
  ],
  ['thousands without it', withLive({ capacity: undefined }), /from 1 to 300 without live\.capacity/],
]);
