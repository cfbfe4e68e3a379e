/** Why a lookup has no result, in the form of its reply. */

import { problemOf, type Refusal, type UpstreamRefusal } from '../problem.ts';
import type { InvalidRequest } from './request.ts';

export interface LookupFailure {
  readonly code: string;
  /** The same request may succeed later. */
  readonly retryable: boolean;
  readonly detail: string;
  /** Before that another request is of no use. */
  readonly retryAfterMs?: number;
  readonly errors?: readonly object[] | undefined;
  readonly upstream?: object;
}

export function failureOf(refusal: Refusal): LookupFailure {
  const { code, status, detail, retryAfterSeconds, errors, upstream } = problemOf(refusal);
  return {
    code,
    // An answer that is too large now will be too large again.
    retryable: (status === 429 || status >= 500) && code !== 'upstream_answer_too_large',
    detail,
    ...(retryAfterSeconds !== undefined && { retryAfterMs: retryAfterSeconds * 1000 }),
    errors,
    ...(upstream && { upstream: onTheWire(upstream) }),
  };
}

/** The upstream's refusal under the names that replies have for it. */
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

export const answerTooLarge: LookupFailure = {
  code: 'answer_too_large',
  retryable: false,
  detail: 'The answer is larger than can be kept for a reply; ask for less.',
};

export const noFreshAnswer: LookupFailure = {
  code: 'no_fresh_answer',
  retryable: true,
  detail: 'What is known is older than was asked for, and nothing newer could be had.',
};

export const noRecords: LookupFailure = {
  code: 'upstream_broken_answer',
  retryable: true,
  detail: 'The upstream’s answer is no list of records.',
};

export const gatewayFailed: LookupFailure = {
  code: 'gateway_error',
  retryable: true,
  detail: 'The gateway failed.',
};

/** Of a single symbol: it does not exist. */
export const isRejection = ({ code }: LookupFailure) => code === 'upstream_rejected';

/** What a log may show: without the values that came, and without the upstream's words, which may be an account's id. */
export const withoutValues = ({ errors, upstream, ...failure }: LookupFailure): LookupFailure => ({
  ...failure,
  ...(isRejection(failure) && { detail: problemOf({ code: 'upstream_rejected' }).detail }),
  ...(errors && { errors: errors.map((error) => without(error, 'received')) }),
  ...(upstream && { upstream: without(upstream, 'message') }),
});

const without = (all: object, name: string): object =>
  Object.fromEntries(Object.entries(all).filter(([one]) => one !== name));

/**
 * Whether the failure is this requester's alone: it asked for too many invalid symbols, or for one that is not
 * cached yet. It says nothing about others.
 */
export const concernsCallerOnly = ({ code }: LookupFailure) =>
  code === 'throttled' || code === 'no_fresh_answer';

/** Whether its cause may be this requester's alone: its deadline, or its record. The next requester may have an answer. */
export const mayConcernCallerOnly = ({ code }: LookupFailure) =>
  code === 'gateway_timeout' || code === 'access_unavailable';

export const invalid = ({ reason, faults }: InvalidRequest): LookupFailure => ({
  code: 'invalid_request',
  retryable: false,
  detail: reason,
  errors: faults,
});
