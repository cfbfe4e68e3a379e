/**
 * Decides after an attempt whether and when a read is sent again, and whether the attempt shows the circuit breaker that
 * the upstream's host works.
 */

import type { Answer, Refused } from '../answer.ts';
import type { Admission, CircuitBreaker, Sight } from '../kernel/circuit-breaker.ts';
import { type BackOff, jitteredMs } from '../kernel/pauses.ts';
import { notSent, type Refusal, type RefusalCode } from '../problem.ts';
import type { SentAttempt } from './upstream-answer.ts';

/** Circuit breaker of one upstream host, for all credentials; a part is an operation. */
export type UpstreamBreaker = CircuitBreaker<Refusal>;

export interface AnsweredAttempt {
  /** Absent when nothing was sent: no permit, no time, or the circuit breaker is open. */
  readonly sent?: SentAttempt;
  readonly answer: Answer;
}

/** Most repeats of a read: a third failure in a row is hardly chance, and each attempt costs a permit. */
const maxRepeats = 2;
/** Pauses too short for a person to notice; the circuit breaker deals with longer failures. */
const pauses: BackOff = { firstMs: 200, maxMs: 1000 };

/**
 * Milliseconds before a read is sent again; undefined when it is not.
 *
 * @param repeats how often the read was sent again before
 * @param random from 0 to below 1
 */
export function pauseBeforeRepeat(
  attempt: AnsweredAttempt,
  repeats: number,
  { isUrgent, random }: { readonly isUrgent: boolean; readonly random: () => number },
): number | undefined {
  // A dropped request most likely met a connection that the upstream had closed, and never arrived.
  if (attempt.sent?.kind === 'dropped' && repeats === 0) return 0;
  return isUrgent && repeats < maxRepeats && mayPass(attempt)
    ? jitteredMs(pauses, repeats, random)
    : undefined;
}

function mayPass({ sent, answer }: AnsweredAttempt): boolean {
  switch (sent?.kind) {
    case 'unreachable':
    case 'dropped':
    case 'lost':
    case 'timeout':
      return true;
    case 'answer':
      // An upstream that sends Retry-After wants no request before.
      return (
        sent.status >= 500 && codeOf(answer) === 'upstream_error' && sent.header('retry-after') === undefined
      );
    default:
      return false;
  }
}

const codeOf = (answer: Answer) => (answer.kind === 'refused' ? answer.refusal.code : undefined);

/** Statuses of proxies and load balancers when no server behind them answers. */
const hostStatuses: readonly number[] = [502, 503, 504];

/** The attempt's evidence for the circuit breaker: any answer of the upstream itself, even a refusal, shows a working host. */
export function sightOf({ sent, answer }: AnsweredAttempt): Sight<Refusal> {
  if (!sent) return { kind: 'nothing' };
  const code = failures[sent.kind];
  if (!code || (sent.kind === 'answer' && !isOfHost(sent.status, answer))) return { kind: 'works' };
  const cause = sent.kind === 'unreachable' && sent.cause;
  return {
    kind: 'fails',
    failure: { code, ...(cause && { cause }) },
    isAboutAll: sent.kind === 'unreachable',
  };
}

/** Refusal codes for a read; for an order, the same failure leaves the outcome unknown. */
const failures: Readonly<Partial<Record<SentAttempt['kind'], RefusalCode>>> = {
  unreachable: 'upstream_unreachable',
  timeout: 'upstream_timeout',
  dropped: 'upstream_broken_answer',
  lost: 'upstream_broken_answer',
  answer: 'upstream_error',
};

const isOfHost = (status: number, answer: Answer): boolean =>
  hostStatuses.includes(status) && answer.kind === 'refused' && !answer.refusal.upstream?.errorCode;

/** The refusal of a read while the circuit breaker is open: the failure that opened it, and the time until a retry. */
export function refusedByBreaker({
  failure: { code, cause },
  retryAfterMs,
}: Extract<Admission<Refusal>, { kind: 'refused' }>): Refused {
  return {
    kind: 'refused',
    wasNotSent: true,
    refusal: {
      code,
      cause,
      detail: `The upstream has failed several times in a row, so that the gateway sends it no reads for a moment. ${notSent}`,
      retryAfterSeconds: retryAfterMs / 1000,
    },
  };
}
