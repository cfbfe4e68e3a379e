/** Ports on AWS: DynamoDB, Secrets Manager, EventBridge, SQS, and Node's own sockets. `order-ports.ts` has those for orders. */

import type { StoreTime } from '../../lib/guard-rails/store-time.ts';
import { onDemand } from '../../lib/kernel/once.ts';
import { sleep } from '../../lib/kernel/pauses.ts';
import type {
  AuthorizerPorts,
  BusPorts,
  CanaryPorts,
  GatewayPorts,
  Host,
  LookupPorts,
  QuotePorts,
  SecretPorts,
  StreamPorts,
} from '../compose/ports.ts';
import { writeLog } from '../log/log.ts';
import { createDynamoAccessReader } from './dynamo-access-store.ts';
import { createDynamoClient, type DynamoSender } from './dynamo-client.ts';
import { createDynamoDirectoryStore } from './dynamo-directory-store.ts';
import { createDynamoLimiterStore } from './dynamo-limiter-store.ts';
import { createDynamoLookupStore } from './dynamo-lookup-store.ts';
import { createDynamoResponseStore } from './dynamo-response-store.ts';
import { createDynamoSnapshotStore } from './dynamo-snapshot-store.ts';
import { createDynamoStreamStore } from './dynamo-stream-store.ts';
import { createDynamoStreamedLog } from './dynamo-streamed-log.ts';
import { createEventBus } from './event-bridge.ts';
import { nodeDigests } from './node-digests.ts';
import { createNodeSend, createNodeText } from './node-send.ts';
import { createSecretsManagerSource } from './secrets-manager.ts';
import { storePartition } from './snapshot-keys.ts';
import { createLookupQueue } from './sqs.ts';
import { withThrottlesTold } from './throttles-told.ts';

/** Creates the one client for all stores of a function on the first call, so that a function without a table has none. */
export type Client = () => DynamoSender;

export const newClient = (host: Host, time?: StoreTime): Client =>
  onDemand(() => withThrottlesTold(createDynamoClient(undefined, time && { time }), host));

export const secretPorts = (host: Host): SecretPorts => ({
  ...host,
  secret: (secretId, onFailure) => createSecretsManagerSource({ secretId, onFailure }),
});

export const canaryPorts = (host: Host): CanaryPorts => ({ ...secretPorts(host), send: createNodeSend() });

export function gatewayPorts(host: Host, client = newClient(host)): GatewayPorts {
  return {
    ...secretPorts(host),
    send: createNodeSend(),
    digests: nodeDigests,
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

export const quotePorts = (host: Host, client = newClient(host)): QuotePorts => ({
  ...gatewayPorts(host, client),
  snapshots: (tableName, upstream) => (partition) =>
    createDynamoSnapshotStore({
      client: client(),
      tableName,
      partition: storePartition(upstream, partition),
    }),
  directory: (tableName, upstream) =>
    createDynamoDirectoryStore({ client: client(), tableName, partition: upstream }),
  streamed: (tableName, upstream) => (partition) =>
    createDynamoStreamedLog({
      client: client(),
      tableName,
      partition: storePartition(upstream, partition),
    }),
});

export const streamPorts = (host: Host, client = newClient(host)): StreamPorts => ({
  ...quotePorts(host, client),
  streams: (tableName, upstream) =>
    createDynamoStreamStore({ client: client(), tableName, partition: upstream }),
});

export const bus: BusPorts['bus'] = (busName, onFailure) => createEventBus({ busName, onFailure });

export function lookupPorts(host: Host): LookupPorts {
  const client = newClient(host);
  return {
    ...quotePorts(host, client),
    bus,
    lookupStore: (tableName, sealer) => createDynamoLookupStore({ client: client(), tableName, sealer }),
    queue: (names, onFailure) => createLookupQueue({ ...names, onFailure }),
  };
}

/** Ports of the authorizer, without an AWS client: it runs before every other function, so it must start fast. */
export const authorizerPorts = (host: Host): AuthorizerPorts => ({ ...host, readText: createNodeText() });

/** The host of every Lambda function. */
export const lambdaHost = (): Host => ({
  functionName: process.env.AWS_LAMBDA_FUNCTION_NAME ?? '',
  log: writeLog,
  clock: Date.now,
  sleep,
});
