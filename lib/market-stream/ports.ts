/** Ports of the market stream's listener: a connection, the subscription operations, demand, a log; and its reports. */

import type { StreamedLog } from '../cache/snapshots/index.ts';
import type { LeaseStore } from '../listener/lease.ts';
import type { ListenerPorts, ListenerRuntime } from '../listener/runtime.ts';
import { CountersignError } from '../signer/errors.ts';

/** Port: one connection to the upstream's broker. It neither subscribes nor reconnects. */
export interface MarketStreamTransport {
  /**
   * Connects. Ends when the upstream or the signal ends the connection.
   *
   * @throws MarketStreamError (while iterating) when the connection is refused, or breaks
   */
  open(call: ConnectionCall): AsyncIterable<Incoming>;
}

export interface ConnectionCall {
  /** Any text that is in use nowhere else: another connection with it would take this one's place. */
  readonly sessionId: string;
  readonly appKey: string;
  /** Silence after which the connection is asked for a sign of life, in milliseconds. */
  readonly pingMs: number;
  readonly signal: AbortSignal;
}

export type Incoming =
  /** The upstream has accepted the connection. */
  | { readonly kind: 'connected' }
  | { readonly kind: 'message'; readonly topic: string; readonly payload: Uint8Array }
  /** An answer to a ping that was sent at `askedAt`, by the machine's clock. */
  | { readonly kind: 'sign'; readonly askedAt: number };

/** The connection was refused, or broke. */
export class MarketStreamError extends CountersignError<'stream_ended'> {
  override readonly name = 'MarketStreamError';
  /** The code with which the upstream refused the connection; undefined where it broke. */
  readonly refusal: number | undefined;

  constructor(refusal?: number, options?: ErrorOptions) {
    super(
      'stream_ended',
      refusal === undefined
        ? 'the market stream ended'
        : `the market stream was refused with code ${refusal}`,
      options,
    );
    this.refusal = refusal;
  }
}

export interface Subscription {
  readonly sessionId: string;
  readonly category: string;
  readonly symbols: readonly string[];
}

export type SubscriptionAnswer = { readonly ok: true } | SubscriptionRefusal;

export interface SubscriptionRefusal {
  readonly ok: false;
  /** The upstream's error code, such as `INVALID_SESSION`; the gateway's where the upstream was not reached. */
  readonly code: string;
  readonly status: number;
  /** The upstream's own words: it names symbols there. */
  readonly message: string;
}

/** Port: the subscription operations, signed and under the shared limit. Each method always resolves. */
export interface SubscriptionCalls {
  subscribe(call: Subscription): Promise<SubscriptionAnswer>;
  unsubscribe(call: Subscription): Promise<SubscriptionAnswer>;
}

export interface CategorySymbol {
  readonly category: string;
  readonly symbol: string;
}

export interface WantedSymbol extends CategorySymbol {
  /** How often clients of all instances requested it lately; a caller with many symbols counts less for each. */
  readonly demand: number;
}

/** Port: the symbols that clients ask for, and what was fetched of them. */
interface StreamDemand {
  /** Reads what other instances tell. Never rejects. */
  poll(): Promise<void>;
  /** All that is in use, by falling demand. */
  wanted(): readonly WantedSymbol[];
  /** The latest record that was fetched of a symbol, and when; undefined when there is none. */
  fetched(category: string, symbol: string): { readonly record: Uint8Array; readonly at: number } | undefined;
}

/** The ports of one account at the upstream. */
export interface AccountStream {
  readonly appKey: string;
  /** Whether the secret still names this account. Rejects when it cannot be read. */
  isCurrent(): Promise<boolean>;
  /** The name of the lease: one listener has it. */
  readonly lease: string;
  readonly log: StreamedLog;
  readonly demand: StreamDemand;
  readonly calls: SubscriptionCalls;
}

export interface MarketStreamListenerOptions extends ListenerPorts<MarketStreamReport> {
  readonly transport: MarketStreamTransport;
  readonly store: LeaseStore;
  /** Reads the account of the current secret. Rejects when there is no secret that can be used. */
  readonly account: () => Promise<AccountStream>;
  readonly tuning: Partial<MarketStreamTuning>;
}

interface MarketStreamTuning {
  /** Connections at once, at most: the upstream allows five, and counts one for a minute after its end. Default four. */
  readonly sessions: number;
}

/** The options with their defaults. */
export type MarketStreamParts = MarketStreamListenerOptions & ListenerRuntime<MarketStreamReport>;

/** Told as it happens, for metrics and alarms. No secret, key or session id is in it. */
export type MarketStreamReport =
  /**
   * About once a minute. `symbols` counts those of the `wanted` ones that are told now, and `torn` those of which something
   * was not told; `lastSignAgeMs` is that of the oldest session.
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
  /** A session answers, and does not tell what it should of this number of symbols. */
  | { readonly kind: 'mute'; readonly symbols: number }
  | { readonly kind: 'notice'; readonly type: string; readonly content: string }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'invalid'; readonly topic: string; readonly reason: string }
  | {
      readonly kind: 'failed';
      readonly step: 'account' | 'store' | 'connection' | 'log' | 'task';
      readonly cause: unknown;
    };
