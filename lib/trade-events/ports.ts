/** Ports of the listener of trade events: a stream, the orders as the upstream shows them, a store, a bus; and its reports. */

import type { KeyedNames } from '../access/directory.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import type { LeaseStore } from '../listener/lease.ts';
import type { ListenerPorts, ListenerRuntime, ListenerSeams } from '../listener/runtime.ts';
import type { OrderReads } from '../orders/order-reads.ts';
import { CountersignError } from '../signer/errors.ts';

/** Port: one call of the upstream's event service. It neither signs nor reconnects. */
export interface TradeEventTransport {
  /**
   * Opens a stream. Each item is one serialized message.
   *
   * @param call what to send: the signed metadata, and exactly the bytes that were signed
   * @throws StreamError (while iterating) when the stream does not open, or breaks
   */
  open(call: StreamCall): AsyncIterable<Uint8Array>;
}

export interface StreamCall {
  readonly metadata: Readonly<Record<string, string>>;
  readonly message: Uint8Array;
  /** Ends the stream, and the connection under it. */
  readonly signal: AbortSignal;
}

/** The stream did not open, or broke. */
export class StreamError extends CountersignError<'stream_ended'> {
  override readonly name = 'StreamError';
  /** The gRPC status, such as `UNAVAILABLE`; `UNKNOWN` where there was none. */
  readonly status: string;

  constructor(status: string, options?: ErrorOptions) {
    super('stream_ended', `the event stream ended: ${status}`, options);
    this.status = status;
  }
}

/** A change that goes to the bus. */
export interface TradeEvent {
  /** The same for each sight of the same change; reveals no account. */
  readonly id: string;
  readonly detailType: 'OrderChanged' | 'PositionChanged' | 'TradeEventReceived';
  /** JSON. Holds the account in clear: sealed in a store. */
  readonly detail: string;
}

/** Port: besides the lease of the one listener, what is known of orders, and the outbox. Each method rejects when it cannot tell. */
export interface TradeEventStore extends LeaseStore {
  /**
   * Writes an event to the outbox together with what it says of its order: both or nothing. `known` when an event of
   * this id was ever added (for as long as `expiresAt` of it says), `overtaken` when the order is no longer as expected.
   */
  add(call: AddCall): Promise<'added' | 'known' | 'overtaken'>;
  /** Known orders among these. */
  known(lease: string, orders: readonly string[]): Promise<ReadonlyMap<string, KnownOrder>>;
  /** Takes note of an order without an event. False when the order is no longer as expected. */
  note(lease: string, change: OrderChange): Promise<boolean>;
  /** All orders that are known to be open. */
  openOrders(lease: string): Promise<readonly KnownOrder[]>;

  /** The oldest events of the outbox that the bus has not taken. */
  unpublished(lease: string, limit: number): Promise<readonly TradeEvent[]>;
  /** The bus has taken them. */
  published(lease: string, ids: readonly string[]): Promise<void>;
}

/** One order, under its keyed name. */
export interface KnownOrder {
  readonly order: string;
  /** Another one with each write. */
  readonly revision: string;
  /** JSON of what is known; sealed in a store. */
  readonly state: string;
  readonly isOpen: boolean;
}

export interface OrderChange {
  readonly order: string;
  /** The revision that was read; undefined when the order was not known. */
  readonly expected: string | undefined;
  readonly state: string;
  readonly isOpen: boolean;
  /** When the store may forget it, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface AddCall {
  readonly lease: string;
  readonly event: TradeEvent;
  /** Absent for an event that is not about an order. */
  readonly order?: OrderChange;
  readonly now: number;
  /** When the store may forget that the event was there. */
  readonly expiresAt: number;
}

/** Port: the bus. */
export interface TradeEventBus {
  /** @returns for each entry whether the bus has taken it */
  publish(events: readonly TradeEvent[]): Promise<readonly boolean[]>;
}

export interface TradeEventListenerWiring extends ListenerPorts<TradeEventReport> {
  readonly transport: TradeEventTransport;
  readonly orders: OrderReads;
  readonly store: TradeEventStore;
  readonly bus: TradeEventBus;
  /** Names of accounts, orders, credentials and events that reveal nothing. */
  readonly names: KeyedNames;
  /** Reads the current app key and secret; called again when the upstream refuses them, and every few minutes beside a stream. */
  readonly readCredential: () => Promise<StreamCredential>;
  readonly tuning: Partial<TradeEventTuning>;
}

export type TradeEventListenerOptions = OptionsOf<
  TradeEventListenerWiring,
  'transport' | 'orders' | 'store' | 'bus' | 'names' | 'readCredential'
> &
  ListenerSeams & {
    /** Default: all accounts of the app key. */
    readonly accounts?: readonly string[];
  };

/** The options with their defaults. */
export type TradeEventParts = TradeEventListenerOptions & ListenerRuntime<TradeEventReport>;

export interface StreamCredential {
  readonly appKey: string;
  readonly appSecret: string;
  readonly accessToken?: string;
}

export interface TradeEventTuning {
  /** How often a healthy stream is compared with the orders: one that is mute looks healthy. Default five minutes. */
  readonly compareEveryMs: number;
}

/** Told as it happens, for metrics and alarms. No clear account, order id or secret is in it. */
export type TradeEventReport =
  /** About once a minute, and at each change. */
  | { readonly kind: 'state'; readonly connected: boolean; readonly lastSignAgeMs?: number }
  | { readonly kind: 'subscribed'; readonly gapMs?: number; readonly waitedMs: number }
  | { readonly kind: 'ended'; readonly reason: StreamEnd; readonly code?: string }
  | {
      readonly kind: 'compared';
      readonly orders: number;
      readonly reconciled: number;
      readonly mute: boolean;
    }
  | {
      readonly kind: 'published';
      readonly events: number;
      readonly reconciled: number;
      readonly delaysMs: readonly number[];
    }
  | {
      readonly kind: 'failed';
      readonly step: 'credential' | 'accounts' | 'compare' | 'publish' | 'store' | 'parse';
      readonly cause: unknown;
    };

export type StreamEnd =
  | 'handed_over'
  | 'expired'
  | 'silent'
  /** It looked healthy, and did not deliver what a comparison found. */
  | 'mute'
  | 'broken'
  | 'secret_changed'
  | 'authentication_error'
  | 'too_many_connections'
  | 'lease_lost';
