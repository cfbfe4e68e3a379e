/** Failures of lookups, in the form of their replies. */

import { problemOf, type Refusal, type UpstreamRefusal } from '../problem.ts';
import type { InvalidRequest } from './request.ts';

export interface LookupFailure {
  readonly code: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  readonly detail: string;
  /** Time before which another request is of no use. */
  readonly retryAfterMs?: number;
  readonly errors?: readonly object[] | undefined;
  readonly upstream?: object;
}

export function failureOf(refusal: Refusal): LookupFailure {
  const { code, status, detail, retryAfterSeconds, errors, upstream } = problemOf(refusal);
  return {
    code,
    // An answer that is too large will be too large again.
    retryable: (status === 429 || status >= 500) && code !== 'upstream_answer_too_large',
    detail,
    ...(retryAfterSeconds !== undefined && { retryAfterMs: retryAfterSeconds * 1000 }),
    errors,
    ...(upstream && { upstream: onTheWire(upstream) }),
  };
}

/** Converts the upstream's refusal to the names that it has in replies. */
const onTheWire = ({ status, errorCode, message, requestId }: UpstreamRefusal): object => ({
  status,
  ...(errorCode !== undefined && { error_code: errorCode }),
  ...(message !== undefined && { message }),
  ...(requestId !== undefined && { request_id: requestId }),
});

export const deadlinePassed: LookupFailure = {
  code: 'deadline_passed',
  retryable: true,
  detail: 'The deadline passed before the request could be answered.',
};

export const gatewayFailed: LookupFailure = {
  code: 'gateway_error',
  retryable: true,
  detail: 'The gateway failed.',
};

/** Whether the upstream rejected the request; if it has a single symbol, that symbol does not exist. */
export const isRejection = ({ code }: LookupFailure) => code === 'upstream_rejected';

export const invalidRequest = ({ reason, faults }: InvalidRequest): LookupFailure => ({
  code: 'invalid_request',
  retryable: false,
  detail: reason,
  errors: faults,
});

/** Makes a failure fit for logs: without received values and the upstream's texts, which may hold an account's id. */
export const withoutValues = ({ errors, upstream, ...failure }: LookupFailure): LookupFailure => ({
  ...failure,
  ...(isRejection(failure) && { detail: problemOf({ code: 'upstream_rejected' }).detail }),
  ...(errors && { errors: errors.map((error) => withoutMember(error, 'received')) }),
  ...(upstream && { upstream: withoutMember(upstream, 'message') }),
});

const withoutMember = (all: object, name: string): object =>
  Object.fromEntries(Object.entries(all).filter(([one]) => one !== name));
