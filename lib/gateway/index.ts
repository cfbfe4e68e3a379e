/** The gateway's core and its ports. */

export {
  createMemoryResponseStore,
  type ResponseContent,
  type ResponseStore,
  type StoredResponse,
} from '../cache/responses/index.ts';
export {
  type Checkpoint,
  type Control,
  createMemorySnapshotStore,
  type Directory,
  type DirectoryDraft,
  type DirectoryStore,
  type Fetched,
  type Flight,
  type RefreshKind,
  type RefreshOutcome,
  type RefreshRecord,
  type SnapshotStore,
  type UpstreamError,
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
  type Refusal,
  type RefusalCode,
  refusalKinds,
  refusalResponse,
  type UpstreamRefusal,
} from '../problem.ts';
export { baseUrlFault } from './base-url.ts';
export {
  type CacheFigures,
  type CacheOptions,
  createMemoryCacheStores,
  type RefreshReport,
} from './cache/index.ts';
export { type CompactJson, compactJson } from './compact-json.ts';
export type { SecretSource, SecretVersion } from './credentials.ts';
export { createGateway, type Gateway, type GatewayOptions, type RequestReport } from './gateway.ts';
export type { GatewayRequest, GatewayResponse } from './http.ts';
export {
  limiterLimits,
  type OperationLimit,
  type OperationLimits,
  operationLimitsFault,
} from './operation-limits.ts';
export {
  createFetchSend,
  type LetGo,
  type OutgoingRequest,
  type Send,
  type SendLimits,
  type SendResult,
} from './send.ts';
export { type UpstreamPaths, upstreamPathsFault, upstreamPathsOf } from './upstream-paths.ts';
