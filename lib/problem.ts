/** Every way in which the gateway says no, and the one place where a refusal becomes an answer. */

import type { GatewayResponse } from './gateway/http.ts';

interface Kind {
  readonly status: number;
  /** The member `error_code`, for clients of the interface that switch on it. */
  readonly errorCode: string;
  readonly detail: string;
  /** `error_code` and `message` are ours, whatever the upstream said. */
  readonly ownWords?: true;
  /** Seconds after which asking again makes sense, where nothing better is known. */
  readonly retryAfter?: number;
}

/** Stable: a code is never given another meaning. `detail` is the default text for people. */
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
  forbidden: { status: 403, errorCode: 'FORBIDDEN', detail: 'The caller may not make this request.' },
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
    detail: 'The upstream does not serve this path; the operation may answer at another of its paths.',
  },
  method_not_allowed: {
    status: 405,
    errorCode: 'METHOD_NOT_ALLOWED',
    detail: 'This path has another method.',
  },
  payload_too_large: { status: 413, errorCode: 'PAYLOAD_TOO_LARGE', detail: 'The request is too large.' },
  unsupported_media_type: {
    status: 415,
    errorCode: 'UNSUPPORTED_MEDIA_TYPE',
    detail: 'The body must be sent as application/json.',
  },
  /** The upstream's 400, 404 or 417; the answer has the upstream's code and takes its status. */
  upstream_rejected: {
    status: 422,
    errorCode: 'UPSTREAM_REJECTED',
    detail: 'The upstream refused the request.',
  },
  throttled: { status: 429, errorCode: 'TOO_MANY_REQUESTS', detail: 'Too many requests for this key.' },
  quota_exceeded: {
    status: 429,
    errorCode: 'TOO_MANY_REQUESTS',
    detail: 'The quota of this key is used up.',
    retryAfter: 3600,
  },
  /** The budget gives no permission in time: it is not the client's doing, but the client is who waits. */
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
    detail: 'The upstream cannot be reached; the request was not sent.',
  },
  /** Status 502 on purpose: no status says it better, and none invites clients less to send again. */
  outcome_unknown: {
    status: 502,
    errorCode: 'OUTCOME_UNKNOWN',
    detail: 'The request was sent, but its answer was lost: it may or may not have taken effect.',
    ownWords: true,
  },
  /** What is known is too old or not all that was asked for, and the upstream gave nothing better in time. */
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
  secret_not_set: {
    status: 503,
    errorCode: 'SECRET_NOT_SET',
    detail: 'The gateway has no app secret yet; its operator sets it.',
    retryAfter: 60,
  },
  secret_invalid: {
    status: 503,
    errorCode: 'SECRET_INVALID',
    detail: 'The gateway’s app secret is not of the right form; its operator sets it.',
    retryAfter: 60,
  },
  secret_unavailable: {
    status: 503,
    errorCode: 'SECRET_UNAVAILABLE',
    detail: 'The gateway cannot read its app secret now.',
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
} as const satisfies Record<string, Kind>;

export type RefusalCode = keyof typeof refusalKinds;

/** One wrong part of a request. */
export interface Fault {
  readonly in: 'query' | 'body' | 'header';
  /** The parameter's name, or the JSON Pointer of the place in the body. */
  readonly name: string;
  readonly detail: string;
  /** What would be right. */
  readonly allowed?: string;
  /** What came, shortened. */
  readonly received?: string;
}

/** What the upstream said when it refused. */
export interface UpstreamRefusal {
  readonly status: number;
  readonly errorCode?: string;
  readonly message?: string;
  readonly requestId?: string;
}

/** An answer that says no: a value, not an exception. */
export interface Refusal {
  readonly code: RefusalCode;
  /** In place of the kind's status. */
  readonly status?: number;
  readonly detail?: string;
  readonly errors?: readonly Fault[];
  readonly upstream?: UpstreamRefusal;
  /** How to learn what became of a request whose outcome is unknown. */
  readonly findOut?: string;
  readonly retryAfterSeconds?: number;
  readonly allow?: readonly string[];
  /** Further members of the problem, as JSON without the braces: what others wrote keeps its bytes. */
  readonly rawMembers?: string;
}

/** For others than the one whose request it was. */
export const withoutRequestId = ({ requestId: _, ...upstream }: UpstreamRefusal): UpstreamRefusal => upstream;

export const isRefusal = <T extends object>(value: T | Refusal): value is Refusal =>
  'code' in value && Object.hasOwn(refusalKinds, value.code);

/**
 * RFC 9457 problem+json with our stable `code`, and besides `error_code` and `message`, which clients of
 * the interface know. `type` is left at its default, about:blank.
 */
export function refusalResponse(refusal: Refusal, requestId: string): GatewayResponse {
  const kind: Kind = refusalKinds[refusal.code];
  const status = refusal.status ?? kind.status;
  const detail = refusal.detail ?? kind.detail;
  const { upstream } = refusal;
  // A client that switches on the upstream's code must not read there that its own credentials are wrong, or
  // that an order can be sent again.
  const words = kind.ownWords ? undefined : upstream;
  const retryAfter = refusal.retryAfterSeconds ?? kind.retryAfter;
  const problem = {
    title: titles[status] ?? 'Error',
    status,
    detail,
    code: refusal.code,
    request_id: requestId,
    error_code: words?.errorCode ?? kind.errorCode,
    message: words?.message ?? detail,
    errors: refusal.errors,
    find_out: refusal.findOut,
    upstream: upstream && {
      status: upstream.status,
      error_code: upstream.errorCode,
      message: upstream.message,
      request_id: upstream.requestId,
    },
  };
  const text = JSON.stringify(problem);
  const raw = refusal.rawMembers;
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...(retryAfter !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
      ...(refusal.allow && { allow: refusal.allow.join(', ') }),
    },
    body: new TextEncoder().encode(raw === undefined ? text : `${text.slice(0, -1)},${raw}}`),
  };
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};
