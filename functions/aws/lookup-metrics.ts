/** What became of lookups, in the function's log as figures that CloudWatch makes metrics of. */

import type { LookupReport } from '../../lib/lookups/index.ts';
import { describe, type Log } from './log.ts';

export interface LookupMetricsOptions {
  readonly functionName: string;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** As many values as the format allows for one metric. */
const mostValues = 100;

const metrics = [
  { Name: 'LookupsAnswered', Unit: 'Count' },
  { Name: 'LookupsFailed', Unit: 'Count' },
  { Name: 'LookupsWaiting', Unit: 'Count' },
  { Name: 'LookupsPoisoned', Unit: 'Count' },
  { Name: 'LookupCalls', Unit: 'Count' },
  { Name: 'LookupAge', Unit: 'Milliseconds' },
] as const;

/** @returns what to hand to the lookups as `report` */
export function createLookupMetrics(
  log: Log,
  { functionName, clock = Date.now }: LookupMetricsOptions,
): (report: LookupReport) => void {
  return ({ answered, failed, waiting, duplicates, poisoned, undone, calls, ages, causes }) => {
    for (const cause of causes) log({ level: 'error', event: 'lookup_undone', ...describe(cause) });
    log({
      level: undone > 0 ? 'error' : 'info',
      event: 'lookups',
      _aws: {
        Timestamp: clock(),
        CloudWatchMetrics: [
          {
            Namespace: 'Countersign',
            Dimensions: [['Function']],
            Metrics: metrics.filter(({ Name }) => Name !== 'LookupAge' || ages.length > 0),
          },
        ],
      },
      Function: functionName,
      LookupsAnswered: answered,
      LookupsFailed: failed,
      LookupsWaiting: waiting,
      LookupsPoisoned: poisoned,
      LookupCalls: calls,
      ...(ages.length > 0 && { LookupAge: ages.slice(-mostValues) }),
      duplicates,
      undone,
    });
  };
}
