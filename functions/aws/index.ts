/**
 * Exports the deployed functions' stores and senders on AWS, a handler that runs your own gateway as a Lambda function,
 * and the functions themselves, to start from your own handler file.
 *
 * @example
 * const gateway = createGateway({ operations, upstreamBaseUrl, secrets });
 * export const handler = createProxyHandler(gateway);
 */

export * as compositions from '../compose/functions.ts';
export type { GroupHandler } from '../compose/group.ts';
export * as offers from '../compose/offers.ts';
export * as orderOffers from '../compose/order-offers.ts';
export type { Composition } from '../compose/start.ts';
export { createDynamoAccessStore } from './dynamo-access-store.ts';
export { createDynamoControlAdmin } from './dynamo-control-admin.ts';
export { createDynamoDirectoryStore } from './dynamo-directory-store.ts';
export { createDynamoClient, type DynamoClientOptions, type DynamoSender } from './dynamo-http.ts';
export { createDynamoLimiterStore } from './dynamo-limiter-store.ts';
export { createDynamoMassCancels } from './dynamo-mass-cancels.ts';
export { createDynamoOrderJournal } from './dynamo-order-journal.ts';
export { createDynamoResponseStore } from './dynamo-response-store.ts';
export { createDynamoSnapshotStore } from './dynamo-snapshot-store.ts';
export { createDynamoStreamStore } from './dynamo-stream-store.ts';
export { createDynamoTradeEventStore } from './dynamo-trade-event-store.ts';
export { createDynamoControls } from './dynamo-trading-controls.ts';
export { createGrpcTransport } from './grpc-transport.ts';
export * as orderPorts from './order-ports.ts';
export * as ports from './ports.ts';
export { createProxyHandler, type ProxyHandlerOptions } from './proxy-handler.ts';
export { streaming } from './response-stream.ts';
export { createSecretsManagerSource, type SecretsManagerOptions } from './secrets-manager.ts';
