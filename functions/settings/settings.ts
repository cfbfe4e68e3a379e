/**
 * What functions and workers are composed from, besides ports: on AWS it comes from environment variables, in the local
 * run from its own. What a function does without is `undefined`, and said to be.
 */

import type { AuthSettings } from '../../lib/access/auth-settings.ts';
import type { Group } from '../../lib/catalogue/groups.ts';
import type { UpstreamLimits } from '../../lib/catalogue/limits.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { CacheTuning } from '../../lib/gateway/cache-options.ts';
import type { PricedKind } from '../../lib/gateway/last-prices.ts';
import type { OperationLimits } from '../../lib/gateway/operation-limits.ts';
import type { UpstreamPaths } from '../../lib/gateway/upstream-paths.ts';
import type { TradingLimits } from '../../lib/guard-rails/index.ts';
import type { NetworkPrefix } from '../../lib/identity/caller.ts';
import type { ReserveOptions } from '../../lib/limiter/index.ts';
import type { CorsOrigins } from '../events/cors.ts';

/** Of every function that asks the upstream. */
export interface FunctionSettings {
  readonly upstreamBaseUrl: string;
  /** By the ids of the function's own operations. */
  readonly upstreamPaths: UpstreamPaths;
  /** The ARN of the secret. */
  readonly secretId: string;
  /** For one attempt at the upstream; the gateway's own default when `undefined`. */
  readonly upstreamTimeoutMs: number | undefined;
  readonly corsOrigins: CorsOrigins;
  /** There when an operation of the function counts against a limit. */
  readonly limiter: LimiterSettings | undefined;
  /** There when there is a table for what all callers share. */
  readonly cache: CacheSettings | undefined;
  /** There when the function asks who calls. */
  readonly access: AccessSettings | undefined;
  /** The table of the journal. There when there is one, and the function's requests have entries there. */
  readonly journalTable: string | undefined;
  /** There when the function checks orders against last prices, and quotes are shared. */
  readonly lastPrices: LastPriceSettings | undefined;
  /** What operators set of trading. There when there is a table for it, and the function places or replaces orders. */
  readonly guard: GuardSettings | undefined;
}

export interface LimiterSettings {
  readonly tableName: string;
  /** Functions that share a limit name the same one. */
  readonly bucket: string;
  /** The part of each limit that belongs to this deployment. */
  readonly share: number;
  /** What an instance may use while the table is unavailable; nothing when `undefined`. */
  readonly reserve: ReserveOptions | undefined;
  readonly operationLimits: OperationLimits;
  readonly upstreamLimits: UpstreamLimits;
}

export interface CacheSettings {
  readonly tableName: string;
  readonly tuning: CacheTuning;
  /** Whether a listener of the market stream writes to the table. */
  readonly hasMarketStream: boolean;
  /** What of a client's address names its network: requests of one key and network are one caller's. */
  readonly networkPrefix: NetworkPrefix;
}

export interface AccessSettings {
  readonly tableName: string;
  /** The ARN or name of the secret that holds the identity key. */
  readonly identityKeySecretId: string;
  /** Whose access tokens are accepted. There when the function takes any. */
  readonly auth: AuthSettings | undefined;
  /** Groups of market facts that need a user all the same. */
  readonly userGroups: readonly Group[];
}

export interface LastPriceSettings {
  /** Of the cache. */
  readonly tableName: string;
  /** What the function of market data shares by symbol, and what a price is read with that it does not have. */
  readonly quotes: QuoteReads;
}

/** The operation that gives quotes of each kind. */
export type QuoteReads = Readonly<Record<PricedKind, Operation>>;

export interface GuardSettings {
  readonly tableName: string;
  /** Of the whole gateway, until an operator sets others. */
  readonly limits: TradingLimits;
  /** Members that an order may have besides those of the catalogue. */
  readonly orderMembers: readonly string[];
}

export interface SettlementSettings {
  readonly function: FunctionSettings;
  readonly journalTable: string;
  readonly identityKeySecretId: string;
}

export interface ReconcilingSettings extends SettlementSettings {
  readonly auditTable: string;
  /** Undefined where no open operation places or replaces orders. */
  readonly controlsTable: string | undefined;
  readonly usersTable: string | undefined;
}

export interface MassCancelSettings extends SettlementSettings {
  readonly controlsTable: string;
}

export interface MarketStreamSettings {
  /** Of the upstream's broker. */
  readonly url: string;
  /** Connections at once. */
  readonly sessions: number;
  /** Where instances share quotes. */
  readonly tableName: string;
  /** Of the gateway that subscribes. */
  readonly function: FunctionSettings;
}

export interface TradeEventsSettings {
  readonly function: FunctionSettings;
  /** Of the event service. */
  readonly url: string;
  readonly tableName: string;
  readonly busName: string;
  readonly identityKeySecretId: string;
  readonly compareEveryMs: number;
  /** The table of what streams of trade events tell; undefined where there are none. */
  readonly historyTable: string | undefined;
}

export interface OrderStreamSettings {
  readonly access: AccessSettings;
  readonly historyTable: string;
  readonly corsOrigins: CorsOrigins;
  readonly maxStreams: number;
}

export interface QueueNames {
  readonly queueUrl: string;
  /** The queue that the bus alone sends to; `undefined` where there is one queue. */
  readonly busQueueUrl: string | undefined;
  readonly deadLetterUrl: string;
}

export interface LookupSettings {
  readonly function: FunctionSettings;
  /** The reads of the groups that are readable by event. */
  readonly operations: readonly Operation[];
  /** How many functions work on the queue at once. */
  readonly instances: number;
  /** There when the function takes messages of queues, and no direct calls. */
  readonly queues: LookupQueueSettings | undefined;
}

export interface LookupQueueSettings extends QueueNames {
  readonly tableName: string;
  readonly busName: string;
}

export interface OrderAuditSettings {
  readonly tableName: string;
  readonly busName: string;
  readonly identityKeySecretId: string;
}

export interface TradingStopSettings {
  /** Of limits and stops. */
  readonly tableName: string;
  readonly identityKeySecretId: string;
  /** Whether what is open is cancelled, too. */
  readonly cancelOpen: boolean;
}
