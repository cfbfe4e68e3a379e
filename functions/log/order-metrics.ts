/**
 * Writes failures about orders into the function's log: those of the journal, of reading the operators' controls, and of
 * cancels that a check requests. Each is counted for an alarm. No line names an order, an account or a user.
 */

import type { ScopeFailure } from '../../lib/guard-rails/guard.ts';
import type { OrdersOptions } from '../../lib/orders/hand-over.ts';
import { JournalUnavailable } from '../../lib/orders/journal.ts';
import { describe, type Log } from './log.ts';
import { figuresOf, type MetricOf } from './metrics.ts';

interface OrderReportsOptions {
  readonly log: Log;
  readonly clock: () => number;
  readonly journalTable: string;
  /** Name of the table of limits and stops; undefined for a function that checks no orders. */
  readonly controlsTable: string | undefined;
}

/** @returns the report options of the hand-over */
export function orderReports({
  log,
  clock,
  journalTable,
  controlsTable,
}: OrderReportsOptions): Required<Pick<OrdersOptions, 'reportNoted' | 'reportFailure'>> {
  return {
    reportNoted(failures: readonly ScopeFailure[]) {
      for (const { check, scope } of failures)
        log({ level: 'warn', event: 'order_check_failed', check, scope });
    },
    reportFailure(step, cause) {
      const ofControls = controlFailures[step];
      if (ofControls && controlsTable !== undefined) {
        const { event, metric } = ofControls;
        const figures = figuresOf('TradingControlsTable', controlsTable, clock(), { [metric]: 1 });
        return log({ level: 'error', event, ...figures, ...describe(cause) });
      }
      const figures = figuresOf('OrderJournalTable', journalTable, clock(), { OrderJournalFailed: 1 });
      const reason = cause instanceof JournalUnavailable ? cause.cause : cause;
      log({ level: 'error', event: 'journal_failed', step, ...figures, ...describe(reason) });
    },
  };
}

interface ControlFailure {
  readonly event: string;
  readonly metric: MetricOf<'TradingControlsTable'>;
}

/** Failures that are not the journal's, by the step of an order. */
const controlFailures: Readonly<Record<string, ControlFailure>> = {
  check: { event: 'trading_controls_not_read', metric: 'TradingControlsNotRead' },
  mass_cancel: { event: 'mass_cancel_not_requested', metric: 'MassCancelNotRequested' },
};
