/** An alarm of CloudWatch as its row says it: figures in, the minutes in which it rings out. */

import type { LogEntry } from '../../functions/log/log.ts';
import { type AlarmRow, comparisons } from '../../infra/stack/alarm-table.ts';

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
  const own = points.filter((point) => point.metric === row.metric && point.of === of);
  // Periods lie on the clock, as CloudWatch's do.
  const first = Math.ceil(from / length) * length;
  const breaches: boolean[] = [];
  const rings: number[] = [];
  let isRaised = false;
  for (let start = first; start + length <= to; start += length) {
    const values = own.filter(({ at }) => at >= start && at < start + length).map(({ value }) => value);
    const isSame = values.length === 0 && row.missing === 'same';
    breaches.push(
      values.length === 0
        ? row.missing === 'breaching'
        : comparisons[comparison](statistics[row.statistic](values), threshold),
    );
    const last = breaches.slice(-periods);
    if (!isSame) isRaised = last.filter(Boolean).length >= breaching;
    if (isRaised) rings.push(start + length);
  }
  return rings;
}
