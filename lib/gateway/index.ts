/**
 * Exports the gateway and everything that an application needs to run it: limiter, cache and the ports of their stores.
 *
 * @example
 * const gateway = createGateway({
 *   operations,
 *   upstreamBaseUrl: 'https://api.example.com',
 *   secrets: { read: async () => '{"app_key":"…","app_secret":"…"}' },
 *   access: 'single-user',
 *   limiter: createLimiter({ store: createMemoryLimiterStore(), limits: limiterLimits(), bucket: 'main' }),
 *   cache: createMemoryCacheStores(),
 * });
 */

export type {
  Directory as AccessDirectory,
  Grants,
  KeyedNames,
  Standing,
  StandingQuestion,
} from '../access/directory.ts';
export type { Principal, SenderEvidence, TokenClaims } from '../access/evidence.ts';
export type { TokenFault, TokenVerification, TokenVerifier } from '../access/verifier.ts';
export {
  createMemoryResponseStore,
  type ResponseContent,
  type ResponseStore,
  type StoredResponse,
} from '../cache/responses/index.ts';
export {
  createMemorySnapshotStore,
  type DirectoryDraft,
  type DirectoryStore,
  type FetchedRecords as Fetched,
  type RefreshControl as Control,
  type RefreshFlight as Flight,
  type RefreshKind,
  type RefreshOutcome,
  type RefreshRecord,
  type SnapshotCheckpoint as Checkpoint,
  type SnapshotStore,
  type SymbolLists as Directory,
  type UpstreamError,
} from '../cache/snapshots/index.ts';
export { endpointKinds, endpointLimitsOf, limitPresets, upstreamLimitsFault } from '../catalogue/limits.ts';
export type { Scope } from '../catalogue/scopes.ts';
export { type SymbolListing, symbolListing } from '../catalogue/symbol-listing.ts';
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
export { createLimitsInForce, type LimitsInForce } from '../limiter/tightening.ts';
export {
  type Fault,
  type PartialResult,
  type Refusal,
  type RefusalCode,
  refusalKinds,
  type SnapshotRecord,
  type UpstreamRefusal,
} from '../problem.ts';
export { baseUrlFault } from '../upstream/base-url.ts';
export type { Cause, Caused } from '../upstream/cause.ts';
export { type CacheStep, cacheStep, responsesStep } from './cache.ts';
export {
  type CacheOptions,
  type CacheTuning,
  createMemoryCacheStores,
  type RefreshReport,
} from './cache-options.ts';
export { type CompactJson, compactJson } from './compact-json.ts';
export { createCore, type Gateway } from './core.ts';
export type { SecretSource, SecretVersion } from './credentials.ts';
export { createGateway, type GatewayOptions } from './gateway.ts';
export type { GatewayRequest, GatewayResponse } from './http.ts';
export { limitsInForceKey, type RateLimitReport, type Tightening } from './limits/in-force.ts';
export {
  type EndpointsOptions,
  limiterLimits,
  type OperationLimit,
  type OperationLimits,
  operationLimitsFault,
  tighterLimiterLimits,
} from './limits/operation-limits.ts';
export type { CoreOptions, RequestReport } from './options.ts';
export { createGatewayCancels, type GatewayCancelsOptions } from './orders/cancels.ts';
export {
  createGatewayLastPrices,
  type GatewayLastPricesOptions,
  type PricedKind,
} from './orders/last-prices.ts';
export {
  createGatewayOrderReads,
  type GatewayOrderReadsOptions,
  OrderReadError,
  orderReadOperations,
} from './orders/reads.ts';
export { ordersStep, outcomesStep, unguardedStep } from './orders/step.ts';
export type { OrdersStep } from './orders-port.ts';
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
  type Attempt,
  createFetchSend,
  type LetGo,
  type OutgoingRequest,
  type Send,
  type SendLimits,
} from './send.ts';
export { type UpstreamPaths, upstreamPathsFault, upstreamPathsOf } from './upstream-paths.ts';
export { type AccessOptions, type AccessStep, accessStep } from './who.ts';
