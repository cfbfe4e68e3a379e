/** Figures in CloudWatch's embedded metric format: CloudWatch makes metrics of a log line by itself. */

import type { Log, LogEntry } from './log.ts';

/** As many values as the format allows for one metric. */
export const maxValues = 100;

type Units = Readonly<Record<string, 'Count' | 'Milliseconds' | 'Seconds'>>;

export interface MetricValues<U extends Units> {
  /** Metrics with the same ones are one metric. */
  readonly dimensions: Readonly<Record<string, string>>;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
  /** A metric that is undefined is left out; of a list the last `maxValues` count. */
  readonly values: Readonly<Record<keyof U, number | readonly number[] | undefined>>;
}

/** @returns the members of a log line, beside which others may stand */
export function embeddedMetrics<const U extends Units>(
  units: U,
  { dimensions, at, values }: MetricValues<U>,
): Readonly<Record<string, unknown>> {
  const present = Object.entries(units).filter(([name]) => values[name] !== undefined);
  return {
    _aws: {
      Timestamp: at,
      CloudWatchMetrics: [
        {
          Namespace: 'Countersign',
          Dimensions: [Object.keys(dimensions)],
          Metrics: present.map(([Name, Unit]) => ({ Name, Unit })),
        },
      ],
    },
    ...dimensions,
    ...Object.fromEntries(
      present.map(([name]) => {
        const value = values[name];
        return [name, Array.isArray(value) ? value.slice(-maxValues) : value];
      }),
    ),
  };
}

/** Some of the metrics, for one line. */
export type SomeValues<U extends Units> = Readonly<
  Partial<Record<keyof U, number | readonly number[] | undefined>>
>;

export interface MetricsOptions {
  readonly functionName: string;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** Writes lines of one function's log, with figures where a line has some. */
export const metricsLog =
  <const U extends Units>(log: Log, units: U, { functionName, clock = Date.now }: MetricsOptions) =>
  ({ values, ...entry }: LogEntry & { readonly values?: SomeValues<U> }): void =>
    log({
      ...entry,
      ...(values &&
        embeddedMetrics<Units>(units, {
          dimensions: { Function: functionName },
          at: clock(),
          values: values as MetricValues<Units>['values'],
        })),
    });
