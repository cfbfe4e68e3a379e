/** What a listener is made of, and what it reports. All its parts share the ports. */

import type { KeyedNames } from '../access/directory.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import { type LeaseTuning, leaseTuning } from '../listener/lease.ts';
import {
  type ListenerPorts,
  type ListenerRuntime,
  type ListenerSeams,
  listenerRuntime,
} from '../listener/runtime.ts';
import type { OrderReads } from '../orders/order-reads.ts';
import type { TradeEventBus, TradeEventStore, TradeEventTransport } from './ports.ts';

export interface TradeEventListenerWiring extends ListenerPorts<TradeEventReport, TradeEventTuning> {
  readonly transport: TradeEventTransport;
  readonly orders: OrderReads;
  readonly store: TradeEventStore;
  readonly bus: TradeEventBus;
  /** Names of accounts, orders, credentials and events that reveal nothing. */
  readonly names: KeyedNames;
  /** Reads the current app key and secret; called again when the upstream refuses them, and every few minutes beside a stream. */
  readonly readCredential: () => Promise<StreamCredential>;
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
export type Parts = TradeEventListenerOptions & ListenerRuntime<TradeEventReport, TradeEventTuning>;

export const partsOf = (options: TradeEventListenerOptions): Parts => ({
  ...options,
  ...listenerRuntime(options, defaults),
});

export interface StreamCredential {
  readonly appKey: string;
  readonly appSecret: string;
  readonly accessToken?: string;
}

/** In milliseconds. */
export interface TradeEventTuning extends LeaseTuning {
  /** Nothing at all came for so long, not even a ping: the stream is dead. */
  readonly silenceMs: number;
  /** How often a healthy stream is compared with the orders: one that is mute looks healthy. */
  readonly compareEveryMs: number;
  /** How often the secret is read beside a healthy stream. */
  readonly readSecretEveryMs: number;
  /** A list of orders lags behind by no more than this. */
  readonly lagMs: number;
  /** How long the stream may take to deliver what a read shows already. */
  readonly graceMs: number;
}

const defaults: TradeEventTuning = {
  ...leaseTuning,
  silenceMs: 90_000,
  compareEveryMs: 300_000,
  readSecretEveryMs: 300_000,
  lagMs: 30_000,
  graceMs: 10_000,
};

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
