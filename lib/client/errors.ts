/**
 * Errors with which a call can end. Each is a class with a `kind` to switch on. Two other rejections pass through unchanged:
 * the reason of the caller's AbortSignal, and the errors of the signer or a token function. After either of them nothing
 * was sent, or nothing with a side effect.
 */

import type { Fault, RefusalCode, UpstreamRefusal } from '../problem.ts';
import { CountersignError } from '../signer/errors.ts';

export type { Fault, UpstreamRefusal };

/** A gateway's stable codes; a newer gateway may know more. */
export type GatewayCode = RefusalCode | (string & {});

export type ClientError =
  | InvalidRequestError
  | RefusedError
  | UnreachableError
  | TimedOutError
  | BrokenAnswerError
  | OutcomeUnknownError;

export type ClientErrorKind = ClientError['kind'];

/**
 * Narrows a caught value to the client's errors.
 *
 * @example
 * try {
 *   await client.placeOrder(order);
 * } catch (error) {
 *   if (!isClientError(error)) throw error;
 *   if (error.kind === 'outcome_unknown') console.error(error.findOut);
 * }
 */
export const isClientError = (error: unknown): error is ClientError =>
  error instanceof CallError || (error instanceof Error && 'kind' in error && errorKinds.has(error.kind));

/** Recognises errors of the package's other form: a program that imports and requires it has each class twice. */
const errorKinds: ReadonlySet<unknown> = new Set<ClientErrorKind>([
  'invalid_request',
  'refused',
  'unreachable',
  'timed_out',
  'broken_answer',
  'outcome_unknown',
]);

abstract class CallError<Code extends string = string> extends CountersignError<Code> {
  abstract readonly kind: string;
  /** The id of the operation that was called. */
  readonly operation: string;
  constructor(code: Code, operation: string, detail: string, cause?: unknown) {
    super(code, `${operation}: ${detail}`, cause === undefined ? undefined : { cause });
    this.operation = operation;
  }
}

/** The call was wrong, so nothing was sent. `faults` names every wrong place at once. */
export class InvalidRequestError extends CallError<'invalid_request'> {
  readonly kind = 'invalid_request';
  override readonly name = 'InvalidRequestError';
  readonly faults: readonly Fault[];
  constructor(operation: string, faults: readonly Fault[]) {
    super('invalid_request', operation, `not sent; ${faults.map(inWords).join('; ')}`);
    this.faults = faults;
  }
}

const inWords = ({ name, detail, allowed, received }: Fault) => {
  const more = [allowed && `allowed: ${allowed}`, received !== undefined && `received: ${received}`];
  const reason = more.filter(Boolean).join(', ');
  return `${name} ${detail}${reason && ` (${reason})`}`;
};

/** Contents of a refusing answer; a member that the answer does not contain is absent. */
export interface RefusalFacts {
  readonly status: number;
  /** Stable code of a gateway, to switch on. */
  readonly code?: GatewayCode;
  /** The interface's `error_code`. */
  readonly errorCode?: string;
  /** Text for people; not stable. */
  readonly detail?: string;
  /** Names the call to the operator of the other end. */
  readonly requestId?: string;
  /** Seconds after which another request makes sense. */
  readonly retryAfterSeconds?: number;
  /** Each wrong parameter or place in the body, if a gateway names them. */
  readonly faults?: readonly Fault[];
  /** The upstream's own refusal, if a gateway passes it on. */
  readonly upstream?: UpstreamRefusal | undefined;
}

/**
 * The other end refused: this request had no effect, or was a read. The fields are those of `RefusalFacts`; `code` is
 * `refused` when the answer has no gateway's code, as with answers of the interface itself.
 *
 * `idempotency_conflict` is about an earlier request that has the same order id, or the same `idempotencyKey`, and other
 * contents. The order of that request may be live: read it (`getOrder`, `getOrderOutcome`) before you use a new id.
 */
export class RefusedError extends CallError<GatewayCode> implements RefusalFacts {
  readonly kind = 'refused';
  override readonly name = 'RefusedError';
  readonly status: number;
  declare readonly errorCode?: string;
  declare readonly detail?: string;
  declare readonly requestId?: string;
  declare readonly retryAfterSeconds?: number;
  declare readonly upstream?: UpstreamRefusal;
  readonly faults: readonly Fault[];
  /** The answer's body, unchanged. */
  readonly text: string;
  constructor(operation: string, facts: RefusalFacts, text: string) {
    super(facts.code ?? 'refused', operation, refusalInWords(facts));
    Object.assign(this, facts);
    this.status = facts.status;
    this.faults = facts.faults ?? [];
    this.text = text;
  }
}

export const refusalInWords = ({ status, code, errorCode, detail }: RefusalFacts) =>
  [`${status}`, code, errorCode].filter(Boolean).join(' ') + (detail ? `: ${detail}` : '');

/**
 * No answer came: there was no connection, or the answer to a read was lost on the way. Nothing changed at the other
 * end. `cause` is the error of the runtime's fetch.
 */
export class UnreachableError extends CallError<'unreachable'> {
  readonly kind = 'unreachable';
  override readonly name = 'UnreachableError';
  constructor(operation: string, detail: string, cause?: unknown) {
    super('unreachable', operation, detail, cause);
  }
}

/** The time-out of a read passed, or passed before a request with a side effect was sent. */
export class TimedOutError extends CallError<'timed_out'> {
  readonly kind = 'timed_out';
  override readonly name = 'TimedOutError';
  readonly timeoutMs: number;
  constructor(operation: string, timeoutMs: number) {
    super('timed_out', operation, `no answer within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/** The answer to a read cannot be used: it is not JSON, or its pages do not go on as they should. */
export class BrokenAnswerError extends CallError<'broken_answer'> {
  readonly kind = 'broken_answer';
  override readonly name = 'BrokenAnswerError';
  readonly text: string;
  constructor(operation: string, detail: string, text: string) {
    super('broken_answer', operation, detail);
    this.text = text;
  }
}

/**
 * A request with a side effect was sent, and its outcome is unknown: the answer was late, lost or broken, or reports a
 * failure without saying how far the request came; or the caller aborted, or the gateway itself lost the answer. `cause`
 * is the abort's reason or the runtime's error, if there is one.
 *
 * Through a gateway with a journal of orders, it is safe to send the same request again unchanged, and its answer tells the
 * outcome: an order with the same `client_order_id`s, any other change with the same `idempotencyKey`. Without a journal,
 * or without a key, follow `findOut` first. Never use a new id: that places a second order.
 */
export class OutcomeUnknownError extends CallError<'outcome_unknown'> {
  readonly kind = 'outcome_unknown';
  override readonly name = 'OutcomeUnknownError';
  readonly findOut: string;
  /** The answer's facts, if there was an answer. */
  declare readonly answer?: RefusalFacts;
  constructor(
    operation: string,
    why: string,
    findOut: string,
    { answer, cause }: { readonly answer?: RefusalFacts | undefined; readonly cause?: unknown } = {},
  ) {
    super(
      'outcome_unknown',
      operation,
      `sent, but ${why}: it may or may not have taken effect. ${findOut}`,
      cause,
    );
    this.findOut = findOut;
    if (answer) this.answer = answer;
  }
}
