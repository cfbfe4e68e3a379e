/** What became of lookups, in the function's log as figures that CloudWatch makes metrics of. */

import type { LookupReport } from '../../lib/lookups/index.ts';
import { describe, type Log } from './log.ts';
import { type MetricsOptions, metricsLog } from './metrics.ts';

/** @returns what to hand to the lookups as `report` */
export function createLookupMetrics(log: Log, options: MetricsOptions): (report: LookupReport) => void {
  const write = metricsLog(log, options);
  return ({ answered, failed, waiting, duplicates, poisoned, undone, calls, ages, causes }) => {
    for (const cause of causes) log({ level: 'error', event: 'lookup_undone', ...describe(cause) });
    write({
      level: undone > 0 ? 'error' : 'info',
      event: 'lookups',
      duplicates,
      undone,
      values: {
        LookupsAnswered: answered,
        LookupsFailed: failed,
        LookupsWaiting: waiting,
        LookupsPoisoned: poisoned,
        LookupCalls: calls,
        LookupAge: ages.length > 0 ? ages : undefined,
      },
    });
  };
}
