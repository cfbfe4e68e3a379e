/** What a listener of the market stream is made of, and what it reports. */

import type { LeaseStore } from '../listener/lease.ts';
import type { ListenerPorts, ListenerRuntime } from '../listener/runtime.ts';
import type { AccountStream, MarketStreamTransport } from './ports.ts';

export interface MarketStreamListenerOptions extends ListenerPorts<MarketStreamReport> {
  readonly transport: MarketStreamTransport;
  readonly store: LeaseStore;
  /** What belongs to the account of the current secret. Rejects when there is no secret that can be used. */
  readonly account: () => Promise<AccountStream>;
  readonly tuning: Partial<MarketStreamTuning>;
}

export interface MarketStreamTuning {
  /** Connections at once, at most: the upstream allows five, and counts one for a minute after its end. Default four. */
  readonly sessions: number;
}

export const defaultSessions = 4;

/** The options with their defaults. */
export type Parts = MarketStreamListenerOptions & ListenerRuntime<MarketStreamReport>;

/** Told as it happens, for metrics and alarms. No secret, key or session id is in it. */
export type MarketStreamReport =
  /**
   * About once a minute. `symbols` are told now, of those that are `wanted`; of `torn` ones something was not told;
   * `lastSignAgeMs` is that of the oldest session.
   */
  | {
      readonly kind: 'state';
      readonly sessions: number;
      readonly symbols: number;
      readonly torn: number;
      readonly wanted: number;
      readonly lastSignAgeMs?: number;
    }
  | { readonly kind: 'connected' }
  | { readonly kind: 'ended' }
  /** A session answers, and does not tell what it should of so many symbols. */
  | { readonly kind: 'mute'; readonly symbols: number }
  | { readonly kind: 'notice'; readonly type: string; readonly content: string }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'invalid'; readonly topic: string; readonly reason: string }
  | {
      readonly kind: 'failed';
      readonly step: 'account' | 'store' | 'connection' | 'log' | 'task';
      readonly cause: unknown;
    };
