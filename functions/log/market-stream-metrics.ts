/** Writes the market stream's reports into the listener's log: lines for a person, with figures for CloudWatch's metrics. */

import type { RunReport } from '../../lib/listener/shift.ts';
import type { MarketStreamReport } from '../../lib/market-stream/ports.ts';
import { describe, type Log } from './log.ts';
import { type EntryWithFigures, type MetricsOptions, metricsLog } from './metrics.ts';

export function createMarketStreamMetrics(log: Log, options: MetricsOptions) {
  const write = metricsLog(log, options);
  return {
    /** The listener's `report`. */
    report: (report: MarketStreamReport): void => write(entryOf(report)),
    /** Called with the result of a run. */
    ran({ result }: RunReport): void {
      // Every minute: Lambda's own line says that it ran.
      if (result === 'not_needed') return;
      const isGood = result === 'listened';
      write({
        level: isGood ? 'info' : 'error',
        event: 'market_stream_run',
        result,
        ...(result === 'refused' && { values: { MarketStreamAway: 1 } }),
      });
    },
  };
}

function entryOf(report: MarketStreamReport): EntryWithFigures {
  switch (report.kind) {
    case 'state': {
      const { sessions, symbols, torn, wanted, lastSignAgeMs } = report;
      return {
        level: 'info',
        event: 'market_stream_state',
        wanted,
        torn,
        values: {
          // Without symbols that clients want, an empty stream is no fault.
          MarketStreamAway: wanted > 0 && symbols === 0 ? 1 : 0,
          MarketStreamSessions: sessions,
          MarketStreamSymbols: symbols,
          ...(lastSignAgeMs !== undefined && { MarketStreamSilenceSeconds: lastSignAgeMs / 1000 }),
        },
      };
    }
    case 'connected':
      return { level: 'info', event: 'market_stream_connected' };
    case 'ended':
      return { level: 'info', event: 'market_stream_ended' };
    case 'mute':
      return {
        level: 'warn',
        event: 'market_stream_mute',
        symbols: report.symbols,
        values: { MarketStreamMute: 1 },
      };
    case 'notice':
      return { level: 'info', event: 'market_stream_notice', type: report.type, content: report.content };
    case 'refused':
      return {
        level: 'warn',
        event: 'market_stream_refused',
        code: report.code,
        values: { MarketStreamRefused: 1 },
      };
    case 'invalid':
      return {
        level: 'warn',
        event: 'market_stream_invalid',
        topic: report.topic,
        reason: report.reason,
        values: { MarketStreamInvalid: 1 },
      };
    case 'failed':
      return { level: 'error', event: 'market_stream_failed', step: report.step, ...describe(report.cause) };
  }
}
