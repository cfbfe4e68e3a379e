/** The budget that all instances share, and its ports. */

export type { PermitAnswer } from './client.ts';
export type { ReserveOptions } from './fallback.ts';
export { limiterKey } from './key.ts';
export { createLimiter, type Limiter, type LimiterOptions, type PermitCall } from './limiter.ts';
export { createMemoryLimiterStore } from './memory-store.ts';
export { type Limit, type LimitWindow, type Margins, windowOf } from './options.ts';
export type { Permit } from './permit.ts';
export { type Priority, priorities } from './priorities.ts';
export type { LimiterReport } from './report.ts';
export {
  type Addition,
  type LimiterItem,
  type LimiterStore,
  StoreThrottled,
  type WriteAnswer,
} from './store.ts';
export { type After, afterTimeout } from './store-clock.ts';
export type { RefusalReason } from './wait-queue.ts';
