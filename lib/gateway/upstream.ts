/**
 * Carries a valid request to the upstream and back: circuit breaker → permit → sign → send → read the answer. A read may
 * go through these steps again.
 */

import type { Answer, Refused } from '../answer.ts';
import { isAccountData } from '../catalogue/groups.ts';
import type { Operation } from '../catalogue/operation.ts';
import { steadyClock } from '../kernel/age.ts';
import { afterTimeout, type Permit } from '../limiter/index.ts';
import { isRefusal, type Refusal } from '../problem.ts';
import { maxAccountAnswerBytes, maxAnswerBytes } from '../upstream/channel-bound.ts';
import type { RequestContext } from './context.ts';
import type { Credential, Credentials } from './credentials.ts';
import type { LimitParts } from './limits/in-force.ts';
import { limitsOf } from './limits/operation-limits.ts';
import {
  type AttemptPermit,
  acquireForAttempt,
  minAttemptMs,
  outOfTime,
  timeToLeave,
} from './limits/permits.ts';
import {
  type AnsweredAttempt,
  pauseBeforeRepeat,
  refusedByBreaker,
  sightOf,
  type UpstreamBreaker,
} from './read-again.ts';
import type { Attempt, LetGo, Send } from './send.ts';
import { meantBy, readUpstreamAnswer, type SentAttempt } from './upstream-answer.ts';
import type { UpstreamPaths } from './upstream-paths.ts';
import type { SentParts } from './validate.ts';

interface UpstreamOptions extends Omit<LimitParts, 'isInForce'> {
  readonly baseUrl: string;
  readonly paths: UpstreamPaths;
  readonly credentials: Credentials;
  readonly send: Send;
  readonly clock: () => number;
  /** Time limit of one attempt. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number | undefined;
  /** Circuit breaker of the base URL's host. */
  readonly breaker: UpstreamBreaker;
  /** Random numbers from 0 to below 1, for the pauses of reads. */
  readonly random: () => number;
}

interface UpstreamCall {
  readonly operation: Operation;
  /** The path, among the operation's, that the client used. */
  readonly path: string;
  readonly request: SentParts;
  readonly context: RequestContext;
  /** Permit of the first attempt; each further attempt acquires its own. */
  readonly permit?: Permit;
  /** Time limit of one attempt, when shorter than `UpstreamOptions.timeoutMs`. */
  readonly timeoutMs?: number;
  /** The time limit is shorter than many answers take, so that a time-out says nothing about the upstream. */
  readonly isShort?: boolean;
  /** Present for a request of the gateway's own: its longest wait for a permit, and the user whose share it uses. */
  readonly own?: { readonly waitMs: number; readonly user?: string | undefined };
  /** The calling code repeats a failed read itself, so that it is sent again here only after a dead connection. */
  readonly isRepeatedByCaller?: true;
  /** Time within which a failed read may be sent again, in milliseconds: other requests wait that long for its answer. */
  readonly repeatWithinMs?: number;
}

export interface Upstream {
  fetch(call: UpstreamCall, credential: Credential): Promise<Answer>;
}

export const createUpstream = (options: UpstreamOptions): Upstream => new SignedUpstream(options);

class SignedUpstream implements Upstream {
  readonly #options: UpstreamOptions;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  async fetch(call: UpstreamCall, credential: Credential): Promise<Answer> {
    const answer = await this.#attempt(call, credential);
    if (!isAuthRefusal(answer)) return answer;
    return (await this.#attemptAgain(withoutPermit(call), credential)) ?? answer;
  }

  /** Sends a read whose credential was refused once more, with a newer credential or else with the previous one. */
  async #attemptAgain(call: UpstreamCall, rejected: Credential): Promise<Answer | undefined> {
    const { credentials } = this.#options;
    const newer = await credentials.renew(rejected);
    // The gateway never sends a request with a side effect twice, not even after this refusal.
    if (call.operation.sideEffect) return undefined;
    if (newer) return this.#attempt(call, newer);
    const previous = await credentials.fallback(rejected);
    if (!previous) return undefined;
    const answer = await this.#attempt(call, previous);
    if (!wasNotSent(answer)) credentials.fallbackTried(previous, !isAuthRefusal(answer));
    return answer;
  }

  /** Sends a read again while there is time, if no answer came; never a request with a side effect. */
  async #attempt(call: UpstreamCall, credential: Credential): Promise<Answer> {
    const { random } = this.#options;
    const { operation, context } = call;
    if (operation.sideEffect) return (await this.#once(call, credential, true)).answer;
    const isUrgent = !call.isRepeatedByCaller && (context.priority ?? 'interactive') === 'interactive';
    const again = this.#repeatOf(call);
    let attempt = await this.#once(call, credential, false);
    for (let repeats = 0; ; repeats++) {
      const pauseMs = pauseBeforeRepeat(attempt, repeats, { isUrgent, random });
      if (pauseMs === undefined || this.#timeLeft(again) - pauseMs < minAttemptMs) return attempt.answer;
      if (pauseMs > 0) await new Promise<void>((resolve) => afterTimeout(pauseMs, resolve));
      const next = await this.#once(again, credential, true);
      // Without a permit or time for another attempt, the previous attempt's answer counts.
      if (!next.sent) return attempt.answer;
      attempt = next;
    }
  }

  /** The call for further attempts: without the first one's permit, and ending while other requests still wait for it. */
  #repeatOf({ permit: _, ...call }: UpstreamCall): UpstreamCall {
    const { context, repeatWithinMs = Number.POSITIVE_INFINITY } = call;
    const deadline = Math.min(context.deadline, this.#options.clock() + repeatWithinMs);
    return { ...call, context: { ...context, deadline } };
  }

  /** Makes one attempt, and tells the circuit breaker whether the upstream's host works. */
  async #once(
    call: UpstreamCall,
    credential: Credential,
    freshConnection: boolean,
  ): Promise<AnsweredAttempt> {
    const { breaker } = this.#options;
    const { own, context } = call;
    const { id, sideEffect } = call.operation;
    const caller = own?.user ?? context.parties.user ?? context.caller;
    // The breaker only watches an order or a cancel: it is worth trying even after other requests failed.
    const admission = sideEffect ? breaker.watch(id, caller) : breaker.admit(id, caller);
    if (admission.kind === 'refused') return { answer: refusedByBreaker(admission) };
    try {
      const attempt = await this.#sendAndRead(call, credential, freshConnection);
      const isCutOff = call.isShort && attempt.sent?.kind === 'timeout';
      admission.end(isCutOff ? { kind: 'nothing' } : sightOf(attempt));
      return attempt;
    } catch (error) {
      admission.end({ kind: 'nothing' });
      throw error;
    }
  }

  async #sendAndRead(
    call: UpstreamCall,
    credential: Credential,
    freshConnection: boolean,
  ): Promise<AnsweredAttempt> {
    const { clock, afterRateLimit } = this.#options;
    const { operation, context } = call;
    const sent = await this.#signAndSend(call, credential, freshConnection);
    if (sent.kind === 'refused') return { answer: { ...sent, wasNotSent: true } };
    const answer = readUpstreamAnswer(operation, sent, {
      redact: credential.redact,
      holdsSecret: credential.holdsSecret,
      now: clock(),
      sentToken: credential.accessToken !== undefined,
    });
    if (answer.kind === 'refused' && isRateLimited(answer.refusal)) {
      const { appKey } = credential;
      const { retryAfterSeconds: seconds } = answer.refusal;
      const retryAfterMs = seconds === undefined ? undefined : seconds * 1000;
      await afterRateLimit({ operation, appKey, retryAfterMs, timeLeft: context.deadline - clock() });
    }
    return { sent, answer };
  }

  /** Signs and sends one attempt. A repeated attempt gets a new signature and a new permit. */
  async #signAndSend(
    call: UpstreamCall,
    credential: Credential,
    freshConnection: boolean,
  ): Promise<SentAttempt | Refused> {
    // An order sent with too little time for its answer would have an unknown outcome, so it is not sent.
    if (this.#timeLeft(call) < minAttemptMs) return { kind: 'refused', refusal: outOfTime };
    const permit = await this.#acquire(call, credential.appKey);
    if (permit && isRefusal(permit)) return { kind: 'refused', refusal: permit };
    const result = await this.#send(call, credential, permit, freshConnection);
    if (result.kind !== 'not_sent') return result;
    if (!permit) call.context.usage.attempts--;
    return { kind: 'refused', refusal: permit?.refusal ?? outOfTime };
  }

  /** Acquires the attempt's permit; undefined when the operation counts against no limit. */
  async #acquire(call: UpstreamCall, appKey: string): Promise<AttemptPermit | Refusal | undefined> {
    const { limiter, clock } = this.#options;
    const limits = limitsOf(call.operation, this.#options, !call.own);
    if (!limiter || !limits) return undefined;
    const { context, permit, own } = call;
    const user = hasShares(call.operation) ? context.parties.user : undefined;
    return acquireForAttempt(limiter, { appKey, limits, user, context, clock, ...own }, permit);
  }

  async #send(
    call: UpstreamCall,
    { appKey, signer, accessToken }: Credential,
    permit: AttemptPermit | undefined,
    freshConnection: boolean,
  ): Promise<Attempt> {
    const { baseUrl, paths, send, timeoutMs, maxAnswerBytes: maxBytes } = this.#options;
    const { operation, path, request, context } = call;
    const { query, body, headers } = request;
    const upstreamPath = Object.hasOwn(paths, operation.id) ? paths[operation.id] : path;
    const url = `${baseUrl}${upstreamPath}`;
    const letGo = permit?.letGo ?? (context.leaveBy !== undefined ? this.#inTimeToLeave(context) : undefined);
    const signed = await signer.sign({ method: operation.method, url, query, body });
    // With a permit, `letGo` counts the attempt at the moment when the request leaves.
    if (!permit) context.usage.attempts++;
    context.usage.signedBy = appKey;
    context.usage.sentAt = steadyClock(this.#options.clock)();
    const token = accessToken !== undefined && { 'x-access-token': accessToken };
    return send(
      { ...signed, headers: { ...headers, ...token, ...signed.headers } },
      {
        timeoutMs: Math.min(call.timeoutMs ?? timeoutMs, timeoutMs, this.#timeLeft(call)),
        maxBytes: maxBytes ?? (isAccountData(operation.group) ? maxAccountAnswerBytes : maxAnswerBytes),
        ...(freshConnection && { freshConnection }),
        letGo,
      },
    );
  }

  /** The check before an attempt without a permit leaves: its `leaveBy` is not over. */
  #inTimeToLeave(context: RequestContext): LetGo {
    const { clock } = this.#options;
    return async (leave) => {
      if (timeToLeave({ context, clock }) <= 0) return false;
      leave();
      return true;
    };
  }

  #timeLeft({ context }: UpstreamCall): number {
    return context.deadline - this.#options.clock();
  }
}

/** Whether users have shares of the operation's limit. Other operations' answers are shared, with quotas in the caches. */
const hasShares = ({ endpointKind }: Operation) =>
  endpointKind === 'order-change' || endpointKind === 'order-query';

const withoutPermit = ({ permit: _, ...call }: UpstreamCall): UpstreamCall => call;

export const wasNotSent = (answer: Answer): boolean =>
  answer.kind === 'refused' && answer.wasNotSent === true;

/** Whether the upstream limits the rate; also true for an order with an unknown outcome whose upstream code says so. */
const isRateLimited = ({ code, upstream }: Refusal) =>
  code === 'upstream_rate_limited' || meantBy(upstream) === 'upstream_rate_limited';

const isAuthRefusal = (answer: Answer) =>
  answer.kind === 'refused' &&
  (answer.refusal.code === 'upstream_auth_failed' ||
    answer.refusal.code === 'upstream_token_expired' ||
    meantBy(answer.refusal.upstream) === 'upstream_auth_failed');
