/** Lookups by event, and the ports that a deployment implements. */

export {
  createLowPriorityLimiter,
  type LowPriorityLimiter,
  type LowPriorityOptions,
} from '../limiter/low-priority.ts';
export type { AgeOptions } from './ask.ts';
export type { DirectReply } from './direct.ts';
export type { LookupFailure } from './failure.ts';
export { createLookups, type Lookups, type LookupsOptions } from './lookups.ts';
export { createMemoryLookupStore } from './memory-store.ts';
export type {
  BusDetail,
  Claim,
  ClaimCall,
  LookupBus,
  LookupMessage,
  LookupQueue,
  LookupReport,
  LookupStore,
  StoredReply,
  Wait,
} from './ports.ts';
export { maxEventBytes } from './replies.ts';
