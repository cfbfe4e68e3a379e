/** Ports on AWS: DynamoDB, Secrets Manager, EventBridge and SQS; and Node's own sockets. */

import { createStoreTime, type StoreTime } from '../../lib/guard-rails/store-time.ts';
import { onDemand } from '../../lib/kernel/once.ts';
import { sleep } from '../../lib/kernel/pauses.ts';
import type {
  AuthorizerPorts,
  GatewayPorts,
  Host,
  JournalPorts,
  LookupPorts,
  MassCancelPorts,
  OrderAuditPorts,
  OrderPorts,
  QuotePorts,
  SecretPorts,
  TradeEventPorts,
  TradingStopPorts,
} from '../compose/ports.ts';
import { writeLog } from '../log/log.ts';
import { createDynamoAccessReader } from './dynamo-access-store.ts';
import { createDynamoClient, type DynamoSender } from './dynamo-client.ts';
import { createDynamoControlAdmin } from './dynamo-control-admin.ts';
import { createDynamoDirectoryStore } from './dynamo-directory-store.ts';
import { createDynamoLimiterStore } from './dynamo-limiter-store.ts';
import { createDynamoLookupStore } from './dynamo-lookup-store.ts';
import { createDynamoMassCancelRequests } from './dynamo-mass-cancel-requests.ts';
import { createDynamoMassCancels } from './dynamo-mass-cancels.ts';
import { createDynamoOrderAudit } from './dynamo-order-audit.ts';
import { createDynamoOrderJournal } from './dynamo-order-journal.ts';
import { createDynamoResponseStore } from './dynamo-response-store.ts';
import { createDynamoSnapshotReads } from './dynamo-snapshot-reads.ts';
import { createDynamoSnapshotStore } from './dynamo-snapshot-store.ts';
import { createDynamoTradeEventStore } from './dynamo-trade-event-store.ts';
import { createDynamoControls } from './dynamo-trading-controls.ts';
import { createEventBus } from './event-bridge.ts';
import { createGrpcTransport } from './grpc-transport.ts';
import { createNodeSend } from './node-send.ts';
import { createNodeText } from './node-text.ts';
import { createSecretsManagerSource } from './secrets-manager.ts';
import { storePartition } from './snapshot-keys.ts';
import { createLookupQueue } from './sqs.ts';

/** One client for all stores of a function; none is made for a function that has no table. */
type Client = () => DynamoSender;

const newClient = (time?: StoreTime): Client =>
  onDemand(() => createDynamoClient(undefined, time && { time }));

export const secretPorts = (host: Host): SecretPorts => ({
  ...host,
  secret: (secretId, onFailure) => createSecretsManagerSource({ secretId, onFailure }),
});

export function gatewayPorts(host: Host, client = newClient()): GatewayPorts {
  return {
    ...secretPorts(host),
    send: createNodeSend(),
    readText: createNodeText(),
    marketDataLimit: undefined,
    limiterStore: (tableName) => createDynamoLimiterStore({ client: client(), tableName }),
    responses: (tableName, upstream) => ({
      responses: createDynamoResponseStore({ client: client(), tableName, partition: upstream }),
      versions: undefined,
    }),
    accessStore: (tableName) => createDynamoAccessReader({ client: client(), tableName }),
  };
}

export const quotePorts = (host: Host, client = newClient()): QuotePorts => ({
  ...gatewayPorts(host, client),
  snapshots: (tableName, upstream) => (partition) =>
    createDynamoSnapshotStore({
      client: client(),
      tableName,
      partition: storePartition(upstream, partition),
    }),
  directory: (tableName, upstream) =>
    createDynamoDirectoryStore({ client: client(), tableName, partition: upstream }),
});

export const journalPorts = (host: Host, client = newClient()): JournalPorts => ({
  ...gatewayPorts(host, client),
  journal: (tableName, sealer) => createDynamoOrderJournal({ client: client(), tableName, sealer }),
});

export function orderPorts(host: Host, given?: Client): OrderPorts {
  const time = createStoreTime(host.clock);
  const client = given ?? newClient(time);
  return {
    ...journalPorts(host, client),
    storeTime: time.now,
    controls: (tableName) => createDynamoControls({ client: client(), tableName }),
    massCancelRequests: (tableName) => createDynamoMassCancelRequests({ client: client(), tableName }),
    snapshotReads: (tableName, upstream, partition) =>
      createDynamoSnapshotReads({
        client: client(),
        tableName,
        partition: storePartition(upstream, partition),
      }),
  };
}

export function massCancelPorts(host: Host): MassCancelPorts {
  const client = newClient();
  return {
    ...journalPorts(host, client),
    massCancels: (tableName) => createDynamoMassCancels({ client: client(), tableName }),
  };
}

const bus: OrderAuditPorts['bus'] = (busName, onFailure) => createEventBus({ busName, onFailure });

export function lookupPorts(host: Host): LookupPorts {
  const client = newClient();
  return {
    ...quotePorts(host, client),
    bus,
    lookupStore: (tableName, sealer) => createDynamoLookupStore({ client: client(), tableName, sealer }),
    queue: (names, onFailure) => createLookupQueue({ ...names, onFailure }),
  };
}

export function tradeEventPorts(host: Host): TradeEventPorts {
  const client = newClient();
  const { clock } = host;
  return {
    ...gatewayPorts(host, client),
    bus,
    transport: (url) => createGrpcTransport({ url }),
    eventStore: (tableName, sealer) =>
      createDynamoTradeEventStore({ client: client(), tableName, sealer, clock }),
  };
}

export const orderAuditPorts = (host: Host): OrderAuditPorts => ({
  ...secretPorts(host),
  bus,
  auditStore: (tableName, sealer) =>
    createDynamoOrderAudit({ client: createDynamoClient(), tableName, sealer }),
});

export const tradingStopPorts = (host: Host): TradingStopPorts => ({
  ...secretPorts(host),
  controlAdmin: (tableName) => createDynamoControlAdmin({ client: createDynamoClient(), tableName }),
});

/** Without an AWS client: a function that starts before every other one has none to load. */
export const authorizerPorts = (host: Host): AuthorizerPorts => ({ ...host, readText: createNodeText() });

/** What every function has of Lambda. */
export const lambdaHost = (): Host => ({
  functionName: process.env.AWS_LAMBDA_FUNCTION_NAME ?? '',
  log: writeLog,
  clock: Date.now,
  sleep,
});
