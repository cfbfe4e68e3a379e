/** An alarm of CloudWatch as its row says it: figures in, the minutes in which it rings out. */

import type { LogEntry } from '../../functions/log/log.ts';
import { type AlarmRow, comparisons, formulaOf } from '../../infra/stack/alarm-table.ts';

/** One value of a metric. */
export interface Point {
  readonly at: number;
  readonly metric: string;
  /** The value of its one dimension. */
  readonly of: string;
  readonly value: number;
}

interface Embedded {
  readonly Timestamp: number;
  readonly CloudWatchMetrics: readonly {
    readonly Dimensions: readonly (readonly string[])[];
    readonly Metrics: readonly { readonly Name: string }[];
  }[];
}

/** What CloudWatch makes of log lines in its embedded metric format. */
export const pointsIn = (lines: readonly LogEntry[]): readonly Point[] =>
  lines.flatMap((line) => {
    const { Timestamp: at, CloudWatchMetrics } = (line._aws ?? { CloudWatchMetrics: [] }) as Embedded;
    return CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) =>
      Metrics.flatMap(({ Name: metric }) =>
        [line[metric]].flat().map((value) => ({
          at,
          metric,
          of: String(line[Dimensions[0]?.[0] ?? '']),
          value: value as number,
        })),
      ),
    );
  });

export interface Watch {
  readonly row: AlarmRow;
  /** The value of the dimension that the row's subject has. */
  readonly of: string;
  readonly threshold: number;
}

const minute = 60_000;

const statistics: Readonly<Record<AlarmRow['statistic'], (values: readonly number[]) => number>> = {
  Sum: (values) => values.reduce((sum, one) => sum + one, 0),
  Maximum: (values) => Math.max(...values),
  Minimum: (values) => Math.min(...values),
  Average: (values) => values.reduce((sum, one) => sum + one, 0) / values.length,
};

/**
 * @param from the first moment, and `to` the last one, of which the alarm knows all; both are whole minutes
 * @returns the ends of the periods in which it rings
 */
export function ringing(
  { row, of, threshold }: Watch,
  points: readonly Point[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly number[] {
  const length = row.minutes * minute;
  const { periods = 1, breaching = periods, comparison = '>=' } = row;
  const figureOf = figureIn(
    row,
    points.filter((point) => point.of === of),
  );
  // Periods lie on the clock, as CloudWatch's do.
  const first = Math.ceil(from / length) * length;
  const breaches: boolean[] = [];
  const rings: number[] = [];
  let isRaised = false;
  for (let start = first; start + length <= to; start += length) {
    const figure = figureOf(({ at }) => at >= start && at < start + length);
    const isSame = figure === undefined && row.missing === 'same';
    breaches.push(
      figure === undefined ? row.missing === 'breaching' : comparisons[comparison](figure, threshold),
    );
    const last = breaches.slice(-periods);
    if (!isSame) isRaised = last.filter(Boolean).length >= breaching;
    if (isRaised) rings.push(start + length);
  }
  return rings;
}

/** Functions of CloudWatch's metric math that rows use: a quota of a hundred, and nothing where a condition is not met. */
const math = {
  SERVICE_QUOTA: () => 100,
  IF: (isMet: boolean, value: number) => (isMet ? value : undefined),
};

/** The row's figure of those points that lie in a period; undefined where a metric of it has none there. */
function figureIn({ metric, statistic }: AlarmRow, points: readonly Point[]) {
  const { metrics, formula } = formulaOf(metric);
  const compute = new Function(...Object.keys(metrics), ...Object.keys(math), `return ${formula}`);
  return (isIn: (point: Point) => boolean): number | undefined => {
    const values = Object.values(metrics).map((name) =>
      points.filter((one) => one.metric === name && isIn(one)).map(({ value }) => value),
    );
    if (values.some(({ length }) => length === 0)) return undefined;
    return compute(...values.map(statistics[statistic]), ...Object.values(math)) as number | undefined;
  };
}
