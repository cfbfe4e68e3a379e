/** The gateway's core and its ports. */

export {
  createMemoryResponseStore,
  type ResponseStore,
} from '../cache/responses/index.ts';
export {
  createMemorySnapshotStore,
  type DirectoryStore,
  type SnapshotStore,
} from '../cache/snapshots/index.ts';
export { type Caller, callerOf, defaultNetworkPrefix, type NetworkPrefix } from '../identity/caller.ts';
export {
  type Addition,
  createLimiter,
  createMemoryLimiterStore,
  type Limiter,
  type LimiterItem,
  type LimiterOptions,
  type LimiterReport,
  type LimiterStore,
  type Priority,
  StoreThrottled,
  type WriteAnswer,
} from '../limiter/index.ts';
export {
  type Fault,
  type PartialResult,
  type Refusal,
  type RefusalCode,
  refusalKinds,
  type SnapshotRecord,
  type UpstreamRefusal,
} from '../problem.ts';
export { baseUrlFault } from './base-url.ts';
export type { CacheFigures, CacheOptions, RefreshReport } from './cache-options.ts';
export { type CompactJson, compactJson } from './compact-json.ts';
export type { SecretSource, SecretVersion } from './credentials.ts';
export { createGateway, type Gateway } from './gateway.ts';
export type { GatewayRequest, GatewayResponse } from './http.ts';
export { createMemoryCacheStores } from './memory-cache-stores.ts';
export {
  limiterLimits,
  type OperationLimit,
  type OperationLimits,
  operationLimitsFault,
} from './operation-limits.ts';
export type { GatewayOptions, RequestReport } from './options.ts';
export type {
  CachedResponse,
  CacheResult,
  FoundRecord,
  Outcome,
  Refused,
  SnapshotsFound,
  UncachedAnswer,
} from './outcome.ts';
export { refusalResponse } from './render.ts';
export {
  createFetchSend,
  type LetGo,
  type OutgoingRequest,
  type Send,
  type SendLimits,
  type SendResult,
} from './send.ts';
export { type UpstreamPaths, upstreamPathsFault, upstreamPathsOf } from './upstream-paths.ts';
