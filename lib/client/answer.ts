/** Reads an answer: data of a 200, and of everything else what it says and whether it leaves the outcome open. */

import type { Operation } from '../catalogue/operation.ts';
import { refusingStatuses } from '../certainty.ts';
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

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** @throws RefusedError, BrokenAnswerError or OutcomeUnknownError for anything but JSON with status 200 */
export function readAnswer(operation: Operation, received: Received): Answer<unknown> {
  const { status, headers, text } = received;
  const json = parse(text);
  if (status === 200 && json) {
    const requestId = requestIdOf(headers);
    return { data: json.value, text, status, headers, ...(requestId && { requestId }) };
  }
  const { id, sideEffect } = operation;
  const facts = factsOf(received, json?.value);
  if (status === 200) {
    const detail = 'the answer is not JSON';
    if (!sideEffect) throw new BrokenAnswerError(id, detail, text);
    throw new OutcomeUnknownError(id, detail, sideEffect.findOut, { answer: facts });
  }
  if (sideEffect && leavesOutcomeOpen(facts, json?.value))
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

/** After these of a gateway's codes nothing was executed, though their status is the server's fault. */
const notExecuted =
  /^(upstream_(auth_failed|unreachable|rate_limited|quota_used_up)|secret_\w+|gateway_(error|timeout))$/;

/** The upstream's own failures, whatever status they come with, and a request that something sent twice. */
const upstreamFailed =
  /^((OAUTH_)?OPENAPI_)?(SERVICE_NOT_AVAILABLE|GATEWAY_TIMEOUT|INTERNAL_ERROR|SYSTEM_ERROR|DUPPLICATED_REQUEST)$/;

/** In doubt it does: an order that is sent again is worse than one that is looked up for nothing. */
function leavesOutcomeOpen({ status, code, errorCode }: RefusalFacts, said: unknown): boolean {
  if (code === undefined && refusingStatuses.has(status)) return upstreamFailed.test(errorCode ?? '');
  // A gateway's 4xx is its own word that nothing was changed.
  if (code !== undefined && status >= 400 && status < 500) return false;
  // Where the gateway cannot know, it says how to find out, whatever the code.
  return !notExecuted.test(code ?? '') || memberOf(said, 'find_out') !== undefined;
}

/** Browsers hide even the status of one. */
const isRedirect = (status: number) => status === 0 || (status >= 300 && status < 400);

/** Problem details of a gateway, or the interface's `error_code` and `message`; a body need not be either. */
function factsOf({ status, headers }: Received, said: unknown): RefusalFacts {
  const code = textIn(said, 'code');
  const errorCode = textIn(said, 'error_code');
  // The interface's own router knows neither, and says error_msg.
  const detail =
    textIn(said, 'message') ??
    textIn(said, 'detail') ??
    textIn(said, 'error_msg') ??
    (isRedirect(status) ? 'a redirect, which is not followed' : undefined);
  const requestId = textIn(said, 'request_id') ?? requestIdOf(headers);
  const retryAfter = headers.get('retry-after') ?? '';
  const errors = memberOf(said, 'errors');
  const upstream = upstreamOf(memberOf(said, 'upstream'));
  return {
    status,
    ...(code && { code }),
    ...(errorCode && { errorCode }),
    ...(detail && { detail }),
    ...(requestId && { requestId }),
    ...(/^\d{1,9}$/.test(retryAfter) && { retryAfterSeconds: Number(retryAfter) }),
    ...(Array.isArray(errors) && { faults: errors.filter(isFault) }),
    ...(upstream && { upstream }),
  };
}

function upstreamOf(said: unknown): UpstreamRefusal | undefined {
  const status = memberOf(said, 'status');
  if (typeof status !== 'number') return undefined;
  const errorCode = textIn(said, 'error_code');
  const message = textIn(said, 'message');
  const requestId = textIn(said, 'request_id');
  return {
    status,
    ...(errorCode && { errorCode }),
    ...(message && { message }),
    ...(requestId && { requestId }),
  };
}

const isFault = (said: unknown): said is Fault =>
  textIn(said, 'name') !== undefined && textIn(said, 'detail') !== undefined;

/** API Gateway's own answers have its id only. */
const requestIdOf = (headers: Headers) =>
  headers.get('x-request-id') ?? headers.get('x-amzn-requestid') ?? undefined;

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const memberOf = (said: unknown, name: string): unknown =>
  typeof said === 'object' && said !== null ? (said as Record<string, unknown>)[name] : undefined;

function textIn(said: unknown, name: string): string | undefined {
  const member = memberOf(said, name);
  return typeof member === 'string' && member !== '' ? member : undefined;
}
