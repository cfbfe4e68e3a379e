/** Writes the outcomes of lookups into the function's log, as figures from which CloudWatch makes metrics. */

import type { LookupReport } from '../../lib/lookups/index.ts';
import { describe, type Log } from './log.ts';
import { type MetricsOptions, metricsLog } from './metrics.ts';

/** @returns the lookups' option `report` */
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
