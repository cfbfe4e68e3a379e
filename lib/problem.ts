/** Table of the gateway's refusals: code, status and text of each. */

import { shorten } from './catalogue/faults.ts';
import { type Caused, causedBy, productIn } from './upstream/cause.ts';

interface RefusalKind {
  readonly status: number;
  /** The member `error_code`, for clients of the interface that switch on it. */
  readonly errorCode: string;
  readonly detail: string;
  /** The answer carries the gateway's `error_code` and `message`, whatever the upstream wrote. */
  readonly ownWords?: true;
  /** Default of Retry-After in seconds, when the refusal itself names no time. */
  readonly retryAfter?: number;
}

/** Ends the text of a refusal before anything left the gateway: a caller need not look for an effect. */
export const notSent = 'The request was not sent; it had no effect.';

/** Refusals by code. Codes are stable: none is ever given another meaning. `detail` is the default text for people. */
export const refusalKinds = {
  invalid_parameter: {
    status: 400,
    errorCode: 'INVALID_PARAMETER',
    detail: 'The request has wrong parameters.',
  },
  invalid_body: { status: 400, errorCode: 'INVALID_PARAMETER', detail: 'The body cannot be accepted.' },
  missing_api_key: {
    status: 403,
    errorCode: 'FORBIDDEN',
    detail: 'The header x-api-key is missing or its key is not known.',
  },
  unknown_api_key: { status: 403, errorCode: 'FORBIDDEN', detail: 'The key in x-api-key is not known.' },
  forbidden: { status: 403, errorCode: 'FORBIDDEN', detail: 'The caller may not make this request.' },
  missing_token: {
    status: 401,
    errorCode: 'UNAUTHORIZED',
    detail: `The request needs a header Authorization: Bearer … with an access token. ${notSent}`,
  },
  /** The detail says what is wrong with the token. */
  invalid_token: {
    status: 401,
    errorCode: 'UNAUTHORIZED',
    detail: `The access token is not accepted. ${notSent}`,
  },
  insufficient_scope: {
    status: 403,
    errorCode: 'FORBIDDEN',
    detail: `The caller has not been granted the scope of this operation. ${notSent}`,
  },
  account_not_granted: {
    status: 403,
    errorCode: 'ACCOUNT_ACCESS_DENIED',
    detail: `The caller has not been granted this account; the gateway’s operator grants it. ${notSent}`,
  },
  /** A pre-trade check or the kill switch refuses the order. The detail names the check, its limit and the order's value. */
  order_blocked: {
    status: 403,
    errorCode: 'ORDER_BLOCKED',
    detail: `The gateway’s limits do not allow this order. ${notSent}`,
  },
  data_not_subscribed: {
    status: 403,
    errorCode: 'UNAUTHORIZED_CATEGORY',
    detail: 'The upstream account has no subscription for this data.',
  },
  unknown_operation: {
    status: 404,
    errorCode: 'NOT_FOUND',
    detail: 'No operation has this path, or its group is not open here.',
  },
  upstream_path_unknown: {
    status: 404,
    errorCode: 'NOT_FOUND',
    detail:
      'The upstream does not serve this path. The operation may answer at another of its paths; if none of them answers, the gateway’s app key belongs to another environment of the upstream.',
  },
  method_not_allowed: {
    status: 405,
    errorCode: 'METHOD_NOT_ALLOWED',
    detail: 'This path has another method.',
  },
  /** The id of an order, or the header Idempotency-Key, belongs to an earlier request with other contents. */
  idempotency_conflict: {
    status: 409,
    errorCode: 'IDEMPOTENCY_CONFLICT',
    detail: `An earlier request with other contents has the same id. ${notSent}`,
    ownWords: true,
  },
  payload_too_large: { status: 413, errorCode: 'PAYLOAD_TOO_LARGE', detail: 'The request is too large.' },
  unsupported_media_type: {
    status: 415,
    errorCode: 'UNSUPPORTED_MEDIA_TYPE',
    detail: `The body must be sent with the header Content-Type: application/json. ${notSent}`,
  },
  /** The upstream answered 400, 404 or 417; the problem carries the upstream's code and status. */
  upstream_rejected: {
    status: 422,
    errorCode: 'UPSTREAM_REJECTED',
    detail: 'The upstream refused the request.',
  },
  throttled: {
    status: 429,
    errorCode: 'TOO_MANY_REQUESTS',
    detail: `Too many requests for this key. ${notSent}`,
  },
  quota_exceeded: {
    status: 429,
    errorCode: 'TOO_MANY_REQUESTS',
    detail: `The quota of this key is used up. ${notSent}`,
    retryAfter: 3600,
  },
  /** The limiter grants no permit in time. The client did nothing wrong, but has to wait, hence 429. */
  budget_used_up: {
    status: 429,
    errorCode: 'TOO_MANY_REQUESTS',
    detail:
      'The upstream’s request limit, which all clients share, is used up for now; nothing is wrong with this key.',
  },
  gateway_error: {
    status: 500,
    errorCode: 'INTERNAL_ERROR',
    detail: 'The gateway failed; nothing is wrong with the request.',
  },
  upstream_auth_failed: {
    status: 502,
    errorCode: 'UPSTREAM_AUTH_FAILED',
    detail: 'The upstream did not accept the gateway’s credentials; nothing is wrong with the request.',
    ownWords: true,
  },
  upstream_error: {
    status: 502,
    errorCode: 'UPSTREAM_ERROR',
    detail: 'The upstream failed.',
  },
  upstream_broken_answer: {
    status: 502,
    errorCode: 'UPSTREAM_ERROR',
    detail: 'The upstream’s answer was cut off or is not JSON.',
  },
  upstream_answer_too_large: {
    status: 502,
    errorCode: 'UPSTREAM_ERROR',
    detail: 'The upstream’s answer is larger than the gateway passes on; ask for less.',
  },
  upstream_unreachable: {
    status: 502,
    errorCode: 'UPSTREAM_UNREACHABLE',
    detail: `The upstream cannot be reached. ${notSent}`,
  },
  /** 502 on purpose: clients are less likely to repeat a request after it than after another status. */
  outcome_unknown: {
    status: 502,
    errorCode: 'OUTCOME_UNKNOWN',
    detail: 'The request was sent, but its answer was lost: it may or may not have taken effect.',
    ownWords: true,
  },
  /** The cached records are too old or incomplete, and the upstream returned nothing better in time. */
  no_fresh_answer: {
    status: 503,
    errorCode: 'SERVICE_NOT_AVAILABLE',
    detail: 'No answer that is fresh enough is known, and the upstream gave none in time.',
    retryAfter: 1,
  },
  upstream_rate_limited: {
    status: 503,
    errorCode: 'TOO_MANY_REQUESTS',
    detail: 'The upstream’s request limit is reached.',
    retryAfter: 10,
  },
  upstream_quota_used_up: {
    status: 503,
    errorCode: 'REQUEST_TOTAL_COUNT_EXCEEDED',
    detail: 'The upstream’s request quota is used up.',
    retryAfter: 3600,
  },
  /** The access token failed, not the signature: an operator fixes the two in different ways. */
  upstream_token_expired: {
    status: 503,
    errorCode: 'UPSTREAM_TOKEN_EXPIRED',
    detail:
      'The upstream did not accept the gateway’s access token: it has expired, is not confirmed, or is missing; nothing is wrong with the request, and it had no effect. The gateway’s operator runs countersign token.',
    ownWords: true,
    retryAfter: 60,
  },
  secret_not_set: {
    status: 503,
    errorCode: 'SECRET_NOT_SET',
    detail: `The gateway has no app secret yet; its operator sets it. ${notSent}`,
    retryAfter: 60,
  },
  secret_invalid: {
    status: 503,
    errorCode: 'SECRET_INVALID',
    detail: `The gateway’s app secret is not of the right form; its operator sets it. ${notSent}`,
    retryAfter: 60,
  },
  /** Users and their rights, or the issuer's keys, cannot be read. */
  access_unavailable: {
    status: 503,
    errorCode: 'SERVICE_NOT_AVAILABLE',
    detail: `The gateway cannot find out now what the caller may do. ${notSent}`,
    retryAfter: 5,
  },
  /** The journal of orders cannot be written: without an entry no order is sent. */
  journal_unavailable: {
    status: 503,
    errorCode: 'SERVICE_NOT_AVAILABLE',
    detail: `The gateway cannot write its journal of orders now. ${notSent}`,
    retryAfter: 2,
  },
  /** Pre-trade limits and the kill switch cannot be read: without them no order is placed. */
  trading_limits_unavailable: {
    status: 503,
    errorCode: 'SERVICE_NOT_AVAILABLE',
    detail: `The gateway cannot find out now whether trading is allowed. ${notSent}`,
    retryAfter: 2,
  },
  /** A table of orders, limits or users was restored: until the open orders are known, no order is placed. */
  orders_closed: {
    status: 503,
    errorCode: 'SERVICE_NOT_AVAILABLE',
    detail: `The gateway’s tables were restored to an earlier time: until it knows again what is open, orders are neither placed nor replaced. Cancels go through. ${notSent} Of an earlier one with the same id this says nothing.`,
    retryAfter: 60,
  },
  secret_unavailable: {
    status: 503,
    errorCode: 'SECRET_UNAVAILABLE',
    detail: `The gateway cannot read its app secret now. ${notSent}`,
    retryAfter: 5,
  },
  gateway_timeout: {
    status: 504,
    errorCode: 'GATEWAY_TIMEOUT',
    detail: 'The gateway gave no answer in time.',
  },
  upstream_timeout: {
    status: 504,
    errorCode: 'GATEWAY_TIMEOUT',
    detail: 'The upstream gave no answer in time.',
  },
} as const satisfies Record<string, RefusalKind>;

export type RefusalCode = keyof typeof refusalKinds;

/** One wrong part of a request. */
export interface Fault {
  readonly in: 'query' | 'body' | 'header';
  /** The parameter's name, or the JSON Pointer of the place in the body. */
  readonly name: string;
  readonly detail: string;
  /** Values or form that would be accepted. */
  readonly allowed?: string;
  /** The value received, shortened. */
  readonly received?: string;
  /** The pre-trade check that the order fails, such as `max_order_notional`. */
  readonly check?: string;
}

/** Limit of the faults in one text: a query may have thousands of wrong parameters. The check of a body names fewer. */
const maxFaultsInWords = 50;

/**
 * Writes the faults as one text, for clients that do not read the list. The received values are left out, because the
 * client has them.
 */
export function faultsInWords(faults: readonly Fault[]): string {
  const texts = faults
    .slice(0, maxFaultsInWords)
    .map(({ name, detail, allowed }) =>
      allowed === undefined ? `${name}: ${detail}` : `${name}: ${detail} (${shorten(allowed)})`,
    );
  const more = faults.length - texts.length;
  return [...texts, ...(more > 0 ? [`${more} more faults`] : [])].join('; ');
}

/** A refusal as the upstream wrote it. */
export interface UpstreamRefusal {
  readonly status: number;
  readonly errorCode?: string;
  readonly message?: string;
  readonly requestId?: string;
}

/** A refused request: a value, not an exception. */
export interface Refusal extends Caused {
  readonly code: RefusalCode;
  /** Replaces the kind's status. */
  readonly status?: number;
  readonly detail?: string;
  readonly errors?: readonly Fault[];
  /** Guard rails that block the order, for the log: each check and its owner, such as `max_order_quantity of account`. */
  readonly blockedBy?: readonly string[];
  readonly upstream?: UpstreamRefusal | undefined;
  /** Tells the caller how to find out an unknown outcome. */
  readonly findOut?: string;
  readonly retryAfterSeconds?: number;
  readonly allow?: readonly string[];
  /** The upstream's limit that has no permit left, for the gateway itself. */
  readonly usedUp?: string | undefined;
  /** Only this user's share of a common limit is used up: other users have room. For the gateway itself. */
  readonly isOwnShare?: true;
  /** The part of a request for snapshots that the cache can serve although the whole is refused. */
  readonly partial?: PartialResult;
}

export interface PartialResult {
  readonly records: readonly SnapshotRecord[];
  /** The symbols without a record. */
  readonly missing: readonly string[];
}

/** One symbol's record, in the upstream's bytes. */
export interface SnapshotRecord {
  readonly symbol: string;
  readonly bytes: Uint8Array;
  readonly ageMs: number;
}

/** Members of a report about the upstream: its codes and causes, never its texts. */
export interface ReportedUpstream extends Caused {
  readonly upstreamStatus?: number;
  readonly upstreamCode?: string;
  /** Market data product that is not subscribed to, as the upstream names it: `US_STOCK`. */
  readonly product?: string;
}

export function reportedUpstream({ code, upstream, ...own }: Refusal): ReportedUpstream {
  const product = code === 'data_not_subscribed' ? productIn(upstream?.message) : undefined;
  return {
    ...(upstream && { upstreamStatus: upstream.status }),
    ...(upstream?.errorCode && { upstreamCode: upstream.errorCode }),
    ...causedBy(own),
    ...(product && { product }),
  };
}

/** Makes a refusal fit for other requests that share it: the request id belongs to one of them only. */
export const withoutRequestId = ({ requestId: _, ...upstream }: UpstreamRefusal): UpstreamRefusal => upstream;

export const isRefusal = <T extends object>(value: T | Refusal): value is Refusal =>
  'code' in value && Object.hasOwn(refusalKinds, value.code);

/** A refusal with the defaults of its code filled in: the same for an HTTP answer and for an event. */
export interface Problem extends Caused {
  readonly status: number;
  readonly code: RefusalCode;
  readonly detail: string;
  /** `error_code` and `message`: the members that clients of the upstream's interface know. */
  readonly errorCode: string;
  readonly message: string;
  readonly errors?: readonly Fault[];
  readonly findOut?: string;
  readonly upstream?: UpstreamRefusal;
  /** Whole seconds, at least one, as Retry-After carries them. */
  readonly retryAfterSeconds?: number;
}

export function problemOf({ code, errors, upstream, findOut, ...own }: Refusal): Problem {
  const kind: RefusalKind = refusalKinds[code];
  const detail = own.detail ?? kind.detail;
  // A client that switches on the upstream's code must not conclude from it that its own credentials are wrong, or that
  // it can send an order again.
  const quoted = kind.ownWords ? undefined : upstream;
  const retryAfter = own.retryAfterSeconds ?? kind.retryAfter;
  return {
    status: own.status ?? kind.status,
    code,
    detail,
    errorCode: quoted?.errorCode ?? kind.errorCode,
    message: quoted?.message ?? detail,
    ...causedBy(own),
    ...(errors && { errors }),
    ...(findOut !== undefined && { findOut }),
    ...(upstream && { upstream }),
    ...(retryAfter !== undefined && { retryAfterSeconds: Math.max(1, Math.ceil(retryAfter)) }),
  };
}
