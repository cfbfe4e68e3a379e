/** A checked request's way to the upstream and back: credentials → permission → sign → send → read the answer. */

import type { Operation } from '../catalogue/operation.ts';
import type { Limiter, Permit } from '../limiter/index.ts';
import { isRefusal, type Refusal } from '../problem.ts';
import type { RequestContext } from './context.ts';
import type { Credential, Credentials } from './credentials.ts';
import { limitsOf, type OperationLimits } from './operation-limits.ts';
import { acquireForAttempt, blockAfter, leastAttemptMs, outOfTime } from './permits.ts';
import type { Send } from './send.ts';
import { readUpstreamAnswer, type Sent, type UpstreamOutcome } from './upstream-answer.ts';
import type { UpstreamPaths } from './upstream-paths.ts';
import type { ValidRequest } from './validate.ts';

export interface UpstreamOptions {
  readonly baseUrl: string;
  readonly paths: UpstreamPaths;
  readonly credentials: Credentials;
  readonly send: Send;
  readonly limiter?: Limiter;
  readonly operationLimits: OperationLimits;
  readonly clock: () => number;
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly canCarry: (body: Uint8Array) => boolean;
}

export interface UpstreamCall {
  readonly operation: Operation;
  /** By which of its paths the operation was called. */
  readonly path: string;
  readonly request: ValidRequest;
  readonly trail: RequestContext;
  /** For the first attempt; each further one asks for its own. */
  readonly permission?: Permit;
  /** For one attempt, when it is less than the upstream may take otherwise. */
  readonly timeoutMs?: number;
}

export interface Upstream {
  ask(call: UpstreamCall, identity: Credential): Promise<UpstreamOutcome>;
}

export function createUpstream(options: UpstreamOptions): Upstream {
  const { credentials, limiter, operationLimits, clock } = options;

  /** A read whose credentials were refused: once more with newer ones, or else with the previous. */
  async function attemptAgain(call: UpstreamCall, refused: Credential): Promise<UpstreamOutcome | undefined> {
    const newer = await credentials.renew(refused);
    // What has a side effect is never sent twice by us, though it was refused.
    if (call.operation.sideEffect) return undefined;
    if (newer) return attempt(call, newer);
    const previous = await credentials.fallback(refused);
    if (!previous) return undefined;
    const outcome = await attempt(call, previous);
    if (!wasNotSent(outcome)) credentials.fallbackTried(previous, !isAuthRefusal(outcome));
    return outcome;
  }

  /** A read that met a dead connection goes out once more, on a new one: most likely it never arrived. */
  async function attempt(call: UpstreamCall, identity: Credential): Promise<UpstreamOutcome> {
    const { operation, trail } = call;
    let sent = await signAndSend(call, identity, operation.sideEffect !== undefined);
    if (sent.kind === 'dropped' && !operation.sideEffect)
      sent = await signAndSend(withoutPermission(call), identity, true);
    if (sent.kind === 'refused') return sent;
    const tooLarge = sent.kind === 'answer' && sent.status === 200 && !options.canCarry(sent.body);
    const outcome = readUpstreamAnswer(operation, tooLarge ? { kind: 'too_large' } : sent, identity.redact);
    const limits = limitsOf(operation, operationLimits);
    if (limiter && limits && outcome.kind === 'refused' && outcome.refusal.code === 'upstream_rate_limited')
      await blockAfter(limiter, identity.appKey, limits[0], outcome.refusal, trail.deadline - clock());
    return outcome;
  }

  /** Once: whoever sends again signs again, with a permission of its own. */
  async function signAndSend(
    { operation, path, request, trail, permission, timeoutMs = options.timeoutMs }: UpstreamCall,
    { appKey, signer, accessToken }: Credential,
    freshConnection: boolean,
  ): Promise<Sent | { readonly kind: 'refused'; readonly refusal: Refusal }> {
    const timeLeft = () => trail.deadline - clock();
    // An order that is sent with no time to hear of it has an unknown outcome; better not sent.
    if (timeLeft() < leastAttemptMs) return { kind: 'refused', refusal: outOfTime };
    const limits = limitsOf(operation, operationLimits);
    const permit =
      limiter &&
      limits &&
      (await acquireForAttempt(limiter, { appKey, limits, timeLeft, trail, clock }, permission));
    if (permit && isRefusal(permit)) return { kind: 'refused', refusal: permit };
    const upstreamPath = Object.hasOwn(options.paths, operation.id) ? options.paths[operation.id] : path;
    const { query, body, headers } = request;
    const url = `${options.baseUrl}${upstreamPath}`;
    const signed = await signer.sign({ method: operation.method, url, query, body });
    if (!permit) trail.attempts++;
    trail.signedBy = appKey;
    const result = await options.send(
      {
        ...signed,
        headers: {
          ...headers,
          ...(accessToken !== undefined && { 'x-access-token': accessToken }),
          ...signed.headers,
        },
      },
      {
        timeoutMs: Math.min(timeoutMs, options.timeoutMs, timeLeft()),
        maxBytes: options.maxAnswerBytes,
        ...(freshConnection && { freshConnection }),
        ...(permit && { letGo: permit.letGo }),
      },
    );
    if (result.kind !== 'held') return result;
    return { kind: 'refused', refusal: permit?.refusal ?? outOfTime };
  }

  return {
    async ask(call, identity) {
      const outcome = await attempt(call, identity);
      if (!isAuthRefusal(outcome)) return outcome;
      return (await attemptAgain(withoutPermission(call), identity)) ?? outcome;
    },
  };
}

const withoutPermission = ({ permission: _, ...call }: UpstreamCall): UpstreamCall => call;

/** Nothing was sent, so that nothing was learnt of the upstream. */
export const wasNotSent = (outcome: UpstreamOutcome): boolean =>
  outcome.kind === 'refused' &&
  (outcome.refusal.code === 'budget_used_up' || outcome.refusal.code === 'gateway_timeout');

const isAuthRefusal = (outcome: UpstreamOutcome) =>
  outcome.kind === 'refused' && outcome.refusal.code === 'upstream_auth_failed';
