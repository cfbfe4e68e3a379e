/**
 * Everything that can come of a call but its answer. Each kind is a class of its own; `kind` tells them apart
 * for a `switch`. Two things are passed on as they are: the reason of the caller's own AbortSignal, and what
 * the signer or a token function throws. Both mean that nothing was sent, or nothing with a side effect.
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

/** Narrows what was caught, so that `error.kind` can be switched on. */
export const isClientError = (error: unknown): error is ClientError => error instanceof CallError;

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
  const said = more.filter(Boolean).join(', ');
  return `${name} ${detail}${said && ` (${said})`}`;
};

/** What an answer that says no has to tell; whatever it does not say is absent. */
export interface RefusalFacts {
  readonly status: number;
  /** Of a gateway: its stable code, to switch on. */
  readonly code?: GatewayCode;
  /** The interface's `error_code`. */
  readonly errorCode?: string;
  /** In words, for people; not stable. */
  readonly detail?: string;
  /** Names the call to whoever operates the other end. */
  readonly requestId?: string;
  /** After how many seconds asking again makes sense. */
  readonly retryAfterSeconds?: number;
  /** Of a gateway: each wrong parameter or place in the body. */
  readonly faults?: readonly Fault[];
  /** Of a gateway: what the upstream said. */
  readonly upstream?: UpstreamRefusal;
}

/**
 * An answer that says no: the request had no effect, or none that matters (a read). The fields are those of
 * `RefusalFacts`; `code` is `refused` where the answer has no gateway's code, as the interface's own have none.
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
  /** The answer's body as it came. */
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
 * No answer came: there was no connection, or the answer to a read was lost on the way. Nothing changed at the
 * other end. `cause` is what the runtime's fetch says.
 */
export class UnreachableError extends CallError<'unreachable'> {
  readonly kind = 'unreachable';
  override readonly name = 'UnreachableError';
  constructor(operation: string, detail: string, cause?: unknown) {
    super('unreachable', operation, detail, cause);
  }
}

/** The time-out passed: of a read, or before a request with a side effect was sent. */
export class TimedOutError extends CallError<'timed_out'> {
  readonly kind = 'timed_out';
  override readonly name = 'TimedOutError';
  readonly timeoutMs: number;
  constructor(operation: string, timeoutMs: number) {
    super('timed_out', operation, `no answer within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/** An answer to a read that cannot be used: it is not JSON, or its pages do not go on as they should. */
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
 * A request with a side effect left, and nobody knows what became of it: the answer did not come in time, was
 * lost or broken, the caller aborted, or the gateway itself lost it. Never send it again unseen: `findOut`
 * says how to learn what happened. `cause` is the abort's reason or the runtime's error, where there is one.
 */
export class OutcomeUnknownError extends CallError<'outcome_unknown'> {
  readonly kind = 'outcome_unknown';
  override readonly name = 'OutcomeUnknownError';
  readonly findOut: string;
  /** What the answer said, where one came. */
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
