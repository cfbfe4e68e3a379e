/**
 * An exact sliding-window limit that many instances share over one store. `createLimiter` is all that a user
 * needs; `LimiterStore` is the port for the author of another store.
 */

export { type After, afterTimeout } from '../kernel/pauses.ts';
export type { ReserveOptions } from './fallback.ts';
export { createLimiter, type Limiter, type LimiterOptions, type LimiterWiring } from './limiter.ts';
export {
  type Limit,
  type LimitWindow,
  type Margins,
  type Priority,
  type PriorityRule,
  priorities,
  windowOf,
} from './limits.ts';
export type { LimiterReport, Permit, PermitAnswer, PermitCall, RefusalReason } from './permit.ts';
export {
  type Addition,
  createMemoryLimiterStore,
  type LimiterItem,
  type LimiterStore,
  limiterKey,
  type WriteAnswer,
} from './store.ts';
export { StoreThrottled } from './store-throttled.ts';
