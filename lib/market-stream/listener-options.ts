/** What a listener of the market stream is made of, and what it reports. */

import {
  type ListenerPorts,
  type ListenerRuntime,
  type ListenerSeams,
  listenerRuntime,
} from '../kernel/listener-runtime.ts';
import type { AccountStream, LeaseStore, MarketStreamTransport } from './ports.ts';

export interface MarketStreamListenerOptions extends ListenerPorts<MarketStreamReport> {
  readonly transport: MarketStreamTransport;
  readonly store: LeaseStore;
  /** What belongs to the account of the current secret. Rejects when there is no secret that can be used. */
  readonly account: () => Promise<AccountStream>;
  readonly tuning: Partial<MarketStreamTuning>;
}

export interface MarketStreamTuning {
  /** Connections at once, at most: the upstream allows five, and counts one for a minute after its end. */
  readonly sessions: number;
  /** Symbols that one session may have. */
  readonly symbolsEach: number;
  /** How often what changed is written for all instances, in milliseconds. */
  readonly batchMs: number;
}

export interface MarketStreamListener {
  /**
   * Waits for the lease, listens until `until`, releases it, and resolves. Resolves at once where another listener means to
   * hold the lease beyond `until`.
   */
  run(call: { readonly until: number; readonly signal?: AbortSignal }): Promise<MarketStreamRun>;
}

export interface MarketStreamRun {
  readonly result: 'listened' | 'not_needed' | 'lease_lost' | 'refused';
}

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

export interface Parts
  extends Pick<MarketStreamListenerOptions, 'transport' | 'store' | 'account'>,
    ListenerRuntime<MarketStreamReport> {
  readonly tuning: MarketStreamTuning;
}

const defaults: MarketStreamTuning = { sessions: 4, symbolsEach: 100, batchMs: 100 };

export const partsOf = (options: MarketStreamListenerOptions & ListenerSeams): Parts => ({
  ...options,
  ...listenerRuntime(options),
  tuning: { ...defaults, ...options.tuning },
});
