/**
 * Reads the upstream's answer. A 200 passes unchanged unless it leaves open what became of an order, or repeats a secret
 * of the gateway. Any other answer becomes a refusal of the gateway.
 */

import type { Answer } from '../answer.ts';
import type { Operation } from '../catalogue/operation.ts';
import { leavesOutcomeOpen } from '../catalogue/outcomes.ts';
import { isJson } from '../kernel/json-scan.ts';
import { retryAfterOf } from '../kernel/retry-after.ts';
import type { Refusal, RefusalCode, UpstreamRefusal } from '../problem.ts';
import { causeOf } from '../upstream/cause.ts';
import { refusingStatuses } from '../upstream/certainty.ts';
import { isTokenRefusal, serverFailures, stemOf } from '../upstream/upstream-code.ts';
import type { Credential } from './credential.ts';
import type { Attempt } from './send.ts';

/** The result for a request that may have left. */
export type SentAttempt = Exclude<Attempt, { readonly kind: 'not_sent' }>;

/**
 * The gateway's refusal code for each upstream code, whatever the status. Codes are compared without their prefix;
 * some are misspelt at the source: ILLEAGAL_PARAMETER is about a header, ILLEGAL_PARAMETER about a parameter.
 * (vendor docs and SDK, and live answers; the interface text names none)
 */
const meaningOf: Readonly<Record<string, RefusalCode>> = {
  UNAUTHORIZED_CATEGORY: 'data_not_subscribed',
  UNAUTHORIZED_SUB_TYPE: 'data_not_subscribed',
  MARKET_DATA_NOT_SUBSCRIBED: 'data_not_subscribed',
  // The caller named an account of another app key. That is the caller's fault, although the status is 403.
  ACCOUNT_ACCESS_DENIED: 'upstream_rejected',
  TOO_MANY_REQUESTS: 'upstream_rate_limited',
  REQUEST_TOTAL_COUNT_EXCEEDED: 'upstream_quota_used_up',
  ...Object.fromEntries(serverFailures.map((stem) => [stem, 'upstream_error' as const])),
  // The gateway makes signature, key and headers, so none of these is the client's fault.
  MISSING_APP_KEY: 'upstream_auth_failed',
  MISSING_SIGNATURE: 'upstream_auth_failed',
  MISSING_ALGORITHM: 'upstream_auth_failed',
  MISSING_NONCE: 'upstream_auth_failed',
  MISSING_TIMESTAMP: 'upstream_auth_failed',
  MISSING_VERSION: 'upstream_auth_failed',
  UNAUTHORIZED: 'upstream_auth_failed',
  INCORRECT_SIGN: 'upstream_auth_failed',
  SIGNATURE_ALGORITHM_NOT_SUPPORTED: 'upstream_auth_failed',
  VERSION_NOT_SUPPORTED: 'upstream_auth_failed',
  UNSUPPORTED_API_VERSION: 'upstream_auth_failed',
  ILLEAGAL_TIMESTAMP: 'upstream_auth_failed',
  CLOCK_SKEW_EXCEEDED: 'upstream_auth_failed',
  DUPPLICATED_REQUEST: 'upstream_auth_failed',
  IP_NOT_ALLOWED: 'upstream_auth_failed',
  ILLEAGAL_PARAMETER: 'upstream_auth_failed',
};

/** The refusal code for a status whose upstream code is unknown here. Any other status is an upstream failure. */
const statusMeaning: Readonly<Record<number, RefusalCode>> = {
  400: 'upstream_rejected',
  401: 'upstream_auth_failed',
  403: 'upstream_auth_failed',
  404: 'upstream_rejected',
  417: 'upstream_rejected',
  429: 'upstream_rate_limited',
};

/** The gateway's parts and facts that reading an answer needs. */
interface AnswerReader extends Pick<Credential, 'redact' | 'holdsSecret'> {
  /** Moment at which the answer arrived. */
  readonly now: number;
  readonly sentToken: boolean;
}

const isAnswer = ({ answersByStatus }: Operation, body: Uint8Array): boolean =>
  isJson(body) || (answersByStatus === true && body.length === 0);

export function readUpstreamAnswer(operation: Operation, sent: SentAttempt, reader: AnswerReader): Answer {
  const { sideEffect } = operation;
  const { redact } = reader;
  if (sent.kind === 'answer' && sent.status === 200 && isAnswer(operation, sent.body)) {
    if (sideEffect && !saysOutcome(operation, sent.body))
      return unknownOutcome(sideEffect, refusedBy(sent, reader).upstream, unclearOutcome);
    const requestId = requestIdOf(sent, redact);
    const body = withoutSecrets(sent.body, reader);
    if (body) return { kind: 'uncached', body, ...(requestId && { upstreamRequestId: requestId }) };
    if (sideEffect) return unknownOutcome(sideEffect, undefined, unclearOutcome);
    return { kind: 'refused', refusal: { code: 'upstream_broken_answer', detail: repeatsSecret } };
  }
  const refusal = toRefusal(sent, reader);
  if (sideEffect && namesUsedOrder(refusal.upstream))
    return unknownOutcome(sideEffect, refusal.upstream, placedBefore);
  if (
    sideEffect &&
    (mayHaveTakenEffect(refusal.code) || contradictsItself(refusal) || isReplay(refusal.upstream))
  )
    return unknownOutcome(sideEffect, refusal.upstream);
  return { kind: 'refused', refusal };
}

const repeatsSecret = 'The upstream’s answer repeats a secret of the gateway, which no client gets.';

const unclearOutcome =
  'The request was sent, but its answer does not say what became of it: it may or may not have taken effect.';

function unknownOutcome(
  { findOut }: NonNullable<Operation['sideEffect']>,
  upstream: UpstreamRefusal | undefined,
  detail?: string,
): Answer {
  return {
    kind: 'refused',
    refusal: { code: 'outcome_unknown', findOut, ...(detail && { detail }), upstream },
  };
}

/** @returns the same bytes if they contain no secret; undefined if a secret cannot be removed from them */
function withoutSecrets(body: Uint8Array, { redact, holdsSecret }: AnswerReader): Uint8Array | undefined {
  if (!holdsSecret(body)) return body;
  if (body.length > maxParsedBytes) return undefined;
  const redacted = new TextEncoder().encode(redact(new TextDecoder().decode(body)));
  return !holdsSecret(redacted) && isJson(redacted) ? redacted : undefined;
}

/** Longest answer that is parsed for an order's outcome: the answer to a batch of fifty orders is some ten kilobytes. */
const maxStatementBytes = 262_144;

const saysOutcome = (operation: Operation, body: Uint8Array): boolean =>
  body.length <= maxStatementBytes &&
  !leavesOutcomeOpen(operation, JSON.parse(new TextDecoder().decode(body)));

/** Whether a request with a side effect may have taken effect in spite of the refusal. */
const mayHaveTakenEffect = (code: RefusalCode) =>
  code === 'upstream_error' ||
  code === 'upstream_broken_answer' ||
  code === 'upstream_answer_too_large' ||
  code === 'upstream_timeout';

/** Whether a refusal has a status that refuses nothing: it is unknown whether code or status is true. */
const contradictsItself = ({ upstream }: Refusal) =>
  upstream !== undefined && !refusingStatuses.has(upstream.status);

/** Whether the upstream has seen the nonce before. The gateway uses each once, so something in between sent it twice. */
const isReplay = (upstream?: UpstreamRefusal) => stemOf(upstream?.errorCode) === 'DUPPLICATED_REQUEST';

/** The refusal code for the upstream's code, even when its status leaves open what became of an order. */
export const meantBy = (upstream?: UpstreamRefusal): RefusalCode | undefined =>
  isReplay(upstream) ? undefined : meaningOf[stemOf(upstream?.errorCode)];

/**
 * Whether the upstream has accepted an order with this id before (seen live: a refused order leaves its id free). This
 * request placed nothing, but an earlier one did, most likely the same order whose answer was lost. A client that reads a
 * refusal would use another id, and have two orders.
 */
const namesUsedOrder = (upstream?: UpstreamRefusal) =>
  stemOf(upstream?.errorCode) === 'TRADE_PLACE_ORDER_REPEAT';

const placedBefore =
  'The upstream has accepted an order with this client_order_id before, so that it placed none for this request: the earlier one may be live.';

function toRefusal(sent: SentAttempt, reader: AnswerReader): Refusal {
  switch (sent.kind) {
    case 'unreachable':
      return { code: 'upstream_unreachable', cause: sent.cause };
    case 'timeout':
      return { code: 'upstream_timeout' };
    case 'dropped':
    case 'lost':
      return { code: 'upstream_broken_answer' };
    case 'too_large':
      return { code: 'upstream_answer_too_large' };
    case 'answer':
      if (sent.status !== 200) return refusedBy(sent, reader);
      return { code: 'upstream_broken_answer', ...causeOf({ ...sent, ...reader, stem: '' }) };
  }
}

type HttpAnswer = Extract<Attempt, { kind: 'answer' }>;

function refusedBy(answer: HttpAnswer, reader: AnswerReader): Refusal {
  const { redact } = reader;
  const requestId = requestIdOf(answer, redact);
  const upstream: UpstreamRefusal = {
    status: answer.status,
    ...readRefusalBody(answer.body, redact),
    ...(requestId && { requestId }),
  };
  const stem = stemOf(upstream.errorCode);
  const code =
    (isTokenRefusal(answer.status, stem) ? 'upstream_token_expired' : undefined) ??
    (Object.hasOwn(meaningOf, stem) ? meaningOf[stem] : undefined) ??
    statusMeaning[answer.status] ??
    'upstream_error';
  const caused = causeOf({ ...answer, ...reader, stem });
  switch (code) {
    case 'upstream_rejected':
      // The upstream's router sends no codes, so a 404 without a code means an unknown path.
      if (answer.status === 404 && !upstream.errorCode)
        return { code: 'upstream_path_unknown', ...caused, upstream };
      return { ...rejectedBy(upstream), ...caused };
    case 'upstream_rate_limited': {
      const seconds = retryAfterOf(answer.header('retry-after'), reader.now) ?? 0;
      return {
        code,
        cause: 'limit_tighter',
        upstream,
        ...(seconds > 0 && { retryAfterSeconds: Math.min(seconds, 3600) }),
      };
    }
    case 'upstream_auth_failed':
    case 'upstream_token_expired':
      // Code and status help the operator; the message is left out, because it may quote the signed text.
      return { code, ...caused, upstream: withoutMessage(upstream) };
    default:
      return { code, ...caused, upstream };
  }
}

const withoutMessage = ({ message: _, ...rest }: UpstreamRefusal): UpstreamRefusal => rest;

/** Statuses of the upstream that clients get unchanged; its 417, and any other, become 422. */
const keptStatuses = [400, 403, 404];

/** The refusal of a request that the upstream calls wrong. */
export const rejectedBy = (upstream: UpstreamRefusal): Refusal => ({
  code: 'upstream_rejected',
  upstream,
  status: keptStatuses.includes(upstream.status) ? upstream.status : 422,
  ...(upstream.message && { detail: `The upstream refused the request: ${upstream.message}` }),
});

/** Whether the upstream refuses the category: it would refuse any other symbols of it, too. */
export const isAboutCategory = ({ code, upstream }: Refusal): boolean =>
  code === 'upstream_rejected' &&
  (upstream?.status === 403 || stemOf(upstream?.errorCode) === 'UNSUPPORTED_CATEGORY');

function requestIdOf(answer: HttpAnswer, redact: (text: string) => string): string | undefined {
  const id = answer.header('x-request-id');
  return id && /^[!-~]{1,128}$/.test(id) ? redact(id) : undefined;
}

/** Longest refusal that is parsed: most are some hundred bytes, and parsed objects could take a hundred times the size. */
const maxParsedBytes = 65_536;

/**
 * Reads code and message from the body of an upstream's refusal, in the four shapes that the live upstream was seen to send:
 *
 *     {error_code, message}                       trading
 *     {error_code, message, status}               market data
 *     {error_msg}                                 the server in front, of a path that it does not route
 *     {timestamp, status, error, message, path}   the server behind that one
 *
 * The body need not be JSON, and either may be missing. Both are redacted before they are shortened: a cut through a
 * secret would leave a part that `redact` does not recognise.
 *
 * @param redact removes the gateway's secrets from a text
 */
function readRefusalBody(
  body: Uint8Array,
  redact: (text: string) => string,
): Pick<UpstreamRefusal, 'errorCode' | 'message'> {
  if (body.length > maxParsedBytes) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return {};
  }
  if (typeof parsed !== 'object' || parsed === null) return {};
  const { error_code, message, error_msg, error } = parsed as Record<string, unknown>;
  const errorCode = isText(error_code) ? error_code : undefined;
  // `error` names the status in words; it is the only text beside an empty message.
  const words = [message, error_msg, error].find(isText);
  return {
    ...(errorCode && { errorCode: redact(errorCode).slice(0, 100) }),
    ...(words && { message: redact(words).slice(0, 500) }),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
