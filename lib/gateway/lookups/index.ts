/** Lookups by event over ports. */

export type { DirectReply } from './direct.ts';
export { createLookups, type Lookups, type LookupsOptions } from './lookups.ts';
export { createMemoryLookupStore } from './memory-store.ts';
export { createPoliteBudget, type PoliteBudget, type PoliteOptions } from './polite-budget.ts';
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
export { mostBytesOfEvent } from './replies.ts';
