/** Report of `countersign prove`: measurements, their comparison with the docs, the cost, and what is left. */

import { costOf, lambdaTime, totalOf, unitsCost } from '../../cost/cost.ts';
import { logBytesPerRequest, prices, type Situation, situations } from '../../cost/cost-figures.ts';
import { readRows } from '../../cost/cost-tables.ts';
import { readMs } from '../capacity.ts';
import { type GroupCalls, type LimitTrial, median, type StreamTrial } from './prove-calls.ts';
import type { MeasuredRun, StartUp, Sums } from './prove-measure.ts';
import type { OrderTrial } from './prove-order.ts';
import type { Step } from './prove-steps.ts';

export interface Price {
  /** Dollars, by what they are paid for. */
  readonly lines: Readonly<Record<string, number>>;
  readonly total: number;
  /** Parts of the price for which there were no figures. */
  readonly missing: readonly string[];
}

export interface ComparedFigure {
  readonly what: string;
  /** Page and chapter that state the figure. */
  readonly page: string;
  readonly figure: number;
  readonly measured: number | undefined;
  readonly unit: 'ms' | 's' | '$' | '';
}

export interface ProofReport {
  readonly stack: string;
  readonly version?: string | undefined;
  readonly region: string;
  readonly began: string;
  readonly minutes: number;
  readonly steps: readonly Step[];
  readonly groups: readonly GroupCalls[];
  readonly limit?: LimitTrial | undefined;
  readonly order?: OrderTrial | undefined;
  readonly stream?: StreamTrial | undefined;
  readonly startUp: readonly StartUp[];
  /** Sums of CloudWatch's metrics since the deployment. */
  readonly sums: Sums;
  readonly price?: Price;
  readonly compared: readonly ComparedFigure[];
  /** Resources of the stage that the account still has. */
  readonly left: readonly string[];
}

export const isProven = ({ steps }: ProofReport) => steps.every(({ result }) => result !== 'failed');

/** Measured load with few clients, the nearest to a stage that is tried by hand. */
const fewClients = situations.find(({ clients }) => clients === 100) as Situation;

/** Age in seconds of the oldest answer in docs/load.md, "Steady", 100 phones. */
const oldestOfFew = 2.48;

/** Compares measurements with the docs' figures. A stage without shared answers has no ages. */
export function compare(
  runs: readonly MeasuredRun[],
  startUp: readonly StartUp[],
  groups: readonly GroupCalls[],
  { throttles, readThrottles, writeThrottles }: Sums,
): readonly ComparedFigure[] {
  const first = startUp.flatMap((one) => Array.from({ length: one.starts }, () => one.firstMs));
  const reads = groups.find(({ group }) => group === 'market-data');
  const [from = 0, to = 0] = reads?.period ?? [];
  const warm = runs.filter(
    ({ function: name, initMs, at }) =>
      name === 'marketdata' && initMs === undefined && at >= from && at <= to,
  );
  const billed = warm.length > 0 ? median(warm.map(({ billedMs }) => billedMs)) : undefined;
  const throttled = [throttles, readThrottles, writeThrottles].filter((one) => one !== undefined);
  return [
    {
      what: 'A request that starts an instance, median',
      page: 'docs/load.md, The platform',
      figure: readMs.start,
      measured: first.length > 0 ? median(first) : undefined,
      unit: 'ms',
    },
    {
      what: 'Lambda’s time for a read of market data, median',
      page: 'docs/cost.md, A million reads, 100 clients',
      figure: fewClients.billedMs,
      measured: billed,
      unit: 'ms',
    },
    {
      what: 'A million reads of few clients, with that time',
      page: 'docs/cost.md, A million reads, 100 clients',
      figure: totalOf(costOf(fewClients)),
      measured: billed === undefined ? undefined : totalOf(costOf({ ...fewClients, billedMs: billed })),
      unit: '$',
    },
    {
      what: 'The oldest shared quote',
      page: 'docs/load.md, Steady, 100 phones',
      figure: oldestOfFew,
      measured: reads?.oldestSeconds,
      unit: 's',
    },
    {
      what: 'Throttled by Lambda and DynamoDB',
      page: 'docs/load.md, Phones at once',
      figure: 0,
      measured: throttled.length > 0 ? throttled.reduce((sum, one) => sum + one, 0) : undefined,
      unit: '',
    },
  ];
}

/**
 * Computes what the run cost, by the prices of docs/cost.md, without free tiers.
 *
 * @param requests sent to the API
 * @param restMonth dollars a month for the stage without any request
 */
export function priceOf({
  requests,
  runs,
  sums,
  hours,
  restMonth,
}: {
  readonly requests: number;
  readonly runs: readonly MeasuredRun[];
  readonly sums: Sums;
  readonly hours: number;
  readonly restMonth: number;
}): Price {
  const million = 1_000_000;
  const { readUnits, writeUnits, invocations = runs.length, logBytes = requests * logBytesPerRequest } = sums;
  const units =
    readUnits === undefined && writeUnits === undefined
      ? undefined
      : { readUnits: readUnits ?? 0, writeUnits: writeUnits ?? 0 };
  const lines = {
    [readRows.apiGateway]: (requests * prices.apiGatewayPerMillion) / million,
    [readRows.lambdaRequests]: (invocations * prices.lambdaPerMillion) / million,
    [readRows.lambdaTime]: runs.reduce(
      (sum, run) => sum + lambdaTime(run.billedMs, run.memoryMiB) / million,
      0,
    ),
    ...(units && { 'DynamoDB, all tables': unitsCost(units) / million }),
    [readRows.logs]: (logBytes * prices.logsPerGb) / 2 ** 30,
    'Secrets and alarms, so long': (restMonth * hours) / hoursOfMonth,
  };
  return {
    lines,
    total: totalOf(lines),
    missing: [...(units ? [] : ['DynamoDB’s units']), ...(runs.length > 0 ? [] : ['Lambda’s time'])],
  };
}

const hoursOfMonth = 730;

/** Ratio up to which a figure holds: measurements on one machine vary by a fifth. */
const tolerance = 1.2;

export function verdictOf({ figure, measured }: ComparedFigure): string {
  if (measured === undefined) return 'open';
  if (measured <= figure * tolerance) return 'holds';
  return figure === 0 ? 'does not hold' : `${(measured / figure).toFixed(1)} times as much`;
}
