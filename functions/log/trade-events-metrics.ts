/** Writes reports on trade events into the listener's log: lines for a person, with figures for CloudWatch's metrics. */

import type { RunReport } from '../../lib/listener/shift.ts';
import { type StreamEnd, StreamError, type TradeEventReport } from '../../lib/trade-events/ports.ts';
import { describe, type Level, type Log } from './log.ts';
import { type EntryWithFigures, type MetricsOptions, metricsLog } from './metrics.ts';

export function createTradeEventsMetrics(log: Log, options: MetricsOptions) {
  const write = metricsLog(log, options);
  return {
    /** The listener's `report`. */
    report: (report: TradeEventReport): void => write(entryOf(report)),
    /** Called with the number of events that the bus did not accept. */
    refused(events: number): void {
      write({
        level: 'error',
        event: 'trade_events_not_taken',
        values: { TradeEventsUnpublished: events },
      });
    },
    /** Called with the result of a run. */
    ran({ result }: RunReport): void {
      // Every minute: Lambda's own line says that it ran.
      if (result === 'not_needed') return;
      write({
        level: result === 'refused' || result === 'lease_lost' ? 'error' : 'info',
        event: 'trade_events_run',
        result,
        ...(result === 'refused' && { values: { TradeEventsRefused: 1 } }),
      });
    },
  };
}

function entryOf(report: TradeEventReport): EntryWithFigures {
  switch (report.kind) {
    case 'state':
      return {
        level: 'info',
        event: 'trade_stream_state',
        values: {
          TradeEventsConnected: report.connected ? 1 : 0,
          TradeEventsSilenceSeconds: report.lastSignAgeMs && report.lastSignAgeMs / 1000,
        },
      };
    case 'subscribed': {
      const { gapMs, waitedMs } = report;
      return {
        level: 'info',
        event: 'trade_stream_subscribed',
        gapMs,
        waitedMs,
        values: { TradeEventsReconnects: 1 },
      };
    }
    case 'ended': {
      const { reason, code } = report;
      return {
        level: levels[reason],
        event: 'trade_stream_ended',
        reason,
        code,
        ...(reason === 'authentication_error' && { values: { TradeEventsRefused: 1 } }),
      };
    }
    case 'compared': {
      const { orders, reconciled, mute } = report;
      return {
        level: mute ? 'warn' : 'info',
        event: 'trade_orders_compared',
        orders,
        values: { TradeEventsReconciled: reconciled, TradeEventsMute: mute ? 1 : 0 },
      };
    }
    case 'published':
      return {
        level: 'info',
        event: 'trade_events_published',
        reconciled: report.reconciled,
        values: {
          TradeEventsPublished: report.events,
          TradeEventsDelay: report.delaysMs,
          // The bus accepts events again; the alarm uses the minimum over some minutes.
          TradeEventsUnpublished: 0,
        },
      };
    case 'failed':
      return { level: 'error', event: 'trade_events_failed', step: report.step, ...causeOf(report.cause) };
  }
}

/** Log levels by the end of a stream; an end that is normal on a good day is no warning. */
const levels: Readonly<Record<StreamEnd, Level>> = {
  handed_over: 'info',
  expired: 'info',
  secret_changed: 'info',
  broken: 'warn',
  silent: 'warn',
  mute: 'warn',
  lease_lost: 'error',
  authentication_error: 'error',
  too_many_connections: 'error',
};

const causeOf = (cause: unknown) => ({
  ...describe(cause),
  ...(cause instanceof StreamError && { status: cause.status }),
});
