/**
 * The limiter's reports, in the function's log: failures at once, counts with a request's log line instead of a
 * timer, which would stand still while the function is frozen.
 */

import type { LimiterReport, RateLimitReport } from '../../lib/gateway/index.ts';
import { describe, type Log } from './log.ts';
import { type Figures, figuresOf, maxValues } from './metrics.ts';

export interface LimiterMetrics {
  record(report: LimiterReport): void;
  /** Of an answer `budget_used_up`: a refresh that gets no permit costs no caller an answer. */
  usedUp(): void;
  /** Of a 429 of the upstream. */
  rateLimited(report: RateLimitReport): void;
  /** Writes the counts since the last time, unless that is a moment ago and they still fit into one line. */
  write(): void;
}

interface LimiterMetricsOptions {
  readonly functionName: string;
  /** Of the table that is shared by all functions that keep the same limits. */
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
  /** By limit. */
  let left = new Map<string, number>();
  let waited: number[] = [];
  let notBefore = Number.NEGATIVE_INFINITY;
  let stepsNotBefore = Number.NEGATIVE_INFINITY;

  /** While tighter limits are in force, so that the alarm stays until an operator ends it. */
  function writeSteps(): void {
    if (steps() === 0 || clock() < stepsNotBefore) return;
    stepsNotBefore = clock() + stepsPauseMs;
    log({ level: 'warn', event: 'limits_in_force', ...ofTable({ LimitsTightened: steps() }) });
  }

  /** The least since the last line, of the limit or of one within it. */
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

/** Of the limit of market data, in a function that counts against it; the pages of the list of symbols count elsewhere. */
const leftOf = (left: ReadonlyMap<string, number>): number | undefined =>
  left.get('market-data') ?? left.values().next().value;
