/** Reads an answer: the data of a 200; for another status the refusal, and whether the outcome stays unknown. */

import type { Operation } from '../catalogue/operation.ts';
import { leavesOutcomeOpen } from '../catalogue/outcomes.ts';
import { parseJson } from '../kernel/parse-json.ts';
import { retryAfterOf } from '../kernel/retry-after.ts';
import { refusingStatuses } from '../upstream/certainty.ts';
import {
  BrokenAnswerError,
  type Fault,
  OutcomeUnknownError,
  type RefusalFacts,
  RefusedError,
  refusalInWords,
  type UpstreamRefusal,
} from './errors.ts';
import type { Answer } from './types.ts';

export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * @throws RefusedError, BrokenAnswerError or OutcomeUnknownError for anything but JSON with status 200, and for a 200 that
 * reports a failure or leaves the outcome open: OutcomeUnknownError after a side effect, else BrokenAnswerError
 */
export function readAnswer(operation: Operation, received: ReceivedAnswer): Answer<unknown> {
  const { status, headers, text } = received;
  const data = parseJson(text === '' && operation.answersByStatus ? '{}' : text);
  const isFailed = data !== undefined && saysFailed(operation, data);
  if (status === 200 && data !== undefined && !isFailed && !leavesOutcomeOpen(operation, data)) {
    const requestId = requestIdOf(headers);
    const isReplayed = headers.get('idempotent-replayed') === 'true';
    return { data, text, status, headers, ...(requestId && { requestId }), isReplayed };
  }
  const { id, sideEffect } = operation;
  const facts = factsOf(received, data);
  if (status === 200) {
    const unclear = isFailed ? 'says that it failed' : 'does not say what became of it';
    const detail = `the answer ${data === undefined ? 'is not JSON' : unclear}`;
    if (!sideEffect) throw new BrokenAnswerError(id, detail, text);
    throw new OutcomeUnknownError(id, detail, sideEffect.findOut, { answer: facts });
  }
  if (sideEffect && mayHaveTakenEffect(facts, data))
    throw new OutcomeUnknownError(
      id,
      facts.code === 'outcome_unknown'
        ? 'the gateway lost its answer'
        : `the answer is ${refusalInWords(facts).replace(/\.$/, '')}`,
      sideEffect.findOut,
      { answer: facts },
    );
  throw new RefusedError(id, facts, text);
}

const saysFailed = ({ verdict }: Operation, answer: unknown) =>
  verdict !== undefined && (answer === false || memberOf(answer, verdict) === false);

/** Codes of a gateway after which nothing was executed, although the status is a server's error. */
const notExecuted =
  /^(upstream_(auth_failed|token_expired|unreachable|rate_limited|quota_used_up)|secret_\w+|(access|journal|trading_limits)_unavailable|gateway_(error|timeout))$/;

/**
 * The upstream's codes after which the outcome is unknown, with any status: its own failures, a request that arrived twice,
 * and an id that an accepted order has used up.
 */
const upstreamFailed =
  /^((OAUTH_)?OPENAPI_)?(SERVICE_NOT_AVAILABLE|GATEWAY_TIMEOUT|INTERNAL_ERROR|SYSTEM_ERROR|DUPPLICATED_REQUEST|TRADE_PLACE_ORDER_REPEAT)$/;

interface ReportedRefusal {
  readonly status: number;
  readonly code?: string | undefined;
  readonly errorCode?: string | undefined;
}

/** Whether a refused change may have taken effect. In doubt the answer is yes: a second order is worse than a look-up. */
export function mayHaveTakenEffect({ status, code, errorCode }: ReportedRefusal, body: unknown): boolean {
  if (code === undefined && refusingStatuses.has(status)) return upstreamFailed.test(errorCode ?? '');
  // A gateway answers 4xx only when nothing was changed.
  if (code !== undefined && status >= 400 && status < 500) return false;
  // A gateway that does not know the outcome puts `find_out` into the problem, with any code.
  return !notExecuted.test(code ?? '') || memberOf(body, 'find_out') !== undefined;
}

/**
 * Whether a gateway refused the request for its token, before it did anything with it. The 401 of another server, such as
 * a proxy on the way, lacks the members that are checked here.
 */
export function refusesToken({ status, text }: ReceivedAnswer): boolean {
  if (status !== 401) return false;
  const body = parseJson(text);
  return (
    /^(missing|invalid)_token$/.test(textIn(body, 'code') ?? '') &&
    memberOf(body, 'error_code') === 'UNAUTHORIZED' &&
    memberOf(body, 'status') === status
  );
}

/** A browser hides the status of a redirect, and shows 0. */
const isRedirect = (status: number) => status === 0 || (status >= 300 && status < 400);

/**
 * Reads both forms of a gateway's refusal, and those of the interface itself: `error_code` and `message`; `error_msg` of
 * its router; `error`, `message` and `path` of its servers. A body may have none of these forms.
 */
function factsOf({ status, headers }: ReceivedAnswer, body: unknown): RefusalFacts {
  const code = textIn(body, 'code');
  const errorCode = textIn(body, 'error_code');
  const detail =
    textIn(body, 'message') ??
    textIn(body, 'detail') ??
    textIn(body, 'error_msg') ??
    textIn(body, 'error') ??
    (isRedirect(status) ? 'a redirect, which is not followed' : undefined);
  const requestId = textIn(body, 'request_id') ?? requestIdOf(headers);
  const retryAfterSeconds = retryAfterOf(headers.get('retry-after'), Date.now());
  const errors = memberOf(body, 'errors');
  const upstream = upstreamOf(body);
  return {
    status,
    ...(code && { code }),
    ...(errorCode && { errorCode }),
    ...(detail && { detail }),
    ...(requestId && { requestId }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(Array.isArray(errors) && { faults: errors.filter(isFault) }),
    upstream,
  };
}

function upstreamOf(body: unknown): UpstreamRefusal | undefined {
  const status = memberOf(body, 'upstream_status');
  if (typeof status !== 'number') return undefined;
  const errorCode = textIn(body, 'upstream_error_code');
  const message = textIn(body, 'upstream_message');
  const requestId = textIn(body, 'upstream_request_id');
  return {
    status,
    ...(errorCode && { errorCode }),
    ...(message && { message }),
    ...(requestId && { requestId }),
  };
}

const isFault = (value: unknown): value is Fault =>
  textIn(value, 'name') !== undefined && textIn(value, 'detail') !== undefined;

/** Reads the request id; answers that API Gateway makes itself have only its own id. */
const requestIdOf = (headers: Headers) =>
  headers.get('x-request-id') ?? headers.get('x-amzn-requestid') ?? undefined;

/** Reads a member of an answer whose form is unknown; undefined when it has none. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

function textIn(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === 'string' && member !== '' ? member : undefined;
}
