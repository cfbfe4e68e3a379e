/**
 * The typed client: one method for each of its operations, through a gateway or with a signer. Uses only Web APIs:
 * fetch, Headers, AbortController, timers.
 */

export { streamStockSnapshots } from '../catalogue/live-quotes.ts';
export {
  addDecimals,
  compareDecimals,
  type DecimalParts,
  decimalParts,
  decimalToNumber,
  fixedDecimal,
  multiplyDecimals,
  plainDecimal,
  type Rounding,
  subtractDecimals,
} from '../kernel/decimals.ts';
export { CountersignError } from '../signer/errors.ts';
export { createClient } from './client.ts';
export type { Connection, PreparedRequest, TextSource } from './connection.ts';
export { type DirectConnectionOptions, direct } from './direct.ts';
export {
  BrokenAnswerError,
  type ClientError,
  type ClientErrorKind,
  type Fault,
  type GatewayCode,
  InvalidRequestError,
  isClientError,
  OutcomeUnknownError,
  type RefusalFacts,
  RefusedError,
  TimedOutError,
  UnreachableError,
  type UpstreamRefusal,
} from './errors.ts';
export { type FollowUpdate, follow, type StreamOperation } from './follow.ts';
export type { FollowedQuote, QuoteState } from './followed.ts';
export { dayToDate, epochNanoseconds, toCompactDay, toDate, toDay } from './moments.ts';
export type { FollowOptions } from './over-connections.ts';
export { recordsIn, reported } from './reading.ts';
export type { ClientRequest } from './request.ts';
export type { TokenRequest, TokenSource } from './tokens.ts';
export type {
  Answer,
  AnyQuery,
  Arguments,
  BodyOf,
  Call,
  CallOptions,
  Client,
  ClientOptions,
  ItemOf,
  KeyOption,
  Method,
  OptionsOf,
  PagedCall,
  QueryOf,
  ResultOf,
} from './types.ts';
export { type GatewayConnectionOptions, viaGateway } from './via-gateway.ts';
