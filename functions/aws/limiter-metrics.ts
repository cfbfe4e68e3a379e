/**
 * What the budget tells, in the function's log: failures at once, figures in CloudWatch's embedded metric
 * format, from which CloudWatch makes metrics by itself. Figures wait for a request's line instead of a timer,
 * which would stand still while the function is frozen.
 */

import type { LimiterReport } from '../../lib/gateway/index.ts';
import { embeddedMetrics, maxValues } from './emf.ts';
import { describe, type Log } from './log.ts';

export interface LimiterMetrics {
  hear(report: LimiterReport): void;
  /** Writes what there is, unless it has written a moment ago. */
  write(): void;
}

export interface LimiterMetricsOptions {
  readonly functionName: string;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

const pauseMs = 5000;

const units = { BudgetLeft: 'Count', BudgetWaited: 'Milliseconds', BudgetRefused: 'Count' } as const;

export function createLimiterMetrics(
  log: Log,
  { functionName, clock = Date.now }: LimiterMetricsOptions,
): LimiterMetrics {
  let given = 0;
  let refused = 0;
  let expired = 0;
  let left: number | undefined;
  let waited: number[] = [];
  let notBefore = Number.NEGATIVE_INFINITY;

  return {
    hear(report) {
      switch (report.kind) {
        case 'given':
          given++;
          left = report.left;
          waited.push(report.waitedMs);
          break;
        case 'refused':
          refused++;
          // Of those that wait in vain too; with no permission given, nothing is left.
          if (report.reason === 'used_up') left = 0;
          waited.push(report.waitedMs);
          break;
        case 'expired':
          expired++;
          break;
        case 'closed': {
          const until = new Date(report.until).toISOString();
          log({ level: 'warn', event: 'budget_closed', limit: report.limit, until });
          break;
        }
        case 'store_busy':
          log({ level: 'warn', event: 'budget_store_busy', ...describe(report.cause) });
          break;
        case 'store_failed':
          log({ level: 'error', event: 'budget_store_failed', ...describe(report.cause) });
          break;
        case 'store_back':
          log({ level: 'info', event: 'budget_store_back' });
      }
    },
    write() {
      if (given + refused + expired === 0 || (clock() < notBefore && waited.length < maxValues)) return;
      notBefore = clock() + pauseMs;
      log({
        level: 'info',
        event: 'budget',
        ...embeddedMetrics(units, {
          functionName,
          at: clock(),
          values: { BudgetLeft: left, BudgetWaited: waited, BudgetRefused: refused },
        }),
        given,
        expired,
      });
      [given, refused, expired, left, waited] = [0, 0, 0, undefined, []];
    },
  };
}
