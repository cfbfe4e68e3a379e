/** What a listener is made of, and what it reports. */

import type { KeyedNames } from '../access/directory.ts';
import type { ListenerPorts, ListenerSeams } from '../kernel/listener-runtime.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import type { OrderReads } from '../orders/order-reads.ts';
import type { TradeEventBus, TradeEventStore, TradeEventTransport } from './ports.ts';

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

export interface StreamCredential {
  readonly appKey: string;
  readonly appSecret: string;
  readonly accessToken?: string;
}

/** In milliseconds. */
export interface TradeEventTuning {
  /** A lease that is not renewed for so long belongs to the next listener. The same for all listeners. */
  readonly leaseMs: number;
  /** How often the owner renews it. */
  readonly renewEveryMs: number;
  /** How often a successor looks whether the lease is free. */
  readonly pollMs: number;
  /** Nothing at all came for so long, not even a ping: the stream is dead. */
  readonly silenceMs: number;
  /** How often a healthy stream is compared with the orders: one that is mute looks healthy. */
  readonly compareEveryMs: number;
  /** How often the secret is read beside a healthy stream. */
  readonly readSecretEveryMs: number;
  /** A start waits so long for the lease: a little more than the schedule's minute. */
  readonly waitMs: number;
  /** The owner counts its lease as lost so long before it runs out: time to close its stream. */
  readonly marginMs: number;
  /** A list of orders lags behind by no more than this. */
  readonly lagMs: number;
  /** How long the stream may take to deliver what a read shows already. */
  readonly graceMs: number;
}

export interface TradeEventListener {
  /**
   * Waits for the lease, listens until `until`, hands over, and resolves. Resolves early where another listener renews
   * the lease, which it does every few seconds, and means to hold it beyond `until`. Never opens a second stream beside
   * its own, and none without the lease.
   */
  run(call: { readonly until: number; readonly signal?: AbortSignal }): Promise<RunReport>;
}

export interface RunReport {
  readonly result: 'listened' | 'not_needed' | 'lease_lost' | 'refused';
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
