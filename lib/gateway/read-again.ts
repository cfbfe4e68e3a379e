/**
 * After an attempt: whether a read is worth another one, after which pause, and what the attempt showed of the upstream's
 * host to its circuit breaker.
 */

import type { Answer, Refused } from '../answer.ts';
import type { Admission, CircuitBreaker, Sight } from '../kernel/circuit-breaker.ts';
import { type BackOff, jitteredMs } from '../kernel/pauses.ts';
import { notSent, type Refusal, type RefusalCode } from '../problem.ts';
import type { Sent } from './upstream-answer.ts';

/** Of one upstream host and of all credentials; a part is an operation. */
export type UpstreamBreaker = CircuitBreaker<Refusal>;

export interface AnsweredAttempt {
  /** Absent when nothing was sent: no permit, no time, or the circuit breaker is open. */
  readonly sent?: Sent;
  readonly answer: Answer;
}

/** A third failure in a row is hardly chance any more, and each attempt costs a permit that another read needs. */
const maxRepeats = 2;
/** Shorter than a person notices; what lasts longer is the circuit breaker's. */
const pauses: BackOff = { firstMs: 200, maxMs: 1000 };

/**
 * Milliseconds before a read is sent again; undefined when it is not.
 *
 * @param repeats how often it was sent again before
 * @param random from 0 to below 1
 */
export function pauseBeforeRepeat(
  attempt: AnsweredAttempt,
  repeats: number,
  { isUrgent, random }: { readonly isUrgent: boolean; readonly random: () => number },
): number | undefined {
  // Most likely it met a connection that the upstream had closed, and never arrived.
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
      // An upstream that names a time wants nothing before.
      return (
        sent.status >= 500 && codeOf(answer) === 'upstream_error' && sent.header('retry-after') === undefined
      );
    default:
      return false;
  }
}

const codeOf = (answer: Answer) => (answer.kind === 'refused' ? answer.refusal.code : undefined);

/** What proxies and load balancers say when nothing behind them answers. */
const hostStatuses: readonly number[] = [502, 503, 504];

/** Any answer of the upstream's own shows that its host works, a refusal as well. */
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

/** As a read is told; of an order the same failure leaves the outcome unknown. */
const failures: Readonly<Partial<Record<Sent['kind'], RefusalCode>>> = {
  unreachable: 'upstream_unreachable',
  timeout: 'upstream_timeout',
  dropped: 'upstream_broken_answer',
  lost: 'upstream_broken_answer',
  answer: 'upstream_error',
};

const isOfHost = (status: number, answer: Answer): boolean =>
  hostStatuses.includes(status) && answer.kind === 'refused' && !answer.refusal.upstream?.errorCode;

/** What a read is answered with while the circuit breaker is open: the failure that opened it, and when to come again. */
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
