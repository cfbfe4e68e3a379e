/**
 * Reads the upstream's answer: a 200 passes unchanged unless it leaves open what became of an order, or repeats a secret of
 * the gateway's; everything else becomes a refusal of the gateway.
 */

import type { Answer } from '../answer.ts';
import type { Operation } from '../catalogue/operation.ts';
import { leavesOutcomeOpen } from '../catalogue/outcomes.ts';
import { isJson } from '../kernel/json-scan.ts';
import type { Refusal, RefusalCode, UpstreamRefusal } from '../problem.ts';
import { causeOf } from '../upstream/cause.ts';
import { refusingStatuses } from '../upstream/certainty.ts';
import { isTokenRefusal, serverFailures, stemOf } from '../upstream/upstream-code.ts';
import type { Credential } from './credential.ts';
import type { Attempt } from './send.ts';

/** The result for a request that may have left. */
export type Sent = Exclude<Attempt, { readonly kind: 'not_sent' }>;

/**
 * What an upstream code means to the gateway, whatever its status. Codes are compared without their prefix;
 * some are misspelt at the source: ILLEAGAL_PARAMETER is about a header, ILLEGAL_PARAMETER about a parameter.
 * (vendor docs and SDK, and what was seen live; the interface text names none)
 */
const meaningOf: Readonly<Record<string, RefusalCode>> = {
  UNAUTHORIZED_CATEGORY: 'data_not_subscribed',
  UNAUTHORIZED_SUB_TYPE: 'data_not_subscribed',
  MARKET_DATA_NOT_SUBSCRIBED: 'data_not_subscribed',
  // The caller named an account that is not this app key's: its fault, although the status is 403.
  ACCOUNT_ACCESS_DENIED: 'upstream_rejected',
  TOO_MANY_REQUESTS: 'upstream_rate_limited',
  REQUEST_TOTAL_COUNT_EXCEEDED: 'upstream_quota_used_up',
  ...Object.fromEntries(serverFailures.map((stem) => [stem, 'upstream_error' as const])),
  // Signature, key and header are the gateway's work: none of these is the client's fault.
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

/** What a status means when its code is unknown here. Any other status is the upstream's failure. */
const statusMeaning: Readonly<Record<number, RefusalCode>> = {
  400: 'upstream_rejected',
  401: 'upstream_auth_failed',
  403: 'upstream_auth_failed',
  404: 'upstream_rejected',
  417: 'upstream_rejected',
  429: 'upstream_rate_limited',
};

/** Of the gateway, for reading an answer. */
export interface AnswerReader extends Pick<Credential, 'redact' | 'holdsSecret'> {
  /** When the answer arrived. */
  readonly now: number;
  readonly sentToken: boolean;
}

const isAnswer = ({ answersByStatus }: Operation, body: Uint8Array): boolean =>
  isJson(body) || (answersByStatus === true && body.length === 0);

export function readUpstreamAnswer(operation: Operation, sent: Sent, reader: AnswerReader): Answer {
  const { sideEffect } = operation;
  const { redact } = reader;
  if (sent.kind === 'answer' && sent.status === 200 && isAnswer(operation, sent.body)) {
    if (sideEffect && !saysOutcome(operation, sent.body))
      return unknownOutcome(sideEffect, refusedBy(sent, reader).upstream, unclear);
    const requestId = requestIdOf(sent, redact);
    const body = withoutSecrets(sent.body, reader);
    if (body) return { kind: 'uncached', body, ...(requestId && { upstreamRequestId: requestId }) };
    if (sideEffect) return unknownOutcome(sideEffect, undefined, unclear);
    return { kind: 'refused', refusal: { code: 'upstream_broken_answer', detail: hasSecret } };
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

const hasSecret = 'The upstream’s answer repeats a secret of the gateway, which no client gets.';

const unclear =
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

/** @returns the same bytes where no secret is in them; undefined where none can be taken out of them */
function withoutSecrets(body: Uint8Array, { redact, holdsSecret }: AnswerReader): Uint8Array | undefined {
  if (!holdsSecret(body)) return body;
  if (body.length > maxParsedBytes) return undefined;
  const redacted = new TextEncoder().encode(redact(new TextDecoder().decode(body)));
  return !holdsSecret(redacted) && isJson(redacted) ? redacted : undefined;
}

/** The answer to a batch of fifty orders is some ten kilobytes; of a longer one too little is known to parse it. */
const maxStatementBytes = 262_144;

const saysOutcome = (operation: Operation, body: Uint8Array): boolean =>
  body.length <= maxStatementBytes &&
  !leavesOutcomeOpen(operation, JSON.parse(new TextDecoder().decode(body)));

/** After these a request with a side effect may have taken effect. */
const mayHaveTakenEffect = (code: RefusalCode) =>
  code === 'upstream_error' ||
  code === 'upstream_broken_answer' ||
  code === 'upstream_answer_too_large' ||
  code === 'upstream_timeout';

/** The code of a refusal with a status by which none refuses: which of the two is true is not known. */
const contradictsItself = ({ upstream }: Refusal) =>
  upstream !== undefined && !refusingStatuses.has(upstream.status);

/** Every nonce is used once: when the upstream has seen it before, something in between sent the request twice. */
const isReplay = (upstream?: UpstreamRefusal) => stemOf(upstream?.errorCode) === 'DUPPLICATED_REQUEST';

/** What the upstream's code means, also where its status leaves open what became of an order. */
export const meantBy = (upstream?: UpstreamRefusal): RefusalCode | undefined =>
  isReplay(upstream) ? undefined : meaningOf[stemOf(upstream?.errorCode)];

/**
 * An accepted order uses its id up, a refused one does not (seen live). This request placed nothing, but an earlier one
 * did, most likely the same whose answer was lost: a client that reads a refusal takes another id, and has two orders.
 */
const namesUsedOrder = (upstream?: UpstreamRefusal) =>
  stemOf(upstream?.errorCode) === 'TRADE_PLACE_ORDER_REPEAT';

const placedBefore =
  'The upstream has accepted an order with this client_order_id before, so that it placed none for this request: the earlier one may be live.';

function toRefusal(sent: Sent, reader: AnswerReader): Refusal {
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
      // The upstream's router sends no codes: a 404 without one means that it does not know the path.
      if (answer.status === 404 && !upstream.errorCode)
        return { code: 'upstream_path_unknown', ...caused, upstream };
      return { ...rejectedBy(upstream), ...caused };
    case 'upstream_rate_limited': {
      const retryAfter = answer.header('retry-after') ?? '';
      const seconds = /^\d{1,9}(\.\d+)?$/.test(retryAfter) ? Number(retryAfter) : 0;
      return {
        code,
        cause: 'limit_tighter',
        upstream,
        ...(seconds > 0 && { retryAfterSeconds: Math.min(seconds, 3600) }),
      };
    }
    case 'upstream_auth_failed':
    case 'upstream_token_expired':
      // Code and status help the operator; the message may quote what was signed.
      return { code, ...caused, upstream: withoutMessage(upstream) };
    default:
      return { code, ...caused, upstream };
  }
}

const withoutMessage = ({ message: _, ...rest }: UpstreamRefusal): UpstreamRefusal => rest;

/** The upstream's 400, 403 and 404 keep their meaning; its 417, and whatever else it may use, have none of their own. */
const keptStatuses = [400, 403, 404];

/** The refusal of a request that the upstream calls wrong. */
export const rejectedBy = (upstream: UpstreamRefusal): Refusal => ({
  code: 'upstream_rejected',
  upstream,
  status: keptStatuses.includes(upstream.status) ? upstream.status : 422,
  ...(upstream.message && { detail: `The upstream refused the request: ${upstream.message}` }),
});

function requestIdOf(answer: HttpAnswer, redact: (text: string) => string): string | undefined {
  const id = answer.header('x-request-id');
  return id && /^[!-~]{1,128}$/.test(id) ? redact(id) : undefined;
}

/** A refusal is some hundred bytes; a longer body is not parsed, because the objects made of it could take a hundred times its size. */
const maxParsedBytes = 65_536;

/**
 * The body of an upstream's refusal, in the four shapes that the live upstream was seen to send:
 *
 *     {error_code, message}                       trading
 *     {error_code, message, status}               market data
 *     {error_msg}                                 the server in front, of a path that it does not route
 *     {timestamp, status, error, message, path}   the server behind that one
 *
 * Code and message, as far as the body has them: it need not be JSON. Redacted before they are shortened: a cut
 * through a secret would leave a part that `redact` does not recognise.
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
  // `error` names the status in words, which is all that there is beside an empty message.
  const words = [message, error_msg, error].find(isText);
  return {
    ...(errorCode && { errorCode: redact(errorCode).slice(0, 100) }),
    ...(words && { message: redact(words).slice(0, 500) }),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
