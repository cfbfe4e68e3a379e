/**
 * Ports in this process, for the compositions that are deployed: stores in memory, each by the name of its table, and
 * Node's own sockets. What is kept under one name is seen by every function that is given that name.
 */

import { createGrpcTransport } from '../../functions/aws/grpc-transport.ts';
import { createMqttTransport } from '../../functions/aws/mqtt-transport.ts';
import { nodeDigests } from '../../functions/aws/node-digests.ts';
import { createNodeSend, createNodeText } from '../../functions/aws/node-send.ts';
import type {
  GatewayPorts,
  Host,
  LookupPorts,
  MarketStreamPorts,
  MassCancelPorts,
  OrderAuditPorts,
  OrderPorts,
  OrderStreamPorts,
  SettlementPorts,
  StreamPorts,
  TradeEventPorts,
  TradingStopPorts,
} from '../../functions/compose/ports.ts';
import { type AccessStore, createMemoryAccessStore } from '../../lib/access/store.ts';
import { createVersions } from '../../lib/cache/responses/index.ts';
import { createMemoryDirectoryStore, createMemoryStreamedLog } from '../../lib/cache/snapshots/index.ts';
import { snapshotReadsOf } from '../../lib/cache/snapshots/one-symbol.ts';
import { replySource } from '../../lib/events/names.ts';
import { createMemoryCacheStores } from '../../lib/gateway/index.ts';
import {
  type CheckpointStore,
  createMemoryCheckpoints,
  restoredTables,
  type TableNames,
} from '../../lib/guard-rails/checkpoints.ts';
import { restoredControl, restoredScope } from '../../lib/guard-rails/controls.ts';
import { type ControlStore, createMemoryControls, type MemoryControls } from '../../lib/guard-rails/index.ts';
import { createMemoryLimiterStore } from '../../lib/limiter/index.ts';
import { createMemoryStreamStore } from '../../lib/live/stream-shares.ts';
import { createMemoryLookupStore } from '../../lib/lookups/index.ts';
import { createMemoryOrderAudit } from '../../lib/orders/audit.ts';
import type { EntryChange } from '../../lib/orders/audit-line.ts';
import { createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { withChanges } from '../../lib/orders/journal-changes.ts';
import type { KeptJournal } from '../../lib/orders/memory-journal.ts';
import { createMemoryTradeEventHistory } from '../../lib/trade-events/history.ts';
import { createMemoryTradeEventStore } from '../../lib/trade-events/index.ts';
import { createLocalBus, type LocalBus } from './bus.ts';

/** The ports of every function and worker; a queue comes with the function behind it. */
export type MemoryPorts = OrderPorts &
  SettlementPorts &
  MassCancelPorts &
  TradeEventPorts &
  OrderAuditPorts &
  TradingStopPorts &
  StreamPorts &
  MarketStreamPorts &
  OrderStreamPorts &
  Omit<LookupPorts, 'queue'>;

export interface MemoryPlatform {
  readonly ports: MemoryPorts;
  /** The operator's side of tables and buses, by their names. */
  access(tableName: string): AccessStore;
  controls(tableName: string): MemoryControls;
  /** By the names of tables: a table that is set back has an earlier one. */
  readonly checkpoints: Map<string, string>;
  journal(tableName: string): KeptJournal;
  audit(tableName: string): ReturnType<typeof createMemoryOrderAudit>;
  bus(busName: string): LocalBus;
  /** Each change of an entry of the journal, as the stream of its table brings it. */
  onOrder(tableName: string, listener: (change: EntryChange) => void): void;
  /** A request to cancel what is open was written, as the stream of its table tells it. */
  onMassCancel(tableName: string, listener: () => void): void;
}

/** What there is, by kind: each store has the layout of its kind, and holds nothing of another. */
export interface PlatformNames {
  readonly limiter: string;
  readonly cache: string;
  readonly access: string;
  readonly journal: string;
  readonly audit: string;
  readonly controls: string;
  readonly lookups: string;
  readonly events: string;
  readonly history: string;
  readonly lookupBus: string;
  readonly eventsBus: string;
  readonly ordersBus: string;
}

export interface MemoryPlatformOptions extends Host {
  /** `any`: what is asked for by another name is made, and is another one. */
  readonly names: PlatformNames | 'any';
  readonly marketDataLimit: GatewayPorts['marketDataLimit'];
  /** By their ids. */
  readonly secrets: Readonly<Record<string, string>>;
  /** A listener of a bus threw. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/**
 * @example
 * const { ports } = createMemoryPlatform({ ...host, names, secrets, marketDataLimit: undefined });
 * const handler = start(settlement, env, ports);
 */
export function createMemoryPlatform({
  names: declared,
  secrets,
  onFailure,
  marketDataLimit,
  ...host
}: MemoryPlatformOptions): MemoryPlatform {
  const { clock } = host;
  const names = declared === 'any' ? anyNames : declared;
  const listeners = { order: listening<EntryChange>(), massCancel: listening<void>() };
  const limiters = byName([names.limiter], createMemoryLimiterStore);
  const caches = byName([names.cache], () => byKey(() => createCaches(clock)));
  const leases = byName([names.cache], () => createMemoryTradeEventStore(clock));
  const access = byName([names.access], createMemoryAccessStore);
  const audit = byName([names.audit], createMemoryOrderAudit);
  const lookups = byName([names.lookups], () => createMemoryLookupStore());
  const events = byName([names.events], () => createMemoryTradeEventStore(clock));
  const histories = byName([names.history], () => ({
    history: createMemoryTradeEventHistory(clock),
    streams: createMemoryStreamStore(),
  }));
  const bus = byName([names.lookupBus, names.eventsBus, names.ordersBus], () =>
    createLocalBus({ clock, ...(onFailure && { onFailure }) }),
  );
  const controls = byName([names.controls], (name) =>
    telling(createMemoryControls(), () => listeners.massCancel.tell(name)),
  );
  const checkpoints = new Map<string, string>();
  const checkpointsOf = (tables: TableNames) => createMemoryCheckpoints(tables, checkpoints);
  const journals = byName([names.journal], (name) => {
    const kept: KeptJournal = { entries: new Map(), counters: new Map() };
    const journal = createMemoryOrderJournal(kept);
    return { ...withChanges(journal, (change) => listeners.order.tell(name, change), clock), kept };
  });
  return {
    access,
    controls,
    checkpoints,
    journal: (name) => journals(name).kept,
    audit,
    bus,
    onOrder: listeners.order.add,
    onMassCancel: listeners.massCancel.add,
    ports: {
      ...host,
      secret: (id) => ({ read: async (version) => (version === 'previous' ? undefined : secrets[id]) }),
      send: createNodeSend(),
      digests: nodeDigests,
      readText: createNodeText(),
      limiterStore: limiters,
      storeTime: clock,
      marketDataLimit,
      responses: (name, upstream) => caches(name)(upstream),
      snapshots: (name, upstream) => caches(name)(upstream).snapshots,
      directory: (name, upstream) => caches(name)(upstream).directory,
      streamed: (name, upstream) => caches(name)(upstream).streamed,
      marketStream: (url) => createMqttTransport({ url }),
      leases,
      streams: (name, upstream) =>
        name === names.history ? histories(name).streams : caches(name)(upstream).streams,
      snapshotReads: (name, upstream, partition) =>
        snapshotReadsOf(caches(name)(upstream).snapshots(partition)),
      accessStore: access,
      journal: journals,
      controls: (name, others) => withRestored(controls(name), checkpointsOf, { ...others, controls: name }),
      checkpoints: checkpointsOf,
      recovery: journals,
      auditLines: audit,
      controlAdmin: controls,
      massCancelRequests: (name) => controls(name).massCancels,
      massCancels: (name) => controls(name).massCancels,
      auditStore: audit,
      lookupStore: lookups,
      eventStore: events,
      eventHistory: (name) => histories(name).history,
      transport: (url) => createGrpcTransport({ url }),
      bus(name) {
        const own = bus(name);
        return {
          async publish(entries) {
            own.publish(...entries.map((entry) => ({ ...entry, source: replySource })));
            return entries.map(() => true);
          },
        };
      },
    },
  };
}

/** What one table of the cache holds of one upstream. */
function createCaches(clock: () => number) {
  const { snapshots, responses } = createMemoryCacheStores();
  const streamed = byKey(() => createMemoryStreamedLog(clock));
  const directory = createMemoryDirectoryStore();
  // Unlike a deployed instance, a function here serves several requests at a time, and equal reads share one.
  const versions = createVersions({ store: responses, clock });
  return { snapshots, streamed, responses, directory, versions, streams: createMemoryStreamStore() };
}

/** The same controls, of which a restore of a table is one, as it is in a deployment. */
const withRestored = (
  controls: MemoryControls,
  checkpointsOf: (tables: TableNames) => CheckpointStore,
  tables: TableNames,
): ControlStore => ({
  async read(keys) {
    const found = new Map(await controls.read(keys));
    const isRestored = restoredTables(tables, await checkpointsOf(tables).read()).length > 0;
    return isRestored ? found.set(restoredScope, restoredControl) : found;
  },
});

/** One for each key. */
function byKey<T>(create: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const one = made.get(key) ?? create(key);
    made.set(key, one);
    return one;
  };
}

const anyNames: Partial<PlatformNames> = {};

/** One for each of the names; what has another name is not there, as no table of another name is on AWS. */
function byName<T>(names: readonly (string | undefined)[], create: (name: string) => T): (name: string) => T {
  const find = byKey(create);
  return (name) => {
    if (names[0] !== undefined && !names.includes(name))
      throw new TypeError(`${name} is not there: it would be ${names.join(' or ')}`);
    return find(name);
  };
}

function listening<T>() {
  const all: { readonly name: string; readonly listener: (told: T) => void }[] = [];
  return {
    add: (name: string, listener: (told: T) => void) => void all.push({ name, listener }),
    tell(name: string, told: T) {
      for (const one of all) if (one.name === name) one.listener(told);
    },
  };
}

/** The same controls, which tell of each request to cancel what is open. */
const telling = (controls: MemoryControls, tell: () => void): MemoryControls => ({
  ...controls,
  async write(change) {
    const isWritten = await controls.write(change);
    if (isWritten && change.massCancel) tell();
    return isWritten;
  },
  massCancels: {
    ...controls.massCancels,
    async request(massCancel) {
      await controls.massCancels.request(massCancel);
      tell();
    },
  },
});
