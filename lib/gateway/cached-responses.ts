/** The response cache in front of the upstream, for reads whose whole response serves equal requests. */

import type { Answer } from '../answer.ts';
import { readCacheDirectives } from '../cache/headers.ts';
import {
  createResponseCache,
  type FetchedResponse,
  freshnessFor,
  type ResponseCache,
  type ResponseCacheOptions,
  type ResponseCall,
  type ResponseOutcome,
  responseKey,
} from '../cache/responses/index.ts';
import type { Freshness } from '../catalogue/freshness.ts';
import type { Operation } from '../catalogue/operation.ts';
import { onSteadyClock } from '../kernel/age.ts';
import { isRefusal, type Refusal, withoutRequestId } from '../problem.ts';
import type { AdmittedRequest } from './admit.ts';
import { anonymousCaller, type CachedReads, type CacheOptions, type CacheParts } from './cache-options.ts';
import { accountOf } from './credential.ts';
import { quotaLimitsOf } from './limits/operation-limits.ts';
import { type CacheResult, type Outcome, refused } from './outcome.ts';
import { wasNotSent } from './upstream.ts';
import type { ValidRequest } from './validate.ts';

export function createCachedResponses(
  options: Pick<CacheOptions, 'responses' | 'tuning'>,
  parts: CacheParts,
): CachedReads {
  const cache = openResponseCache(options, parts);
  return {
    async ask(read) {
      const { route, valid, credential } = read;
      const key = `${await accountOf(credential)}#${await responseKey(route.operation.id, valid.query, valid.body)}`;
      return askResponses(cache, read, { key, limits: quotaLimitsOf(route.operation, parts) }, parts);
    },
  };
}

/** Creates a response cache with the deployer's settings. */
export function openResponseCache(
  { responses: store, tuning = {} }: Pick<CacheOptions, 'responses' | 'tuning'>,
  { clock }: Pick<CacheParts, 'clock'>,
  more: Pick<ResponseCacheOptions, 'maxBytes'> = {},
): ResponseCache {
  const { minMaxAgeMs, refreshesPerMinute } = tuning;
  return createResponseCache({
    store,
    clock,
    isRefusal: isKnownRefusal,
    ...(minMaxAgeMs !== undefined && { minMaxAgeMs }),
    ...(refreshesPerMinute !== undefined && { refreshesPerMinute }),
    ...more,
  });
}

/** Answers one read from a response cache, which asks the upstream when it has no fresh response. */
export async function askResponses(
  cache: ResponseCache,
  { route, request, valid, credential, context }: AdmittedRequest,
  { key, limits }: Required<Pick<ResponseCall, 'key' | 'limits'>>,
  { upstream, timeoutMs, clock }: Pick<CacheParts, 'upstream' | 'timeoutMs' | 'clock'>,
): Promise<Outcome> {
  const { headers, deadline, caller = anonymousCaller } = request;
  const directives = readCacheDirectives(headers['cache-control']);
  const freshness = freshnessFor(ruleOf(route.operation), parametersOf(valid));
  const isKept = freshness.freshMs + freshness.staleMs > 0;
  /** The refusal of this request's own fetch, with the upstream's request id, which shared refusals lack. */
  let ownRefusal: Refusal | undefined;
  const outcome = await cache.ask({
    key,
    freshness,
    // Quotas count per app key: a caller's misses with one key do not burden the limits of another key.
    caller: { ...caller, unit: `${await accountOf(credential)}/${caller.unit}` },
    limits,
    ...directives,
    ...(deadline !== undefined && { deadline: onSteadyClock(clock, deadline) }),
    fetchMs: timeoutMs,
    async fetch(isOverQuota) {
      const isLast = isOverQuota && !context.priority;
      const priority = isLast ? { priority: 'background' as const } : {};
      const answer = await upstream.fetch(
        {
          ...route,
          request: valid,
          context: { ...context, ...priority },
          // Other instances wait this long before they fetch the response themselves.
          ...(isKept && { repeatWithinMs: timeoutMs }),
        },
        credential,
      );
      if (answer.kind === 'refused') ownRefusal = answer.refusal;
      const { signedBy = credential.appKey, sentAt: askedAt } = context.usage;
      const fetched = { ...fetchedResponse(answer), ...(askedAt !== undefined && { askedAt }) };
      return { ...fetched, ...(signedBy !== credential.appKey && { isPrivate: true }) };
    },
  });
  return outcomeFor(outcome, {
    ownRefusal,
    onlyIfCached: directives.onlyIfCached ?? false,
    freshMs: freshness.freshMs,
  });
}

/** The rule of an operation whose whole answers are shared. */
export function ruleOf({ id, freshness }: Operation): Freshness {
  if (!freshness || freshness === 'by-symbol') throw new TypeError(`${id} is not cached by request`);
  return freshness;
}

const cacheResults: Readonly<Record<'memory' | 'store' | 'own' | 'other', CacheResult>> = {
  memory: 'hit',
  store: 'hit',
  own: 'miss',
  other: 'collapsed',
};

function outcomeFor(
  outcome: ResponseOutcome,
  {
    ownRefusal,
    onlyIfCached,
    freshMs,
  }: {
    readonly ownRefusal: Refusal | undefined;
    readonly onlyIfCached: boolean;
    readonly freshMs: number;
  },
): Outcome {
  if (outcome.kind === 'unavailable')
    return refused({
      code: 'no_fresh_answer',
      retryAfterSeconds: outcome.retryAfterMs / 1000,
      // RFC 9111 gives this status to a request for a cached response that is not there.
      ...(onlyIfCached && { status: 504 }),
    });
  const { answer, from, ageMs, ttlMs } = outcome;
  if (answer.kind === 'refused')
    return refused(from === 'own' && ownRefusal ? ownRefusal : (answer.refusal as Refusal));
  return { kind: 'cached', body: answer.body, cacheResult: cacheResults[from], ageMs, ttlMs, freshMs };
}

/** The upstream's answer in the form that other requests may share. */
function fetchedResponse(answer: Answer): FetchedResponse {
  if (answer.kind === 'uncached') return { kind: 'answer', body: copyOfPart(answer.body) };
  const { upstream, ...refusal } = answer.refusal;
  return {
    kind: 'refused',
    refusal: { ...refusal, ...(upstream && { upstream: withoutRequestId(upstream) }) },
    // A request that got no permit in time, or used a path that the upstream no longer serves, says nothing about the
    // next request.
    ...((wasNotSent(answer) || refusal.code === 'upstream_path_unknown') && { isPrivate: true }),
  };
}

/** Copies bytes that are part of a larger buffer, which they would keep in memory. */
const copyOfPart = (body: Uint8Array): Uint8Array =>
  body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);

const isKnownRefusal = (refusal: unknown): boolean =>
  typeof refusal === 'object' && refusal !== null && isRefusal(refusal);

export function parametersOf({ query, body }: ValidRequest): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(query), ...(body && (JSON.parse(body) as Record<string, unknown>)) };
}
