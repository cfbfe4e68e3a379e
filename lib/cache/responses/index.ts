/** Response cache that all instances share, and the port of its store. */

export {
  type FetchedResponse,
  freshnessFor,
  type MissLimit,
  type ResponseCall,
  responseKey,
} from './request.ts';
export {
  createResponseCache,
  type ResponseCache,
  type ResponseCacheOptions,
  type ResponseOutcome,
} from './response-cache.ts';
export {
  createMemoryResponseStore,
  maxStoredBytes,
  minuteOf,
  type ResponseContent,
  type ResponseStore,
  type StoredResponse,
} from './store.ts';
export { createVersions, type Versions } from './versions.ts';
