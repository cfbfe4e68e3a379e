/**
 * The environment of a function: one variable a part, whose JSON is what the composition takes. The stack and
 * the local run write it from values that their schemas have checked, so functions check no value again.
 */

import type { AuthSettings } from '../../lib/access/auth-settings.ts';
import type { Group } from '../../lib/catalogue/groups.ts';
import type { UpstreamLimits } from '../../lib/catalogue/limits.ts';
import type { CacheTuning } from '../../lib/gateway/cache-options.ts';
import type { OperationLimits } from '../../lib/gateway/limits/operation-limits.ts';
import type { UpstreamPaths } from '../../lib/gateway/upstream-paths.ts';
import type { TradingLimits } from '../../lib/guard-rails/index.ts';
import type { NetworkPrefix } from '../../lib/identity/caller.ts';
import type { ReserveOptions } from '../../lib/limiter/index.ts';
import type { CorsOrigins } from '../events/cors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface TableSettings {
  readonly tableName: string;
}

/** Settings by the variable's name. Members that are `undefined` are absent from the JSON. */
export interface Parts {
  readonly UPSTREAM: UpstreamSettings;
  readonly CORS: CorsOrigins;
  readonly LIMITER: LimiterTableSettings;
  readonly CACHE: CacheSettings;
  /** Nothing in it is a secret. */
  readonly AUTH: AuthSettings;
  readonly ACCESS: UserSettings;
  /** The secret that holds the identity key, for workers: functions behind the API have it with `ACCESS`. */
  readonly IDENTITY: { readonly identityKeySecretId: string };
  readonly JOURNAL: TableSettings;
  /** The cache, for the function that checks orders against last prices. */
  readonly LAST_PRICES: TableSettings;
  readonly TRADING: GuardSettings;
  readonly TRADING_STOP: TradingStopSettings;
  readonly ORDER_AUDIT: TableSettings & { readonly busName: string };
  readonly SETTLEMENT: SettlementTables;
  readonly MASS_CANCELS: { readonly controlsTable: string };
  readonly TRADE_EVENTS: TradeEventSettings;
  readonly EVENT_HISTORY: TableSettings;
  readonly MARKET_STREAM: MarketStreamTableSettings;
  readonly LIVE: LiveSettings;
  readonly LOOKUPS: LookupQueueSettings;
  readonly CANARY: CanarySettings;
  /** The secret of the stack, which names a metric of functions that may not read it. */
  readonly METRICS: { readonly secretId: string };
}

export interface UpstreamSettings {
  readonly baseUrl: string;
  readonly limits: UpstreamLimits;
  /** Paths by the ids of the function's own operations. */
  readonly paths: UpstreamPaths;
  /** For one attempt; the gateway's own default when `undefined`. */
  readonly timeoutMs: number | undefined;
  /** The ARN of the secret. */
  readonly secretId: string;
}

export interface LimiterTableSettings extends TableSettings {
  /** Functions that share a limit name the same one. */
  readonly bucket: string;
  /** The part of each limit that belongs to this deployment. */
  readonly share: number;
  /** Reserved for instances while the table is unavailable; nothing when `undefined`. */
  readonly reserve: ReserveOptions | undefined;
  readonly operationLimits: OperationLimits;
}

export interface CacheSettings extends TableSettings {
  readonly tuning: CacheTuning;
  /** Whether a listener of the market stream writes to the table. */
  readonly hasMarketStream: boolean;
  /** Bits of a client's address that name its network: requests of one key and network are one caller's. */
  readonly networkPrefix: NetworkPrefix;
}

/** A table and its key: neither is of use without the other. */
export interface UserSettings extends TableSettings {
  /** The ARN or name of the secret that holds the identity key. */
  readonly identityKeySecretId: string;
  /** Groups of market facts that need a user all the same. */
  readonly userGroups: readonly Group[];
}

export interface GuardSettings extends TableSettings {
  /** Limits of the whole gateway, until an operator sets others. */
  readonly limits: TradingLimits;
  /** Members that an order may have besides those of the catalogue. */
  readonly orderMembers: readonly string[];
}

export interface TradingStopSettings extends TableSettings {
  /** Whether what is open is cancelled, too. */
  readonly cancelOpen: boolean;
}

export interface SettlementTables {
  readonly journalTable: string;
  readonly auditTable: string;
  /** Undefined where no open operation places or replaces orders. */
  readonly controlsTable: string | undefined;
  readonly usersTable: string | undefined;
}

export interface TradeEventSettings extends TableSettings {
  /** Address of the event service. */
  readonly url: string;
  readonly busName: string;
  readonly compareEveryMs: number;
}

export interface MarketStreamTableSettings extends TableSettings {
  /** Address of the upstream's broker. */
  readonly url: string;
  /** Connections at once. */
  readonly sessions: number;
}

interface LiveSettings {
  /** Streams that the function's instances hold together. */
  readonly maxStreams: number;
  /** Processes that hold them; one for each stream when `undefined`. */
  readonly processes: number | undefined;
}

export interface LookupQueueSettings {
  /** Readable by event. */
  readonly groups: readonly Group[];
  /** How many functions work on the queues at once. */
  readonly instances: number;
  /** There when the function takes messages of queues, and no direct calls. */
  readonly queues: LookupQueues | undefined;
}

export interface QueueNames {
  readonly queueUrl: string;
  /** The queue that the bus alone sends to; `undefined` where there is one queue. */
  readonly busQueueUrl: string | undefined;
  readonly deadLetterUrl: string;
}

export interface LookupQueues extends QueueNames, TableSettings {
  readonly busName: string;
}

export interface CanarySettings {
  /** Target of its request, with a query. */
  readonly url: string;
  /** The secret that holds its API key. */
  readonly keySecretId: string;
}

/** Names the items that count streams of trade events. */
export const orderStreamPartition = 'order-events';

/** @example writePart('CORS', ['https://app.example']); // { CORS: '["https://app.example"]' } */
export const writePart = <Name extends keyof Parts>(name: Name, value: Parts[Name]) =>
  ({ [name]: JSON.stringify(value) }) as Readonly<Record<Name, string>>;

/** @typeParam Settings what a composition takes */
export type Read<Settings> =
  | { readonly ok: true; readonly settings: Settings }
  /** One sentence for each variable that is wrong; values are not repeated. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** Reads the parts of one environment, and gathers what is wrong with it. */
export interface PartReader {
  readonly faults: Set<string>;
  /** @returns undefined where the function has no such part */
  read<Name extends keyof Parts>(name: Name): Parts[Name] | undefined;
  /** @returns an empty one in place of what is missing, so that all faults are told */
  required<Name extends keyof Parts>(name: Name): Parts[Name];
}

/** @param read what it returns is of no use once there is a fault */
export function readParts<Settings>(env: Environment, read: (parts: PartReader) => Settings): Read<Settings> {
  const faults = new Set<string>();
  function partOf<Name extends keyof Parts>(name: Name, isRequired = false): Parts[Name] | undefined {
    const text = env[name];
    try {
      if (text || isRequired) return JSON.parse(text as string);
    } catch {
      faults.add(`${name}: not ${text ? 'JSON' : 'set'}`);
    }
    return undefined;
  }
  const required: PartReader['required'] = (name) => partOf(name, true) ?? ({} as Parts[typeof name]);
  const settings = read({ faults, read: partOf, required });
  return faults.size > 0 ? { ok: false, faults: [...faults] } : { ok: true, settings };
}
