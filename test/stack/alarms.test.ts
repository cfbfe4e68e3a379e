/** The table of alarms as resources: each of its rows is an alarm of what is there, and somebody hears of it. */

import assert from 'node:assert/strict';
import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { describe, test } from 'vitest';
import { functionsOf, type WorkerName, workerNames } from '../../functions/rows.ts';
import { type AlarmRow, alarmRows, alarmTable, noneIsTold } from '../../infra/stack/alarm-table.ts';
import { metricOf } from '../../infra/stack/alarms.ts';
import { type Group, groups } from '../../lib/catalogue/index.ts';
import { ringing } from '../support/evaluate-alarm.ts';
import { testRefusals } from './refusals.ts';
import { type Synthesised, synthesise } from './synthesise.ts';

const topic = (name: string) => `arn:aws:sns:eu-central-1:123456789012:${name}`;

/** Every part that has an alarm. */
const whole = {
  groups: { orders: 'iam', accounts: 'iam', watchlists: 'iam', screeners: 'iam' },
  accessToken: {},
  canary: {},
  tradeEvents: {},
  marketStream: { url: 'mqtts://quotes.example:1883' },
  events: {},
  live: { maxStreams: 10, maxOrderStreams: 10 },
  trading: { limits: 'none', stopOnAlarms: {} },
} as const;

interface AlarmProperties {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions?: readonly unknown[];
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
  readonly Metrics?: readonly { readonly MetricStat?: object }[];
  readonly Threshold: number;
}

/** By the name behind the deployment's. */
const alarmsOf = (from: Synthesised): ReadonlyMap<string, AlarmProperties> =>
  new Map(
    from.all('AWS::CloudWatch::Alarm').map(([, { Properties }]) => {
      const own = Properties as unknown as AlarmProperties;
      return [own.AlarmName.replace('Countersign-test-', ''), own];
    }),
  );

const all = synthesise({ ...whole, alarmTopic: topic('all') });
const alarms = alarmsOf(all);

test('each row is an alarm where everything is on, and there is no other', () => {
  assert.deepEqual([...alarms.keys()], Object.keys(alarmTable));
});

/** What is wrong with these, the API or the queue tells. */
const heardElsewhere: readonly WorkerName[] = ['authorizer', 'quote-lookup'];

test('each worker has an alarm', () => {
  const watched = new Set<string>(alarmRows.map(([, { of }]) => of));
  assert.deepEqual(
    workerNames.filter((name) => !watched.has(name)),
    heardElsewhere,
  );
});

test('each is of a resource of the stack, and says what to do in words that CloudWatch and a template can carry', () => {
  for (const [name, { Dimensions = [], AlarmDescription }] of alarms) {
    for (const { Name, Value } of Dimensions.filter((one) => !['ApiName', 'Stage'].includes(one.Name))) {
      const [id = ''] = Object.values(Value as Record<string, string | [string]>).flat();
      assert.ok(all.template.Resources[id], `${name}: ${Name}`);
    }
    assert.match(AlarmDescription, /^[ -~\n]{40,1024}$/, name);
    assert.match(
      AlarmDescription,
      /\n\nFirst: countersign [\w ]+ --stage test\b.*\n\nThen: docs\/runbook\.md#[a-z0-9-]+$/,
      name,
    );
  }
});

test('an alarm adds up ten metrics at most, as CloudWatch does, and those of all functions behind the API but of streams', () => {
  const count = (name: string) =>
    alarms.get(name)?.Metrics?.filter(({ MetricStat }) => MetricStat).length ?? assert.fail(name);
  const behind = (Object.keys(groups) as Group[])
    .flatMap(functionsOf)
    .filter((name) => name !== 'quote-streams' && name !== 'order-streams')
    .filter((name) => all.all('AWS::Lambda::Function').some(([id]) => id.startsWith(name.replace('-', ''))));
  assert.equal(count('functions-failing'), behind.length);
  assert.equal(count('functions-throttled'), behind.length);
  assert.ok(behind.length <= 10, `${behind}`);
});

test('a row may be a ratio: CloudWatch divides, and what are too few to judge are no figure', () => {
  const row: AlarmRow = {
    ...alarmTable['quotes-stale'],
    metric: {
      metrics: { stale: 'QuotesStale', reads: 'CacheReads' },
      formula: 'IF(reads >= 100, stale / reads)',
      words: 'part of `CacheReads` that are `QuotesStale`',
    },
    minutes: 5,
    periods: 1,
    threshold: 0.1,
  };
  const stack = new Stack();
  const metric = metricOf(row, { quotes: 'a-secret', 'api-functions': [] }, 'v1');
  new Alarm(stack, 'ratio', { metric, threshold: 0.1, evaluationPeriods: 1 });
  const [{ Properties } = assert.fail()] = Object.values(
    Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm') as Record<
      string,
      { readonly Properties: AlarmProperties }
    >,
  );
  const statOf = (MetricName: string) => ({
    Metric: {
      Namespace: 'Countersign',
      MetricName,
      Dimensions: [{ Name: 'Secret', Value: 'a-secret' }],
    },
    Period: 300,
    Stat: 'Sum',
  });
  assert.deepEqual(Properties.Metrics, [
    {
      Id: 'expr_1',
      Expression: 'IF(reads >= 100, stale / reads)',
      Label: 'part of CacheReads that are QuotesStale',
      ReturnData: true,
    },
    { Id: 'stale', MetricStat: statOf('QuotesStale'), ReturnData: false },
    { Id: 'reads', MetricStat: statOf('CacheReads'), ReturnData: false },
  ]);
  const minute = 60_000;
  const counted = (reads: number, stale: number) =>
    [
      ['CacheReads', reads],
      ['QuotesStale', stale],
    ].map(([name, value]) => ({ at: 0, metric: `${name}`, of: 'a-secret', value: Number(value) }));
  const rings = (points: ReturnType<typeof counted>) =>
    ringing({ row, of: 'a-secret', threshold: 0.1 }, points, { from: 0, to: 5 * minute }).length > 0;
  assert.deepEqual([counted(100, 10), counted(100, 9), counted(99, 99), []].map(rings), [
    true,
    false,
    false,
    false,
  ]);
});

test('where a part is not there, its alarms are not', () => {
  const always: readonly string[] = [
    ...['account', 'api', 'api-functions'],
    ...['limiter-table', 'market-data', 'quotes', 'secret'],
  ];
  assert.deepEqual(
    [...alarmsOf(synthesise()).keys()],
    alarmRows.flatMap(([name, { of }]) => (always.includes(of) ? [name] : [])),
  );
});

test('the days before the end of a token are the stage’s', () => {
  const days = (alarmDaysBefore?: number) =>
    alarmsOf(synthesise({ accessToken: { ...(alarmDaysBefore && { alarmDaysBefore }) } })).get('token-ending')
      ?.Threshold;
  assert.deepEqual([days(), days(7)], [3, 7]);
});

describe('who hears', () => {
  const told = (from: Synthesised) => {
    const { warnings, infos } = annotationsOf(from);
    assert.deepEqual(warnings, []);
    return !infos.includes(noneIsTold);
  };

  test('every alarm of a stack goes to its topic', () => {
    for (const [name, { AlarmActions }] of alarms) assert.deepEqual(AlarmActions, [topic('all')], name);
    assert.ok(told(all));
  });

  test('a part with a topic of its own goes there alone', () => {
    const parts = {
      accessToken: { alarmTopic: topic('accessToken') },
      events: { alarmTopic: topic('events') },
      limiter: { alarmTopic: topic('limiter') },
      tradeEvents: { alarmTopic: topic('tradeEvents') },
    };
    const found = alarmsOf(synthesise({ ...whole, ...parts, alarmTopic: topic('all') }));
    for (const [name, { part }] of alarmRows)
      assert.deepEqual(found.get(name)?.AlarmActions, [topic(part ?? 'all')], name);
    assert.ok(!told(synthesise({ ...whole, ...parts })), 'those of no part go nowhere');
  });

  test('an address makes a topic, to which the alarms of the account may publish', () => {
    const from = synthesise({ alarmEmail: 'ops@example.com' });
    const [id] = from.one('AWS::SNS::Topic');
    for (const [name, { AlarmActions }] of alarmsOf(from))
      assert.deepEqual(AlarmActions, [{ Ref: id }], name);
    const [, { Properties }] = from.one('AWS::SNS::Subscription');
    assert.deepEqual([Properties.Protocol, Properties.Endpoint], ['email', 'ops@example.com']);
    const { Statement } = from.one('AWS::SNS::TopicPolicy')[1].Properties.PolicyDocument as {
      readonly Statement: readonly Readonly<Record<string, unknown>>[];
    };
    const allowed = Statement.filter(({ Effect }) => Effect === 'Allow');
    assert.deepEqual(
      allowed.map(({ Action, Principal, Condition }) => [Action, Principal, Condition]),
      [
        [
          'sns:Publish',
          { Service: 'cloudwatch.amazonaws.com' },
          { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        ],
      ],
    );
    assert.ok(told(from));
  });

  test('without either an alarm tells nothing, is there all the same, and synth says so', () => {
    const from = synthesise(whole);
    for (const [name, { AlarmActions }] of alarmsOf(from)) assert.equal(AlarmActions, undefined, name);
    assert.ok(!told(from));
  });
});

function annotationsOf({ app }: Synthesised) {
  const metadata = app.node.findAll().flatMap(({ node }) => node.metadata);
  const of = (type: string) => metadata.filter((one) => one.type === type).map(({ data }) => data as string);
  return { infos: of('aws:cdk:info'), warnings: of('aws:cdk:warning') };
}

const upstream = { baseUrl: 'https://upstream.example', limits: 'interface' };
testRefusals([
  ['no topic', { upstream, alarmTopic: 'me' }, /^alarmTopic takes the ARN of an SNS topic/],
  ['no address', { upstream, alarmEmail: 'me' }, /^alarmEmail takes an address for e-mail\.$/],
  [
    'both',
    { upstream, alarmEmail: 'me@example.com', alarmTopic: topic('all') },
    /^alarmEmail makes a topic of its own: take one of alarmEmail and alarmTopic\.$/,
  ],
]);
