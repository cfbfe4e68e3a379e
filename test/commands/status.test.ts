/** The status of a deployment: what is read is said, what rings comes with its command, and what cannot be read is unknown. */

import assert from 'node:assert/strict';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, type GetMetricDataCommandInput } from '@aws-sdk/client-cloudwatch';
import { describe, test, vi } from 'vitest';
import type { StackTarget } from '../../infra/commands/readers.ts';
import {
  type AlarmState,
  deployedStatus,
  isWell,
  namesIn,
  type StatusPorts,
  showStatus,
  statusInWords,
  statusOf,
} from '../../infra/commands/status.ts';
import { StartError } from '../../infra/environment.ts';
import { alarmRows } from '../../infra/stack/alarm-table.ts';
import { noEndDays } from '../../lib/access-token/check.ts';
import { given } from './given.ts';

const alarm = (name: string, state = 'OK'): AlarmState => ({
  name,
  state,
  since: '2026-11-25T03:00:00.000Z',
  dimensions: [{ Name: 'Secret', Value: name }],
});

const figures: Readonly<Record<string, number>> = {
  limitLeft: 120,
  reads: 200,
  hits: 190,
  oldestQuoteSeconds: 41,
  staleAnswers: 3,
  tokenDaysLeft: 2.5,
  tradeEventsConnected: 1,
};

const ports = (change: Partial<StatusPorts> = {}): StatusPorts => ({
  target: { stackName: 'Countersign-prod', options: '--stage prod' },
  outputs: async () =>
    new Map([
      ['Version', '0.1.0'],
      ['LimitsKey', 'countersign.limits#published'],
      ['OrderJournalTable', 'journal'],
      ['TradingControlsTable', 'controls'],
    ]),
  alarms: async () => [
    alarm('upstream-failing'),
    alarm('quotes-stale', 'ALARM'),
    alarm('limit-used-up'),
    alarm('token-ending'),
    alarm('trade-events-unconnected'),
  ],
  figures: async (asked) =>
    new Map(asked.flatMap(({ id }) => (figures[id] === undefined ? [] : [[id, figures[id]] as const]))),
  disabledSchedules: async () => [],
  stops: async () => ['gateway since 2026-11-25 03:00:00 UTC by arn:aws:iam::123456789012:user/ada: drill'],
  limits: async () => 'Countersign-prod keeps upstream.limits as configured: published.',
  count: async (table) => (table === 'journal' ? 2 : 1),
  ...change,
});

test('all of it, in words', async () => {
  const report = await statusOf(ports());
  assert.equal(isWell(report), false);
  assert.equal(
    statusInWords(report, '--stage prod'),
    `Countersign-prod, version 0.1.0
These alarms ring:
- quotes-stale since 2026-11-25T03:00:00.000Z: countersign status --stage prod; docs/runbook.md, “Quotes are stale”
Trading is stopped: gateway since 2026-11-25 03:00:00 UTC by arn:aws:iam::123456789012:user/ada: drill.
Countersign-prod keeps upstream.limits as configured: published.
Left of the limit of market data, at least: 120; refused: 0.
Shared answers: 200 reads, 95 % hits.
The oldest quote in an answer was 41 s old; stale answers: 3.
The access token had 2.5 days left at its last check.
Trade events: connected.
Orders whose outcome is unknown: 2.
Mass cancels under way: 1.`,
  );
});

test('a token whose end nobody knows has no number of days', async () => {
  const report = await statusOf(ports({ figures: async () => new Map([['tokenDaysLeft', noEndDays]]) }));
  const words = statusInWords(report, '--stage prod');
  assert.match(words, /^The access token has no known end, or none is needed\.$/m);
});

test('the advice repeats the stack that the operator typed, which need not be named after a stage', async () => {
  const alarms = async () => alarmRows.map(([name]) => alarm(name, 'ALARM'));
  const words = statusInWords(await statusOf(ports({ alarms })), '--stack Brokerage');
  const advice = [...words.matchAll(/: countersign (.*?); docs/g)].map(([, line = '']) => line);
  assert.equal(advice.length, alarmRows.length);
  for (const line of advice)
    if (line.startsWith('preflight')) assert.match(line, /--stage STAGE$/);
    else {
      const found = await given<StackTarget | { readonly target: StackTarget }>(line);
      assert.equal('target' in found ? found.target.stackName : found.stackName, 'Brokerage', line);
    }
});

test('of several alarms those come first that the others may follow from, and they say so', async () => {
  const alarms = async () =>
    ['answers-failing', 'quotes-stale', 'orders-refused', 'upstream-failing'].map((name) =>
      alarm(name, 'ALARM'),
    );
  const words = statusInWords(await statusOf(ports({ alarms })), '--stage prod');
  const rung = words.split('\n').filter((line) => line.startsWith('- '));
  assert.deepEqual(
    rung.map((line) => line.slice(2, line.indexOf(' since '))),
    ['orders-refused', 'upstream-failing', 'answers-failing', 'quotes-stale'],
  );
  assert.deepEqual(
    rung.map((line) =>
      line.includes(', which may follow from upstream-failing: countersign status --stage prod;'),
    ),
    [false, false, true, true],
  );
});

test('a schedule that is switched off is not well, and comes with what switches it on', async () => {
  const [alarms, disabledSchedules] = [async () => [], async () => ['Countersign-prod-Settlement-A1']];
  const report = await statusOf(ports({ alarms, disabledSchedules }));
  assert.equal(isWell(report), false);
  assert.match(
    statusInWords(report, '--stage prod'),
    /^A schedule is switched off, .*: aws events enable-rule --name Countersign-prod-Settlement-A1$/m,
  );
});

test('an alarm of the operator’s own rings with the others', async () => {
  const report = await statusOf(ports({ alarms: async () => [alarm('orders-refused', 'ALARM')] }));
  assert.equal(isWell(report), false);
  assert.match(statusInWords(report, '--stage prod'), /^- orders-refused since \S+: an alarm of your own$/m);
});

test('the alarms of a construct within the stack go by their names in the table, those of another stack by none', () => {
  const nameIn = namesIn('Brokerage', new Set(['Brokerage-Quotes-upstream-failing']));
  for (const [alarmName, name] of [
    ['Brokerage-Quotes-upstream-failing', 'upstream-failing'],
    ['Brokerage-Other-upstream-failing', undefined],
    ['Brokerage-upstream-failing', 'upstream-failing'],
    ['Brokerage-orders-refused', 'orders-refused'],
  ] as const)
    assert.equal(nameIn(alarmName), name, alarmName);
});

test('where there is no alarm, none is said to be silent', async () => {
  const words = statusInWords(await statusOf(ports({ alarms: async () => [] })), '--stage prod');
  assert.match(words, /^The stack has no alarms\.$/m);
});

test('each figure is asked for of what its alarm is of', async () => {
  const asked: string[] = [];
  await statusOf(
    ports({
      async figures(all) {
        for (const { metric, dimensions } of all) asked.push(`${metric} ${dimensions[0]?.Value}`);
        return new Map();
      },
    }),
  );
  assert.ok(asked.includes('BudgetLeft limit-used-up'), asked.join());
  assert.ok(asked.includes('QuoteAge quotes-stale'), asked.join());
});

describe('what cannot be read', () => {
  const denied = () => Promise.reject(Object.assign(new Error('secret words'), { name: 'AccessDenied' }));
  for (const name of ['alarms', 'disabledSchedules', 'stops', 'figures', 'limits', 'count'] as const)
    test(`${name}: is unknown, hides no other part, and is not well`, async () => {
      const report = await statusOf(
        ports({ alarms: async () => [alarm('upstream-failing')], [name]: denied }),
      );
      assert.ok(report.unread.length > 0);
      assert.equal(isWell(report), undefined);
      assert.match(statusInWords(report, '--stage prod'), /^Unknown: .*AccessDenied$/m);
      assert.doesNotMatch(statusInWords(report, '--stage prod'), /secret words/);
      if (name !== 'limits') assert.match(statusInWords(report, '--stage prod'), /as configured/);
    });
});

test('the token’s days are those of its last check, which was up to a day ago', async () => {
  const lookBacks = new Map<string, number>();
  await statusOf(
    ports({
      async figures(all, lookBackMs) {
        for (const { id } of all) lookBacks.set(id, lookBackMs);
        return new Map();
      },
    }),
  );
  const hour = 3_600_000;
  for (const [id, lookBackMs] of lookBacks)
    assert.equal(lookBackMs > 24 * hour, id === 'tokenDaysLeft', `${id} ${lookBackMs}`);
  assert.ok(lookBacks.has('tokenDaysLeft') && lookBacks.has('limitLeft'));

  vi.stubEnv('AWS_REGION', 'eu-central-1');
  const asked = vi.spyOn(CloudWatchClient.prototype, 'send').mockImplementation(async () => ({
    MetricDataResults: [{ Id: 'tokenDaysLeft', Values: [2, 3] }],
  }));
  const figure = { id: 'tokenDaysLeft', metric: 'TokenDaysLeft', statistic: 'Minimum', dimensions: [] };
  const found = await deployedStatus({ stackName: 'Countersign-prod', options: '' }).figures(
    [figure],
    25 * hour,
  );
  const [[{ input }] = assert.fail()] = asked.mock.calls;
  const { StartTime, EndTime } = input as GetMetricDataCommandInput;
  vi.unstubAllEnvs();
  asked.mockRestore();
  assert.equal(Number(EndTime) - Number(StartTime), 25 * hour);
  assert.equal(found.get('tokenDaysLeft'), 2);
});

test('an alarm on several metrics knows what its metrics are of', async () => {
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  const Dimensions = [{ Name: 'Secret', Value: 'the-secret' }];
  const Metrics = [{ Expression: 'hits / reads' }, { MetricStat: { Metric: { Dimensions } } }];
  const answers = [
    vi.spyOn(CloudWatchClient.prototype, 'send').mockImplementation(async () => ({
      MetricAlarms: [{ AlarmName: 'Countersign-prod-quotes-stale', StateValue: 'OK', Metrics }],
    })),
    vi.spyOn(CloudFormationClient.prototype, 'send').mockImplementation(async () => ({})),
  ];
  const [found] = await deployedStatus({ stackName: 'Countersign-prod', options: '' }).alarms();
  vi.unstubAllEnvs();
  for (const one of answers) one.mockRestore();
  assert.deepEqual([found?.name, found?.state, found?.dimensions], ['quotes-stale', 'OK', Dimensions]);
});

test('who watches goes on watching while the stack cannot be read, if it could be at first', async () => {
  const written: string[] = [];
  let looks = 0;
  const away = new StartError('The stack Countersign-prod cannot be read: Rate exceeded');
  const watch = (outputs: StatusPorts['outputs']) =>
    showStatus(
      { watch: true, json: false },
      ports({ outputs }),
      (text) => void written.push(text),
      async () => {
        if (++looks === 3) throw new Error('interrupted');
      },
    );
  await assert.rejects(
    watch(async () => (looks === 1 ? Promise.reject(away) : new Map())),
    /^Error: interrupted$/,
  );
  assert.equal(written.length, 3);
  assert.equal(written[1], `Countersign-prod\nUnknown: ${away.message}`);
  assert.match(written[2] ?? '', /^These alarms ring:$/m);
  looks = 0;
  await assert.rejects(
    watch(() => Promise.reject(away)),
    (error) => error === away,
  );
  assert.equal(looks, 0);
});

test('a stage without orders says nothing of them, and no figures are no figures', async () => {
  const report = await statusOf(
    ports({
      outputs: async () => new Map(),
      alarms: async () => [alarm('upstream-failing')],
      figures: async () => new Map(),
    }),
  );
  assert.equal(isWell(report), true);
  assert.equal(statusInWords(report, '--stage prod'), 'Countersign-prod\nNo alarm of 1 rings.');
});

test('for programs it is one line of JSON', async () => {
  const written: string[] = [];
  await showStatus({ watch: false, json: true }, ports(), (text) => void written.push(text));
  assert.equal(JSON.parse(written.join()).unknownOrders, 2);
  assert.equal(written.length, 1);
});
