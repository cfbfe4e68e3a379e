/**
 * What failed of orders, in the function's log: of the journal, of what operators have set, and of cancels that a check
 * asks for. Each is counted, for an alarm. No line has an order, an account or a user in it.
 */

import type { ScopeFailure } from '../../lib/guard-rails/guard.ts';
import type { OrdersOptions } from '../../lib/orders/hand-over.ts';
import { JournalUnavailable } from '../../lib/orders/journal.ts';
import { describe, type Log } from './log.ts';
import { figuresOf, type MetricOf } from './metrics.ts';

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
    entry: { readonly event: string; readonly step?: string },
    figures: object,
    cause: unknown,
  ) => log({ level: 'error', ...entry, ...figures, ...describe(cause) });
  const ofControls = (table: string, metric: MetricOf<'TradingControlsTable'>) =>
    figuresOf('TradingControlsTable', table, clock(), { [metric]: 1 });
  return {
    reportNoted(failures: readonly ScopeFailure[]) {
      for (const { check, scope } of failures)
        log({ level: 'warn', event: 'order_check_failed', check, scope });
    },
    reportFailure(step, cause) {
      if (step === 'check' && controlsTable !== undefined)
        failed(
          { event: 'trading_controls_not_read' },
          ofControls(controlsTable, 'TradingControlsNotRead'),
          cause,
        );
      else if (step === 'mass_cancel' && controlsTable !== undefined)
        failed(
          { event: 'mass_cancel_not_requested' },
          ofControls(controlsTable, 'MassCancelNotRequested'),
          cause,
        );
      else {
        const figures = figuresOf('OrderJournalTable', journalTable, clock(), { OrderJournalFailed: 1 });
        const reason = cause instanceof JournalUnavailable ? cause.cause : cause;
        failed({ event: 'journal_failed', step }, figures, reason);
      }
    },
  };
}
