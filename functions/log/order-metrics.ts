/**
 * What failed of orders, in the function's log: of the journal, of what operators have set, and of cancels that a check
 * asks for. Each is counted, for an alarm. No line has an order, an account or a user in it.
 */

import type { ScopeFailure } from '../../lib/guard-rails/guard.ts';
import type { OrdersOptions } from '../../lib/orders/hand-over.ts';
import { JournalUnavailable } from '../../lib/orders/journal.ts';
import { embeddedMetrics } from './embedded-metrics.ts';
import { describe, type Log } from './log.ts';

/** Each metric is of a table, because one alarm has to see all functions. */
export const journalMetric = { name: 'OrderJournalFailed', dimension: 'OrderJournalTable' } as const;
export const controlsMetric = { name: 'TradingControlsNotRead', dimension: 'TradingControlsTable' } as const;
/** The same where what is open could not be asked to be cancelled. */
export const massCancelMetric = { ...controlsMetric, name: 'MassCancelNotRequested' } as const;

export interface OrderReportsOptions {
  readonly log: Log;
  readonly clock: () => number;
  readonly journalTable: string;
  /** Of limits and stops; `undefined` for a function that checks no orders. */
  readonly controlsTable: string | undefined;
}

/** @returns what to hand to the journal's hand-over */
export function orderReports({
  log,
  clock,
  journalTable,
  controlsTable,
}: OrderReportsOptions): Required<Pick<OrdersOptions, 'reportNoted' | 'reportFailure'>> {
  const failed = (
    event: { readonly event: string; readonly step?: string },
    { name, dimension }: { readonly name: string; readonly dimension: string },
    tableName: string,
    cause: unknown,
  ) =>
    log({
      level: 'error',
      ...event,
      ...embeddedMetrics(
        { [name]: 'Count' as const },
        { dimensions: { [dimension]: tableName }, at: clock(), values: { [name]: 1 } },
      ),
      ...describe(cause),
    });
  return {
    reportNoted(failures: readonly ScopeFailure[]) {
      for (const { check, scope } of failures)
        log({ level: 'warn', event: 'order_check_failed', check, scope });
    },
    reportFailure(step, cause) {
      if (step === 'check' && controlsTable !== undefined)
        failed({ event: 'trading_controls_not_read' }, controlsMetric, controlsTable, cause);
      else if (step === 'mass_cancel' && controlsTable !== undefined)
        failed({ event: 'mass_cancel_not_requested' }, massCancelMetric, controlsTable, cause);
      else {
        const reason = cause instanceof JournalUnavailable ? cause.cause : cause;
        failed({ event: 'journal_failed', step }, journalMetric, journalTable, reason);
      }
    },
  };
}
