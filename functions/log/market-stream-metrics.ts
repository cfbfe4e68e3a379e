/** What becomes of the market stream, in the listener's log: lines for a person, with figures that CloudWatch makes metrics of. */

import type { MarketStreamReport, MarketStreamRun } from '../../lib/market-stream/index.ts';
import { describe, type Log } from './log.ts';
import { type EntryWithFigures, type MetricsOptions, metricsLog } from './metrics.ts';

export interface MarketStreamMetrics {
  /** What to hand to the listener as `report`. */
  readonly report: (report: MarketStreamReport) => void;
  /** Called for what came of a run. */
  readonly ran: (run: MarketStreamRun) => void;
}

export function createMarketStreamMetrics(log: Log, options: MetricsOptions): MarketStreamMetrics {
  const write = metricsLog(log, options);
  return {
    report: (report) => write(entryOf(report)),
    ran({ result }) {
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
          // Where clients ask for nothing, nothing is to be carried.
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
