/** Reads from AWS for `countersign prove`: whether a stack exists, the runs of its functions, and sums of CloudWatch metrics. */

import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import { StartError } from '../../environment.ts';
import { accessFault } from '../aws.ts';
import type { DeployedResource } from '../stack-resources.ts';
import { median } from './prove-calls.ts';

/** @returns CloudFormation's status of the stack; undefined if it does not exist */
export async function stackStatus(StackName: string): Promise<string | undefined> {
  try {
    const { Stacks: [stack] = [] } = await new CloudFormationClient().send(
      new DescribeStacksCommand({ StackName }),
    );
    return stack?.StackStatus === 'DELETE_COMPLETE' ? undefined : stack?.StackStatus;
  } catch (error) {
    // CloudFormation reports a missing stack only by this text.
    if (/does not exist/.test(String(error))) return undefined;
    throw (
      accessFault(error) ?? new StartError(`The stack ${StackName} cannot be read: ${(error as Error).name}.`)
    );
  }
}

/** One run of a function, as Lambda reports it. */
export interface MeasuredRun {
  readonly function: string;
  /** End of the run, in milliseconds since the epoch. */
  readonly at: number;
  readonly ms: number;
  readonly billedMs: number;
  readonly memoryMiB: number;
  readonly usedMiB: number;
  /** Time to load the function; only in the first run of an instance. */
  readonly initMs?: number;
}

const reportLine =
  /^REPORT RequestId: \S+\s+Duration: ([\d.]+) ms\s+Billed Duration: ([\d.]+) ms\s+Memory Size: (\d+) MB\s+Max Memory Used: (\d+) MB(?:\s+Init Duration: ([\d.]+) ms)?/;

/** Parses Lambda's REPORT line. @returns undefined for any other line */
export function runIn(line: string, name: string, at: number): MeasuredRun | undefined {
  const found = reportLine.exec(line);
  if (!found) return undefined;
  const [ms = 0, billedMs = 0, memoryMiB = 0, usedMiB = 0] = found.slice(1, 5).map(Number);
  const init = found[5];
  return {
    function: name,
    at,
    ms,
    billedMs,
    memoryMiB,
    usedMiB,
    ...(init !== undefined && { initMs: Number(init) }),
  };
}

export async function runsOf(
  deployed: readonly DeployedResource[],
  startTime: number,
): Promise<readonly MeasuredRun[]> {
  const client = new CloudWatchLogsClient();
  const runs: MeasuredRun[] = [];
  for (const { id, type, physicalId: logGroupName } of deployed)
    if (type === 'AWS::Logs::LogGroup')
      for await (const { events = [] } of paginateFilterLogEvents(
        { client },
        { logGroupName, startTime, filterPattern: 'REPORT' },
      ))
        for (const { message = '', timestamp = 0 } of events)
          runs.push(...[runIn(message, id.replace(/Logs$/, ''), timestamp)].flatMap((run) => run ?? []));
  return runs;
}

/** Tells whether a function whose id begins with `part` has logged a text. */
export async function hasLogged(
  deployed: readonly DeployedResource[],
  part: string,
  text: string,
  startTime: number,
): Promise<boolean> {
  const group = deployed.find(({ id, type }) => type === 'AWS::Logs::LogGroup' && id.startsWith(part));
  if (!group) return false;
  const filter = { logGroupName: group.physicalId, startTime, filterPattern: text };
  for await (const { events = [] } of paginateFilterLogEvents({ client: new CloudWatchLogsClient() }, filter))
    if (events.length > 0) return true;
  return false;
}

export interface StartUp {
  readonly function: string;
  readonly starts: number;
  /** Medians: Lambda's time to load the function, and the caller's whole wait in such a run. */
  readonly initMs: number;
  readonly firstMs: number;
  /** Median of the runs in a warm instance; undefined without one. */
  readonly warmMs: number | undefined;
  readonly usedMiB: number;
}

/** Summarises the functions that started during the run of `prove`. */
export function startUpOf(runs: readonly MeasuredRun[]): readonly StartUp[] {
  const names = [...new Set(runs.flatMap((run) => (run.initMs === undefined ? [] : [run.function])))];
  return names.sort().map((name) => {
    const own = runs.filter((run) => run.function === name);
    const cold = own.flatMap(({ initMs, ms }) => (initMs === undefined ? [] : [{ initMs, ms }]));
    const warm = own.filter(({ initMs }) => initMs === undefined);
    return {
      function: name,
      starts: cold.length,
      initMs: Math.round(median(cold.map(({ initMs }) => initMs))),
      firstMs: Math.round(median(cold.map(({ initMs, ms }) => initMs + ms))),
      warmMs: warm.length > 0 ? Math.round(median(warm.map(({ ms }) => ms))) : undefined,
      usedMiB: Math.max(...own.map(({ usedMiB }) => usedMiB)),
    };
  });
}

/** Sums since the deployment; one for which CloudWatch has no figures yet is absent. */
export type Sums = Readonly<Partial<Record<SumName, number>>>;
type SumName = keyof typeof summedMetrics;

const summedMetrics = {
  invocations: ['AWS/Lambda', 'Invocations', 'FunctionName', 'AWS::Lambda::Function'],
  errors: ['AWS/Lambda', 'Errors', 'FunctionName', 'AWS::Lambda::Function'],
  throttles: ['AWS/Lambda', 'Throttles', 'FunctionName', 'AWS::Lambda::Function'],
  readUnits: ['AWS/DynamoDB', 'ConsumedReadCapacityUnits', 'TableName', 'AWS::DynamoDB::Table'],
  writeUnits: ['AWS/DynamoDB', 'ConsumedWriteCapacityUnits', 'TableName', 'AWS::DynamoDB::Table'],
  readThrottles: ['AWS/DynamoDB', 'ReadThrottleEvents', 'TableName', 'AWS::DynamoDB::Table'],
  writeThrottles: ['AWS/DynamoDB', 'WriteThrottleEvents', 'TableName', 'AWS::DynamoDB::Table'],
  logBytes: ['AWS/Logs', 'IncomingBytes', 'LogGroupName', 'AWS::Logs::LogGroup'],
} as const;

/** CloudWatch's maximum for one call. */
const mostQueries = 500;

export async function sumsOf(deployed: readonly DeployedResource[], from: number, to: number): Promise<Sums> {
  const queries = Object.entries(summedMetrics).flatMap(([name, [namespace, metric, dimension, type]]) =>
    deployed
      .filter((one) => one.type === type)
      .map((one, index) => ({
        Id: `${name}_${index}`,
        MetricStat: {
          Metric: {
            Namespace: namespace,
            MetricName: metric,
            Dimensions: [{ Name: dimension, Value: one.physicalId }],
          },
          Period: 60,
          Stat: 'Sum',
        },
      })),
  );
  if (queries.length === 0) return {};
  const minute = 60_000;
  const { MetricDataResults = [] } = await new CloudWatchClient().send(
    new GetMetricDataCommand({
      StartTime: new Date(from - (from % minute)),
      EndTime: new Date(to + minute),
      MetricDataQueries: queries.slice(0, mostQueries),
    }),
  );
  const found: Partial<Record<SumName, number>> = {};
  for (const { Id = '', Values = [] } of MetricDataResults) {
    const name = Id.split('_')[0] as SumName;
    if (Values.length > 0) found[name] = Values.reduce((sum, one) => sum + one, found[name] ?? 0);
  }
  return found;
}
