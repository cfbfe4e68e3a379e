/** A valid request's way to the upstream and back: permit → sign → send → read the answer; and when again. */

import type { Operation } from '../catalogue/operation.ts';
import type { Limiter, Permit } from '../limiter/index.ts';
import { isRefusal, type Refusal } from '../problem.ts';
import type { RequestContext } from './context.ts';
import type { Credential, Credentials } from './credentials.ts';
import { type LimitRules, limitsOf } from './operation-limits.ts';
import { type AttemptPermit, acquireForAttempt, blockAfter, minAttemptMs, outOfTime } from './permits.ts';
import type { Send, SendResult } from './send.ts';
import { readUpstreamAnswer, type Sent, type UpstreamOutcome } from './upstream-answer.ts';
import type { UpstreamPaths } from './upstream-paths.ts';
import type { ValidRequest } from './validate.ts';

export interface UpstreamOptions extends LimitRules {
  readonly baseUrl: string;
  readonly paths: UpstreamPaths;
  readonly credentials: Credentials;
  readonly send: Send;
  readonly limiter?: Limiter;
  readonly clock: () => number;
  /** For one attempt. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly canCarry: (body: Uint8Array) => boolean;
}

export interface UpstreamCall {
  readonly operation: Operation;
  /** Which of its paths the operation was called by. */
  readonly path: string;
  readonly request: ValidRequest;
  readonly context: RequestContext;
  /** For the first attempt; each further one acquires its own. */
  readonly permit?: Permit;
  /** For one attempt, when that is less than `UpstreamOptions.timeoutMs`. */
  readonly timeoutMs?: number;
  /** Present for a request of the gateway's own: how long it waits for a permit at most. */
  readonly own?: { readonly waitMs: number };
}

export interface Upstream {
  fetch(call: UpstreamCall, credential: Credential): Promise<UpstreamOutcome>;
}

export const createUpstream = (options: UpstreamOptions): Upstream => new SignedUpstream(options);

class SignedUpstream implements Upstream {
  readonly #options: UpstreamOptions;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  async fetch(call: UpstreamCall, credential: Credential): Promise<UpstreamOutcome> {
    const outcome = await this.#attempt(call, credential);
    if (!isAuthRefusal(outcome)) return outcome;
    return (await this.#attemptAgain(withoutPermit(call), credential)) ?? outcome;
  }

  /** A read whose credential was refused goes out once more with a newer one, or else with the previous one. */
  async #attemptAgain(call: UpstreamCall, rejected: Credential): Promise<UpstreamOutcome | undefined> {
    const { credentials } = this.#options;
    const newer = await credentials.renew(rejected);
    // The gateway never sends a side effect twice, although the upstream refused it.
    if (call.operation.sideEffect) return undefined;
    if (newer) return this.#attempt(call, newer);
    const previous = await credentials.fallback(rejected);
    if (!previous) return undefined;
    const outcome = await this.#attempt(call, previous);
    if (!wasNotSent(outcome)) credentials.fallbackTried(previous, !isAuthRefusal(outcome));
    return outcome;
  }

  /** A read that met a dead connection goes out once more, on a new one: most likely it never arrived. */
  async #attempt(call: UpstreamCall, credential: Credential): Promise<UpstreamOutcome> {
    const { limiter, canCarry, clock } = this.#options;
    const { operation, context } = call;
    let sent = await this.#signAndSend(call, credential, operation.sideEffect !== undefined);
    if (sent.kind === 'dropped' && !operation.sideEffect)
      sent = await this.#signAndSend(withoutPermit(call), credential, true);
    if (sent.kind === 'refused') return sent;
    const tooLarge = sent.kind === 'answer' && sent.status === 200 && !canCarry(sent.body);
    const outcome = readUpstreamAnswer(operation, tooLarge ? { kind: 'too_large' } : sent, {
      redact: credential.redact,
      now: clock(),
      sentToken: credential.accessToken !== undefined,
    });
    const limits = limitsOf(operation, this.#options);
    if (limiter && limits && outcome.kind === 'refused' && outcome.refusal.code === 'upstream_rate_limited')
      await blockAfter(limiter, credential.appKey, limits[0], outcome.refusal, context.deadline - clock());
    return outcome;
  }

  /** One attempt. A repeated one is signed again and has a permit of its own. */
  async #signAndSend(
    call: UpstreamCall,
    credential: Credential,
    freshConnection: boolean,
  ): Promise<Sent | { readonly kind: 'refused'; readonly refusal: Refusal }> {
    // An order that is sent with too little time for its answer has an unknown outcome; better not sent.
    if (this.#timeLeft(call) < minAttemptMs) return { kind: 'refused', refusal: outOfTime };
    const permit = await this.#acquire(call, credential.appKey);
    if (permit && isRefusal(permit)) return { kind: 'refused', refusal: permit };
    const result = await this.#send(call, credential, permit, freshConnection);
    if (result.kind !== 'not_sent') return result;
    return { kind: 'refused', refusal: permit?.refusal ?? outOfTime };
  }

  /** Undefined when nothing limits the operation. */
  async #acquire(call: UpstreamCall, appKey: string): Promise<AttemptPermit | Refusal | undefined> {
    const { limiter, clock } = this.#options;
    const limits = limitsOf(call.operation, this.#options, !call.own);
    if (!limiter || !limits) return undefined;
    const { context, permit, own } = call;
    const timeLeft = () => this.#timeLeft(call);
    return acquireForAttempt(limiter, { appKey, limits, timeLeft, context, clock, ...own }, permit);
  }

  async #send(
    call: UpstreamCall,
    { appKey, signer, accessToken }: Credential,
    permit: AttemptPermit | undefined,
    freshConnection: boolean,
  ): Promise<SendResult> {
    const { baseUrl, paths, send, timeoutMs, maxAnswerBytes } = this.#options;
    const { operation, path, request, context } = call;
    const { query, body, headers } = request;
    const upstreamPath = Object.hasOwn(paths, operation.id) ? paths[operation.id] : path;
    const url = `${baseUrl}${upstreamPath}`;
    const signed = await signer.sign({ method: operation.method, url, query, body });
    // A permit counts the attempt itself, at the moment when the request leaves.
    if (!permit) context.usage.attempts++;
    context.usage.signedBy = appKey;
    context.usage.sentAt = this.#options.clock();
    const token = accessToken !== undefined && { 'x-access-token': accessToken };
    return send(
      { ...signed, headers: { ...headers, ...token, ...signed.headers } },
      {
        timeoutMs: Math.min(call.timeoutMs ?? timeoutMs, timeoutMs, this.#timeLeft(call)),
        maxBytes: maxAnswerBytes,
        ...(freshConnection && { freshConnection }),
        ...(permit && { letGo: permit.letGo }),
      },
    );
  }

  #timeLeft({ context }: UpstreamCall): number {
    return context.deadline - this.#options.clock();
  }
}

const withoutPermit = ({ permit: _, ...call }: UpstreamCall): UpstreamCall => call;

/** Nothing was sent, so that the outcome says nothing about the upstream. */
export const wasNotSent = (outcome: UpstreamOutcome): boolean =>
  outcome.kind === 'refused' &&
  (outcome.refusal.code === 'budget_used_up' || outcome.refusal.code === 'gateway_timeout');

const isAuthRefusal = (outcome: UpstreamOutcome) =>
  outcome.kind === 'refused' &&
  (outcome.refusal.code === 'upstream_auth_failed' || outcome.refusal.code === 'upstream_token_expired');
