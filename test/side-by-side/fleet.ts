/** Instances of both versions over one set of tables, as they are while a deployment goes on. */

import { nodeDigests } from '../../functions/aws/node-digests.ts';
import type { GroupHandler } from '../../functions/compose/group.ts';
import type { Host, OrderPorts, QuotePorts, SettlementPorts } from '../../functions/compose/ports.ts';
import type { SettlementHandler } from '../../functions/compose/settlement.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { functionOf } from '../../functions/rows.ts';
import type { Simulator } from '../../infra/simulator/index.ts';
import { createMemoryStreamedLog } from '../../lib/cache/snapshots/index.ts';
import { findRoute, operations, routesOf } from '../../lib/catalogue/index.ts';
import { scopes } from '../../lib/catalogue/scopes.ts';
import type { Send } from '../../lib/gateway/index.ts';
import {
  callerArn,
  environmentFor,
  identityKey,
  openOnly,
  platformNames,
  proxyEvent,
  secretIds,
  secrets,
  within,
} from '../compositions/scene.ts';
import { DynamoTables } from '../world/dynamo-tables.ts';
import type { Version } from './versions.ts';

/** Of each function and version. */
const instancesEach = 2;

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface FleetOptions {
  readonly simulator: Simulator;
  readonly time: Pick<Host, 'clock' | 'sleep'>;
  readonly send: Send;
  readonly log: (entry: LogEntry) => void;
}

export type Side = 'earlier' | 'today';

export interface Fleet {
  readonly tables: DynamoTables;
  ask(side: Side, target: string, body?: object): Promise<Answer>;
  settle(side: Side): ReturnType<SettlementHandler>;
}

const routes = routesOf(operations);

/** What a request counts against, and which function answers it. */
export const operationAt = (method: string, path: string) => {
  const found = findRoute(routes, method, path);
  return found.kind === 'route' ? found.route.operation : undefined;
};

/** The variables that the stack of the earlier version gave its functions. */
const earlierEnvironment = ({ url }: Simulator): Readonly<Record<string, string>> => ({
  UPSTREAM_BASE_URL: url,
  UPSTREAM_LIMITS: 'interface',
  SECRET_ID: secretIds.app,
  LIMITER_TABLE: platformNames.limiter,
  LIMITER_SHARE: '1',
  CACHE_TABLE: platformNames.cache,
  ACCESS_TABLE: platformNames.access,
  IDENTITY_KEY_SECRET_ID: secretIds.identityKey,
  ORDER_JOURNAL_TABLE: platformNames.journal,
  LAST_PRICE_TABLE: platformNames.cache,
  TRADING_CONTROLS_TABLE: platformNames.controls,
  TRADING_LIMITS: '{}',
});

/** Callers are granted, and limits of trading set, by the commands of the earlier version. */
export async function startFleet(
  versions: Readonly<Record<Side, Version>>,
  options: FleetOptions,
): Promise<Fleet> {
  const { time } = options;
  const tables = new DynamoTables();
  const sides = {
    earlier: start(versions.earlier, earlierEnvironment(options.simulator)),
    today: start(versions.today, environmentFor(options.simulator, {})),
  };
  const { earlier } = versions;
  const identity = earlier.createIdentity(async () => identityKey);
  const by = 'operator';
  await earlier
    .createAccessAdmin({
      store: earlier.createDynamoAccessStore({ client: tables, tableName: platformNames.access }),
      identity,
      by,
    })
    .apply({
      action: 'grant',
      subject: { kind: 'iam', arn: callerArn },
      accounts: ['*'],
      userData: true,
      scopes,
    });
  const store = earlier.createDynamoControlAdmin({ client: tables, tableName: platformNames.controls });
  await earlier.createControlAdmin({ store, identity, by, clock: time.clock }).apply({
    action: 'limits',
    subject: { kind: 'gateway' },
    changes: { max_open_notional: '10000000', max_order_quantity: '50' },
  });

  function start(version: Version, env: Readonly<Record<string, string>>) {
    const ports = portsOf(version, tables, options);
    const { offers } = version;
    const { ACCESS_TABLE: _, ...settling } = env;
    const { IDENTITY_KEY_SECRET_ID: __, ...open } = openOnly(settling);
    const each = (create: () => GroupHandler) => Array.from({ length: instancesEach }, create);
    return {
      settle: version.start(version.settlement, settling, ports),
      'market-data': each(() => version.start(version.group(offers.marketData()), open, ports)),
      orders: each(() => version.start(version.group(offers.orders()), env, ports)),
      'order-cancels': each(() => version.start(version.group(offers.orderCancels()), env, ports)),
      'order-reads': each(() => version.start(version.group(offers.orderReads()), env, ports)),
    };
  }

  let requests = 0;
  return {
    tables,
    async ask(side, target, body) {
      const [path = '', query] = target.split('?');
      const operation = operationAt(body ? 'POST' : 'GET', path);
      if (!operation) throw new TypeError(`${target} is no operation`);
      const instances = sides[side][functionOf(operation) as 'orders'];
      const event = proxyEvent(path, query, body);
      const reply = await instances[requests++ % instancesEach]!(event, within(29_000));
      const bytes = Buffer.from(reply.body, reply.isBase64Encoded ? 'base64' : 'utf8');
      return { status: reply.statusCode, text: bytes.toString() };
    },
    settle: (side) => sides[side].settle({}, within(120_000)),
  };
}

/** As deployed, over tables in this process; a version takes what it knows of them. */
function portsOf(
  version: Version,
  client: DynamoTables,
  { time, send, log }: FleetOptions,
): OrderPorts & QuotePorts & SettlementPorts {
  const { clock, sleep } = time;
  const host: Host = { functionName: 'a-function', log, clock, sleep };
  const partitionOf = (upstream: string, partition: string) => version.storePartition(upstream, partition);
  return {
    ...host,
    send,
    digests: nodeDigests,
    secret: (id) => ({ read: async (which) => (which === 'previous' ? undefined : secrets[id]) }),
    readText: () => Promise.reject(new Error('no issuer')),
    marketDataLimit: undefined,
    storeTime: clock,
    limiterStore: (tableName) => version.createDynamoLimiterStore({ client, tableName }),
    responses: (tableName, partition) => ({
      responses: version.createDynamoResponseStore({ client, tableName, partition }),
      versions: undefined,
    }),
    snapshots: (tableName, upstream) => (partition) =>
      version.createDynamoSnapshotStore({ client, tableName, partition: partitionOf(upstream, partition) }),
    directory: (tableName, partition) =>
      version.createDynamoDirectoryStore({ client, tableName, partition, clock }),
    streamed: () => () => createMemoryStreamedLog(clock),
    snapshotReads: (tableName, upstream, partition) =>
      version.createDynamoSnapshotReads({ client, tableName, partition: partitionOf(upstream, partition) }),
    accessStore: (tableName) => version.createDynamoAccessStore({ client, tableName }),
    journal: (tableName, sealer) => version.createDynamoOrderJournal({ client, tableName, sealer }),
    controls: (tableName, others) => version.createDynamoControls({ client, tableName, others }),
    massCancelRequests: (tableName) => version.createDynamoMassCancelRequests({ client, tableName }),
    checkpoints: (tables) => version.createDynamoCheckpoints!({ client, tables }),
    recovery: (tableName, sealer) => version.createDynamoRecovery!({ client, tableName, sealer }),
    auditLines: (tableName, sealer) => version.createDynamoOrderAudit({ client, tableName, sealer }),
  };
}
