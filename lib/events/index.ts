/** Lookups by event: names, types and schemas of the events, and functions that build requests and read replies. */

export {
  defaultDeadlineSeconds,
  eventNames,
  type LookupKind,
  longestDeadlineSeconds,
  replySource,
  requesters,
} from './names.ts';
export {
  type Lookup,
  type LookupFault,
  type ParsedRequest,
  parseRequest,
  type QuoteLookup,
  type Read,
} from './parse-request.ts';
export {
  type BusEntry,
  busEntry,
  joinParts,
  parseReply,
  quoteLookupRequested,
  readRequested,
} from './requester.ts';
export type {
  QuoteLookupCompleted,
  QuoteLookupFailed,
  QuoteLookupRequested,
  ReadCompleted,
  ReadFailed,
  ReadRequested,
  Reply,
  RequestEvent,
} from './schemas.ts';
