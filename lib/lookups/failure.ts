/** Why something could not be had, as the gateway's refusal says it. */

import type { ParsedRequest } from '../events/parse-request.ts';
import type { GatewayResponse } from '../gateway/http.ts';

export interface Failure {
  readonly code: string;
  /** It may be had later, without a change of the request. */
  readonly retryable: boolean;
  readonly detail: string;
  /** Before that asking again is of no use. */
  readonly retryAfterMs?: number;
  readonly errors?: readonly object[];
  readonly upstream?: object;
}

interface Problem {
  readonly code?: unknown;
  readonly detail?: unknown;
  readonly errors?: readonly object[];
  readonly upstream?: object;
}

/** @param response not a 200 */
export function failureOf({ status, headers, body }: GatewayResponse): Failure {
  const { code, detail, errors, upstream } = problemOf(body);
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return {
    code: typeof code === 'string' ? code : 'gateway_error',
    // An answer that is too large is so the next time too.
    retryable: (status === 429 || status >= 500) && code !== 'upstream_answer_too_large',
    detail: typeof detail === 'string' ? detail : 'The gateway failed.',
    ...(seconds > 0 && { retryAfterMs: seconds * 1000 }),
    ...(errors && { errors }),
    ...(upstream && { upstream }),
  };
}

function problemOf(body: Uint8Array): Problem {
  try {
    const problem: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof problem === 'object' && problem !== null ? problem : {};
  } catch {
    return {};
  }
}

export const deadlinePassed: Failure = {
  code: 'deadline_passed',
  retryable: true,
  detail: 'The deadline passed before the request could be answered.',
};

export const answerTooLarge: Failure = {
  code: 'answer_too_large',
  retryable: false,
  detail: 'The answer is larger than can be kept for a reply; ask for less.',
};

/** What the upstream's words about a symbol alone mean to the lookup: there is no such symbol. */
export const isRejection = ({ code }: Failure) => code === 'upstream_rejected';

/** It says nothing of others: this requester has brought too much that does not exist, or what nobody has yet. */
export const isOfCaller = ({ code }: Failure) => code === 'throttled' || code === 'no_fresh_answer';

/** What could not be read as a request. */
export type Refused = Extract<ParsedRequest, { readonly ok: false }>;

export const invalid = ({ reason, faults }: Refused): Failure => ({
  code: 'invalid_request',
  retryable: false,
  detail: reason,
  errors: faults,
});
