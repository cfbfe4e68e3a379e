/**
 * Writes the limiter's reports into the function's log: failures at once, counts with a request's log line instead of a
 * timer, which would stand still while the function is frozen.
 */

import type { LimiterReport, RateLimitReport } from '../../lib/gateway/index.ts';
import { describe, type Log } from './log.ts';
import { type Figures, figuresOf, maxValues } from './metrics.ts';

export interface LimiterMetrics {
  record(report: LimiterReport): void;
  /** Counts an answer `budget_used_up`; a refresh without a permit does not count, because it costs no caller an answer. */
  usedUp(): void;
  /** Counts a 429 of the upstream. */
  rateLimited(report: RateLimitReport): void;
  /** Writes the counts since the last line, unless that was moments ago and they still fit into one line. */
  write(): void;
}

interface LimiterMetricsOptions {
  readonly functionName: string;
  /** Name of the table that all functions with the same limits share. */
  readonly tableName: string;
  /** How many steps the limits in force are tighter than the configured ones. */
  readonly steps: () => number;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

const pauseMs = 5000;
const stepsPauseMs = 60_000;

export function createLimiterMetrics(
  log: Log,
  { functionName, tableName, steps, clock = Date.now }: LimiterMetricsOptions,
): LimiterMetrics {
  let given = 0;
  let refused = 0;
  let expired = 0;
  let answers = 0;
  /** Least permits left since the last line, by limit. */
  let left = new Map<string, number>();
  let waited: number[] = [];
  let notBefore = Number.NEGATIVE_INFINITY;
  let stepsNotBefore = Number.NEGATIVE_INFINITY;

  /** Writes the steps while tighter limits are in force, so that the alarm stays until an operator ends them. */
  function writeSteps(): void {
    if (steps() === 0 || clock() < stepsNotBefore) return;
    stepsNotBefore = clock() + stepsPauseMs;
    log({ level: 'warn', event: 'limits_in_force', ...ofTable({ LimitsTightened: steps() }) });
  }

  /** Notes the least permits left of a limit since the last line. */
  const noteLeft = (limit: string, permits: number) =>
    left.set(limit, Math.min(permits, left.get(limit) ?? Number.POSITIVE_INFINITY));

  const ofTable = (figures: Figures<'LimiterTable'>) =>
    figuresOf('LimiterTable', tableName, clock(), figures);

  return {
    record(report) {
      switch (report.kind) {
        case 'granted':
          given++;
          noteLeft(report.limit, Math.min(report.remaining, report.narrowest?.remaining ?? report.remaining));
          waited.push(report.waitedMs);
          break;
        case 'refused':
          refused++;
          // A wait that ends without a permit counts too; an exhausted window has nothing left.
          if (report.reason === 'exhausted') noteLeft(report.limit, 0);
          waited.push(report.waitedMs);
          break;
        case 'expired':
          expired++;
          break;
        case 'blocked': {
          const until = new Date(report.until).toISOString();
          log({ level: 'warn', event: 'budget_closed', limit: report.limit, until });
          break;
        }
        case 'store_busy':
          log({ level: 'warn', event: 'budget_store_busy', ...describe(report.cause) });
          break;
        case 'store_unavailable':
          log({ level: 'error', event: 'budget_store_failed', ...describe(report.cause) });
          break;
        case 'store_recovered':
          log({ level: 'info', event: 'budget_store_back' });
      }
    },
    usedUp: () => void answers++,
    rateLimited({ operation, verdict, kept, steps: after }) {
      log({
        level: 'error',
        event: 'upstream_rate_limited',
        ...ofTable({ UpstreamRateLimited: 1, LimitsTightened: after > 0 ? after : undefined }),
        operation,
        verdict,
        kept,
      });
    },
    write() {
      writeSteps();
      if (given + refused + expired + answers === 0 || (clock() < notBefore && waited.length < maxValues))
        return;
      notBefore = clock() + pauseMs;
      log({
        level: 'info',
        event: 'budget',
        ...figuresOf('Function', functionName, clock(), {
          BudgetLeft: leftOf(left),
          BudgetWaited: waited,
          BudgetRefused: answers,
        }),
        given,
        refused,
        expired,
      });
      [given, refused, expired, answers, left, waited] = [0, 0, 0, 0, new Map(), []];
    },
  };
}

/** Permits left of the market-data limit if the function counts against it, or else of its first limit. */
const leftOf = (left: ReadonlyMap<string, number>): number | undefined =>
  left.get('market-data') ?? left.values().next().value;
