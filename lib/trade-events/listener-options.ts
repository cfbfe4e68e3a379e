/** What a listener is made of, and what it reports. All its parts share the ports. */

import type { KeyedNames } from '../access/directory.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import type { Lease } from '../listener/lease.ts';
import type { ListenerPorts, ListenerRuntime, ListenerSeams } from '../listener/runtime.ts';
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

/** The options with their defaults. */
export type Parts = TradeEventListenerOptions & ListenerRuntime<TradeEventReport>;

/** The same while the listener has the lease. */
export interface ShiftParts extends Parts {
  readonly lease: Lease;
  /** The upstream's time, now. */
  readonly upstreamNow: () => number;
  /** An event is in the outbox. */
  readonly onAdded: () => void;
}

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
