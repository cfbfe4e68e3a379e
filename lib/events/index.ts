/** Lookups by event: their names, types and schemas; build requests, read replies. */

export { type BusEntry, busEntry, quoteLookupRequested, readRequested } from './build.ts';
export {
  defaultDeadlineSeconds,
  eventNames,
  type LookupKind,
  longestDeadlineSeconds,
  replySource,
  requesters,
} from './names.ts';
export { joinParts, parseReply } from './parse-reply.ts';
export {
  type Lookup,
  type LookupFault,
  type ParsedRequest,
  parseRequest,
  type QuoteLookup,
  type Read,
} from './parse-request.ts';
export type {
  QuoteLookupCompleted,
  QuoteLookupFailed,
  QuoteLookupRequested,
  ReadCompleted,
  ReadFailed,
  ReadRequested,
  Reply,
  RequestEvent,
} from './types.ts';
