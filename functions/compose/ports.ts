/**
 * What a platform gives to the functions and workers that this folder composes: AWS one set of ports, the local run
 * another, tests a third. Every port is required.
 *
 * A port that stands for something of the platform takes its name, which comes from the settings. So a composition that
 * takes the name of another table has another store in every platform, and not on AWS alone.
 */

import type { ReadText } from '../../lib/access/read-text.ts';
import type { AccessStore } from '../../lib/access/store.ts';
import type { ResponseStore, Versions } from '../../lib/cache/responses/index.ts';
import type { DirectoryStore, SnapshotStore, StreamedLog } from '../../lib/cache/snapshots/index.ts';
import type { SnapshotReads } from '../../lib/cache/snapshots/one-symbol.ts';
import type { SecretSource, SecretVersion, Send } from '../../lib/gateway/index.ts';
import type { CheckpointStore, TableNames } from '../../lib/guard-rails/checkpoints.ts';
import type { ControlAdminStore } from '../../lib/guard-rails/control-admin-store.ts';
import type { ControlStore, MassCancelStore } from '../../lib/guard-rails/index.ts';
import type { Sealer } from '../../lib/kernel/sealer.ts';
import type { Limit, LimiterStore } from '../../lib/limiter/index.ts';
import type { LeaseStore } from '../../lib/listener/lease.ts';
import type { StreamStore } from '../../lib/live/stream-shares.ts';
import type { LookupBus, LookupQueue, LookupStore } from '../../lib/lookups/index.ts';
import type { MarketStreamTransport } from '../../lib/market-stream/ports.ts';
import type { OrderAuditStore } from '../../lib/orders/audit.ts';
import type { CountingJournal } from '../../lib/orders/index.ts';
import type { RecoverableJournal } from '../../lib/orders/journal.ts';
import type { Digests } from '../../lib/signer/index.ts';
import type { TradeEventHistory } from '../../lib/trade-events/history.ts';
import type { TradeEventStore, TradeEventTransport } from '../../lib/trade-events/ports.ts';
import type { Log } from '../log/log.ts';
import type { QueueNames } from '../settings/parts.ts';

/** What every function has of its platform. */
export interface Host {
  /** The dimension of its metrics. */
  readonly functionName: string;
  readonly log: Log;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  /** Resolves after so many milliseconds, or rejects when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface SecretPorts extends Host {
  /** @param onFailure told of every read that failed */
  secret(secretId: string, onFailure: (error: unknown, version: SecretVersion) => void): SecretSource;
}

/** What every function has that asks the upstream. */
export interface GatewayPorts extends SecretPorts {
  readonly send: Send;
  readonly digests: Digests;
  /** Reads the keys of the issuer of access tokens. */
  readonly readText: ReadText;
  limiterStore(tableName: string): LimiterStore;
  /**
   * In place of the interface's own figure, for load tests of the local run. A port and no setting, so that no variable of a
   * deployed function can lift the limit.
   */
  readonly marketDataLimit: Pick<Limit, 'requests' | 'perSeconds'> | undefined;
  /** @param upstream names the upstream: no upstream's answer is ever returned as another's */
  responses(tableName: string, upstream: string): ResponsePorts;
  accessStore(tableName: string): Pick<AccessStore, 'read'>;
}

export interface ResponsePorts {
  readonly responses: ResponseStore;
  /** Of the process, where several functions run in it; `undefined` where each has a process of its own. */
  readonly versions: Versions | undefined;
}

/** For a function that serves snapshots. */
export interface QuotePorts extends GatewayPorts {
  /** Of the same table and upstream as `responses`. */
  snapshots(tableName: string, upstream: string): (partition: string) => SnapshotStore;
  directory(tableName: string, upstream: string): DirectoryStore;
  /** Of the same table and upstream as `snapshots`. */
  streamed(tableName: string, upstream: string): (partition: string) => StreamedLog;
}

/** For the listener of the market stream. */
export interface MarketStreamPorts extends QuotePorts {
  marketStream(url: string): MarketStreamTransport;
  leases(tableName: string): LeaseStore;
}

/** For a function whose answers are streams. */
export interface StreamPorts extends QuotePorts {
  /** Of the same table and upstream as `snapshots`. */
  streams(tableName: string, upstream: string): StreamStore;
}

/** For a function that tells trade events as they come. */
export interface OrderStreamPorts extends GatewayPorts {
  /** @param sealer of the listener's */
  eventHistory(tableName: string, sealer: Sealer): TradeEventHistory;
  /** Of the same table. */
  streams(tableName: string, upstream: string): StreamStore;
}

export interface JournalPorts extends GatewayPorts {
  journal(tableName: string, sealer: Sealer): CountingJournal;
}

/** For the settlement, which notices a table that was restored, and brings a restored journal up to date. */
export interface SettlementPorts extends JournalPorts {
  checkpoints(tables: TableNames): CheckpointStore;
  /** Of the same table as `journal`. */
  recovery(tableName: string, sealer: Sealer): RecoverableJournal;
  auditLines(tableName: string, sealer: Sealer): Pick<OrderAuditStore, 'read'>;
}

/** For a function that checks orders before it sends them. */
export interface OrderPorts extends JournalPorts {
  /** The time of the store of journals, by which orders of the last minute are counted. */
  readonly storeTime: () => number;
  /** @param others the other tables that have checkpoints */
  controls(tableName: string, others: TableNames): ControlStore;
  massCancelRequests(tableName: string): Pick<MassCancelStore, 'request'>;
  /** Of the same table and upstream as `snapshots`. */
  snapshotReads(tableName: string, upstream: string, partition: string): SnapshotReads;
}

export interface MassCancelPorts extends JournalPorts {
  massCancels(tableName: string): Pick<MassCancelStore, 'open' | 'finish'>;
}

export interface BusPorts {
  /** @param onFailure told of every failed attempt */
  bus(busName: string, onFailure: (error: unknown) => void): LookupBus;
}

export interface LookupPorts extends QuotePorts, BusPorts {
  /** @param sealer without one, the store refuses replies with account data */
  lookupStore(tableName: string, sealer: Sealer | undefined): LookupStore;
  queue(names: QueueNames, onFailure: (error: unknown) => void): LookupQueue;
}

export interface TradeEventPorts extends GatewayPorts, BusPorts {
  transport(url: string): TradeEventTransport;
  eventStore(tableName: string, sealer: Sealer): TradeEventStore;
  eventHistory(tableName: string, sealer: Sealer): TradeEventHistory;
}

export interface OrderAuditPorts extends SecretPorts, BusPorts {
  auditStore(tableName: string, sealer: Sealer): Pick<OrderAuditStore, 'append'>;
}

export interface TradingStopPorts extends SecretPorts {
  controlAdmin(tableName: string): ControlAdminStore;
}

export interface CanaryPorts extends SecretPorts {
  readonly send: Send;
}

export interface AuthorizerPorts extends Host {
  readonly readText: ReadText;
}
