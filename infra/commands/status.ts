/**
 * `countersign status`: shows a deployment's state in one look: version, alarms, the rest of the limit, the age of quotes,
 * the token, orders whose outcome is unknown, mass cancels under way, and disabled schedules. Parts that cannot be read
 * are reported as unknown.
 */

import { setTimeout as pause } from 'node:timers/promises';
import {
  CloudWatchClient,
  type Dimension,
  GetMetricDataCommand,
  type MetricAlarm,
  paginateDescribeAlarms,
} from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { DescribeRuleCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { massCancelPartition } from '../../functions/aws/dynamo-mass-cancel-requests.ts';
import { unsettledAttribute, unsettledIndex } from '../../functions/aws/dynamo-order-entries.ts';
import { noEndDays } from '../../lib/access-token/check.ts';
import { StartError } from '../environment.ts';
import { type AlarmName, alarmRows, alarmTable, causesOf, firstCommand } from '../stack/alarm-table.ts';
import { orderJournalTableOutput, tradingControlsTableOutput, versionOutput } from '../stack/outputs.ts';
import { limitsCommand } from './limits.ts';
import type { StackTarget } from './readers.ts';
import { deployedOf } from './stack-resources.ts';
import { outputsOf } from './stack-secret.ts';
import { deployedTrading } from './trading.ts';
import { stopWords } from './trading-words.ts';

interface StatusOptions {
  /** Whether to look again every half a minute, until the process is ended. */
  readonly watch: boolean;
  readonly json: boolean;
}

export interface AlarmState {
  /** Name behind the deployment's prefix: one of the alarm table, or an operator's own. */
  readonly name: string;
  readonly state: string;
  readonly since: string | undefined;
  readonly dimensions: readonly Dimension[];
}

/** Sources of a status. */
export interface StatusPorts {
  readonly target: StackTarget;
  outputs(): Promise<ReadonlyMap<string, string>>;
  /** Alarms whose names begin with the deployment's. */
  alarms(): Promise<readonly AlarmState[]>;
  /** Names of the deployment's schedules that are switched off. */
  disabledSchedules(): Promise<readonly string[]>;
  /** Newest value of each figure within the time, by the figure's id; absent without a value. */
  figures(asked: readonly Figure[], lookBackMs: number): Promise<ReadonlyMap<string, number>>;
  /** One sentence for each stop of trading. */
  stops(): Promise<readonly string[]>;
  /** One sentence on the limits that functions keep. */
  limits(): Promise<string>;
  /** Counts the items under a key of the table, or of an index. */
  count(table: string, key: readonly [name: string, value: string], index?: string): Promise<number>;
}

interface Figure {
  readonly id: string;
  readonly metric: string;
  readonly statistic: string;
  readonly dimensions: readonly Dimension[];
}

/** Figures by their names in the report: the metric, the alarm that has the metric's dimensions, and the statistic. */
const reportedFigures = {
  limitLeft: ['BudgetLeft', 'limit-used-up', 'Minimum'],
  limitRefused: ['BudgetRefused', 'limit-used-up', 'Sum'],
  reads: ['CacheReads', 'quotes-stale', 'Sum'],
  hits: ['CacheHits', 'quotes-stale', 'Sum'],
  oldestQuoteSeconds: ['QuoteAge', 'quotes-stale', 'Maximum'],
  staleAnswers: ['QuotesStale', 'quotes-stale', 'Sum'],
  upstreamFailures: ['UpstreamFailed', 'upstream-failing', 'Sum'],
  tokenDaysLeft: ['TokenDaysLeft', 'token-ending', 'Minimum'],
  streamedSymbols: ['MarketStreamSymbols', 'market-stream-away', 'Minimum'],
  streamSilenceSeconds: ['MarketStreamSilenceSeconds', 'market-stream-away', 'Maximum'],
  tradeEventsConnected: ['TradeEventsConnected', 'trade-events-unconnected', 'Minimum'],
} as const satisfies Readonly<Record<string, readonly [string, AlarmName, string]>>;

export interface StatusReport {
  readonly stack: string;
  readonly version?: string | undefined;
  readonly alarms?: readonly Pick<AlarmState, 'name' | 'state' | 'since'>[];
  readonly limits?: string | undefined;
  /** Values of the last five minutes, for the token of its last check; one without data is absent. */
  readonly figures?: Readonly<Partial<Record<keyof typeof reportedFigures, number>>>;
  /** Orders whose outcome is unknown; undefined if orders are closed. */
  readonly unknownOrders?: number | undefined;
  /** Requests to cancel open orders that are not finished. */
  readonly massCancels?: number | undefined;
  readonly disabledSchedules?: readonly string[] | undefined;
  /** Stops of trading, with scope and reason. */
  readonly stops?: readonly string[] | undefined;
  /** Parts that could not be read, with the reason. */
  readonly unread: readonly string[];
}

/** Reads each part by itself: one that fails is named, and hides no other. */
export async function statusOf(ports: StatusPorts): Promise<StatusReport> {
  const unread: string[] = [];
  const part = <T>(name: string, read: () => Promise<T>): Promise<T | undefined> =>
    read().catch((error: Error) => {
      unread.push(`${name}: ${error.name === 'Error' ? error.message : error.name}`);
      return undefined;
    });
  const outputs = await ports.outputs();
  const [journal, controls] = [outputs.get(orderJournalTableOutput), outputs.get(tradingControlsTableOutput)];
  const alarms = await part('alarms', () => ports.alarms());
  const [figures, disabledSchedules, stops, limits, unknownOrders, massCancels] = await Promise.all([
    part('figures', async () => alarms && figuresFrom(ports, figuresOf(alarms))),
    part('schedules', () => ports.disabledSchedules()),
    controls === undefined ? undefined : part('stops of trading', () => ports.stops()),
    outputs.has('LimitsKey') ? part('limits', () => ports.limits()) : undefined,
    journal === undefined
      ? undefined
      : part('unknown orders', () =>
          ports.count(journal, [unsettledAttribute, 'placements'], unsettledIndex),
        ),
    controls === undefined
      ? undefined
      : part('mass cancels', () => ports.count(controls, ['pk', massCancelPartition])),
  ]);
  const version = outputs.get(versionOutput);
  return {
    stack: ports.target.stackName,
    version,
    ...(alarms && { alarms: alarms.map(({ name, state, since }) => ({ name, state, since })) }),
    limits,
    ...(figures && { figures: Object.fromEntries(figures) }),
    unknownOrders,
    massCancels,
    disabledSchedules,
    stops,
    unread,
  };
}

/** Takes each metric's dimensions from its alarm. */
const figuresOf = (alarms: readonly AlarmState[]): readonly Figure[] =>
  Object.entries(reportedFigures).flatMap(([id, [metric, name, statistic]]) => {
    const dimensions = alarms.find((one) => one.name === name)?.dimensions;
    return dimensions ? [{ id, metric, statistic, dimensions }] : [];
  });

async function figuresFrom({ figures }: StatusPorts, all: readonly Figure[]) {
  const isOfToken = ({ id }: Figure) => id === 'tokenDaysLeft';
  const others = all.filter((one) => !isOfToken(one));
  // The scheduled check reads the token at least once a day.
  const ofToken = await figures(all.filter(isOfToken), 25 * 3_600_000);
  return new Map([...ofToken, ...(await figures(others, 300_000))]);
}

export function isWell({ alarms, disabledSchedules = [], unread }: StatusReport): boolean | undefined {
  if (disabledSchedules.length > 0 || alarms?.some(({ state }) => state === 'ALARM')) return false;
  return unread.length > 0 || !alarms ? undefined : true;
}

/**
 * Describes a status in some lines for an operator.
 *
 * @param options names the stage or stack as typed, for the advice
 */
export function statusInWords(report: StatusReport, options: string): string {
  const { stack, version, alarms, limits, figures = {}, unknownOrders, massCancels, unread } = report;
  const { reads, hits = 0, oldestQuoteSeconds: age, staleAnswers, tokenDaysLeft, limitLeft } = figures;
  const raised = alarms?.filter(({ state }) => state === 'ALARM') ?? [];
  const { disabledSchedules = [], stops = [] } = report;
  const { limitRefused, tradeEventsConnected, streamedSymbols, streamSilenceSeconds } = figures;
  const ifKnown = (value: unknown, words: string) => (value === undefined ? [] : [words]);
  return [
    `${stack}${version === undefined ? '' : `, version ${version}`}`,
    ...(alarms ? [alarmWords(alarms.length, raised.length)] : []),
    ...ringingWords(raised, options),
    ...disabledSchedules.map(
      (name) =>
        `A schedule is switched off, and its function does not run: aws events enable-rule --name ${name}`,
    ),
    ...stops.map((one) => `Trading is stopped: ${one}.`),
    ...ifKnown(limits, String(limits)),
    ...ifKnown(
      limitLeft,
      `Left of the limit of market data, at least: ${limitLeft}; refused: ${limitRefused ?? 0}.`,
    ),
    ...ifKnown(reads, `Shared answers: ${reads} reads, ${Math.round((100 * hits) / (reads || 1))} % hits.`),
    ...ifKnown(age, `The oldest quote in an answer was ${age} s old; stale answers: ${staleAnswers ?? 0}.`),
    ...ifKnown(
      tokenDaysLeft,
      (tokenDaysLeft ?? 0) < noEndDays
        ? `The access token had ${tokenDaysLeft} days left at its last check.`
        : 'The access token has no known end, or none is needed.',
    ),
    ...ifKnown(
      streamedSymbols,
      `Market stream: ${streamedSymbols} symbols at least${streamSilenceSeconds === undefined ? '' : `, silent for ${streamSilenceSeconds.toFixed(1)} s at most`}.`,
    ),
    ...ifKnown(
      tradeEventsConnected,
      `Trade events: ${tradeEventsConnected === 1 ? 'connected' : 'not connected all the time'}.`,
    ),
    ...ifKnown(unknownOrders, `Orders whose outcome is unknown: ${unknownOrders}.`),
    ...ifKnown(massCancels, `Mass cancels under way: ${massCancels}.`),
    ...unread.map((one) => `Unknown: ${one}`),
  ].join('\n');
}

function alarmWords(all: number, raised: number): string {
  if (all === 0) return 'The stack has no alarms.';
  return raised === 0 ? `No alarm of ${all} rings.` : 'These alarms ring:';
}

/** Lists first the causes, and then the alarms that may follow from them. */
function ringingWords(raised: NonNullable<StatusReport['alarms']>, options: string): readonly string[] {
  const names = raised.map(({ name }) => name);
  const lines = raised.map(({ name, since }) => {
    const head = `- ${name}${since === undefined ? '' : ` since ${since}`}`;
    if (!isOfTable(name)) return { line: `${head}: an alarm of your own`, follows: false };
    const causes = causesOf(name, names);
    const follows = causes.length > 0;
    const after = follows ? `, which may follow from ${causes.join(', ')}` : '';
    return { line: `${head}${after}: ${adviceOf(name, options)}`, follows };
  });
  return [...lines.filter((one) => !one.follows), ...lines.filter((one) => one.follows)].map(
    ({ line }) => line,
  );
}

const isOfTable = (name: string): name is AlarmName => Object.hasOwn(alarmTable, name);

/** Names the first command and the runbook's chapter. Preflight reads a stage's configuration, so it takes no stack's name. */
function adviceOf(name: AlarmName, options: string): string {
  const row = alarmTable[name];
  const isOfStage = row.first?.startsWith('countersign preflight') && !options.startsWith('--stage');
  return `${firstCommand(row, isOfStage ? undefined : options)}; docs/runbook.md, “${row.runbook}”`;
}

/** @returns the report; with `watch` it never ends, even while the stack cannot be read */
export async function showStatus(
  { json, watch }: StatusOptions,
  ports: StatusPorts,
  write: (text: string) => void,
  wait: () => Promise<unknown> = () => pause(30_000),
): Promise<StatusReport> {
  for (let looks = 0; ; looks++) {
    const report = await statusOf(ports).catch((error: unknown): StatusReport => {
      if (looks === 0 || !(error instanceof StartError)) throw error;
      return { stack: ports.target.stackName, unread: [error.message] };
    });
    write(json ? JSON.stringify(report) : statusInWords(report, ports.target.options));
    if (!watch) return report;
    await wait();
  }
}

/**
 * Finds an alarm's name in the table, or the part behind the stack's name that an operator chose. Undefined for an alarm
 * of another stack whose name begins alike.
 *
 * @param own names of the stack's own resources; within a construct they contain the construct's path, too
 */
export const namesIn =
  (stackName: string, own: ReadonlySet<string>) =>
  (alarmName: string): string | undefined => {
    const name = alarmName.slice(stackName.length + 1);
    const ofTable = alarmRows.find(([one]) => alarmName.endsWith(`-${one}`))?.[0];
    return ofTable === undefined || ofTable === name || own.has(alarmName) ? (ofTable ?? name) : undefined;
  };

/** Endpoint, Region and credentials come from the environment, as for every AWS command. */
export function deployedStatus(target: StackTarget): StatusPorts {
  const { stackName } = target;
  const cloudWatch = new CloudWatchClient();
  const dynamo = new DynamoDBClient();
  const events = new EventBridgeClient();
  return {
    target,
    outputs: () => outputsOf(stackName),
    async stops() {
      const { admin } = await deployedTrading({
        target,
        verb: 'limits',
        scope: { kind: 'gateway' },
        limit: 1,
        json: false,
      });
      return (await admin.list()).flatMap((one) => stopWords(one) ?? []);
    },
    limits: async () => (await limitsCommand({ target, reset: false })).lines.join(),
    async alarms() {
      const found: MetricAlarm[] = [];
      for await (const { MetricAlarms = [], CompositeAlarms = [] } of paginateDescribeAlarms(
        { client: cloudWatch },
        { AlarmNamePrefix: `${stackName}-`, AlarmTypes: ['MetricAlarm', 'CompositeAlarm'] },
      ))
        found.push(...MetricAlarms, ...CompositeAlarms);
      const own = new Set((await deployedOf(stackName)).map(({ physicalId }) => physicalId));
      const nameIn = namesIn(stackName, own);
      return found.flatMap(({ AlarmName = '', Dimensions, Metrics = [], ...state }) => {
        const name = nameIn(AlarmName);
        // The metrics of an expression are of one subject.
        const all = [Dimensions, ...Metrics.map(({ MetricStat }) => MetricStat?.Metric?.Dimensions)];
        const dimensions = all.find((one) => one?.length) ?? [];
        const since = state.StateUpdatedTimestamp?.toISOString();
        return name === undefined ? [] : { name, state: state.StateValue ?? 'unknown', since, dimensions };
      });
    },
    async disabledSchedules() {
      const disabled: string[] = [];
      for (const { type, physicalId: Name } of await deployedOf(stackName)) {
        // A rule on another bus than the default one has no schedule.
        if (type !== 'AWS::Events::Rule' || Name.includes('|')) continue;
        const { State, ScheduleExpression } = await events.send(new DescribeRuleCommand({ Name }));
        if (State === 'DISABLED' && ScheduleExpression) disabled.push(Name);
      }
      return disabled;
    },
    async figures(figures, lookBackMs) {
      if (figures.length === 0) return new Map();
      const end = Date.now();
      const { MetricDataResults = [] } = await cloudWatch.send(
        new GetMetricDataCommand({
          StartTime: new Date(end - lookBackMs),
          EndTime: new Date(end),
          MetricDataQueries: figures.map(({ id, metric, statistic, dimensions }) => ({
            Id: id,
            MetricStat: {
              Metric: { Namespace: 'Countersign', MetricName: metric, Dimensions: [...dimensions] },
              Period: 300,
              Stat: statistic,
            },
          })),
        }),
      );
      return new Map(
        MetricDataResults.flatMap(({ Id = '', Values: [value] = [] }) =>
          value === undefined ? [] : [[Id, value]],
        ),
      );
    },
    async count(TableName, [name, value], IndexName) {
      const { Count = 0, LastEvaluatedKey } = await dynamo.send(
        new QueryCommand({
          TableName,
          ...(IndexName && { IndexName }),
          Select: 'COUNT',
          KeyConditionExpression: '#key = :value',
          ExpressionAttributeNames: { '#key': name },
          ExpressionAttributeValues: { ':value': { S: value } },
        }),
      );
      if (LastEvaluatedKey) throw new Error(`more than ${Count}`);
      return Count;
    },
  };
}
