/** What the listener of the market stream needs: a connection, the subscription operations, demand, a log. */

import type { StreamedLog } from '../cache/snapshots/index.ts';
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

export type SubscriptionAnswer =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** The upstream's error code, such as `INVALID_SESSION`; the gateway's where the upstream was not reached. */
      readonly code: string;
      readonly status: number;
      /** The upstream's own words: it names symbols there. */
      readonly message: string;
    };

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
  /** How often clients requested it lately, of all instances together; a caller with many symbols counts less for each. */
  readonly demand: number;
}

/** Port: what clients ask for, and what was fetched of it. */
export interface StreamDemand {
  /** Reads what other instances tell. Never rejects. */
  poll(): Promise<void>;
  /** All that is in use, in demand most first. */
  wanted(): readonly WantedSymbol[];
  /** The latest record that was fetched of a symbol, and when; undefined when there is none. */
  fetched(category: string, symbol: string): { readonly record: Uint8Array; readonly at: number } | undefined;
}

/** What belongs to one account at the upstream. */
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
