/** Lookups by event, and the ports that a deployment implements. */

export { createLookups, type Lookups, type LookupsOptions } from './batch.ts';
export { lookUpDirectly } from './direct.ts';
export {
  type BusDetail,
  type Claim,
  type ClaimCall,
  createMemoryLookupStore,
  type LookupBus,
  type LookupMessage,
  type LookupParts,
  type LookupQueue,
  type LookupReport,
  type LookupStore,
  type StoredReply,
  type Wait,
} from './ports.ts';
