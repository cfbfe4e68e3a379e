/** Reads whose whole answer stands for equal requests: the cache over the upstream, and its outcomes as answers. */

import { ageHeader, cacheStatus, matchesTag, readCacheDirectives, weakTag } from '../../cache/headers.ts';
import {
  createResponseCache,
  type FetchedResponse,
  freshnessFor,
  type ResponseContent,
  type ResponseOutcome,
  responseKey,
} from '../../cache/responses/index.ts';
import type { Freshness } from '../../catalogue/freshness.ts';
import type { Operation } from '../../catalogue/operation.ts';
import { isRefusal, type Refusal, withoutRequestId } from '../../problem.ts';
import type { CacheResult, RequestContext } from '../context.ts';
import type { Credential } from '../credentials.ts';
import type { GatewayRequest, GatewayResponse } from '../http.ts';
import { wasNotSent } from '../upstream.ts';
import type { UpstreamOutcome } from '../upstream-answer.ts';
import type { ValidRequest } from '../validate.ts';
import { accountOf } from './account.ts';
import { anyCaller, type CacheOptions, type CacheParts } from './ports.ts';

export interface CachedResponses {
  answer(
    operation: Operation & { readonly freshness: Freshness },
    path: string,
    request: GatewayRequest,
    checked: ValidRequest,
    identity: Credential,
    trail: RequestContext,
  ): Promise<GatewayResponse | Refusal>;
}

/** From this freshness on a phone may keep an answer without asking whether it changed. */
const keptByClientsMs = 60_000;

export function createCachedResponses(
  { responses: store, figures = {} }: Pick<CacheOptions, 'responses' | 'figures'>,
  { upstream, clock, timeoutMs }: CacheParts,
): CachedResponses {
  const { minMaxAgeMs, refreshesPerMinute } = figures;
  const answers = createResponseCache({
    store,
    clock,
    isRefusal: isKnown,
    ...(minMaxAgeMs !== undefined && { minMaxAgeMs }),
    ...(refreshesPerMinute !== undefined && { refreshesPerMinute }),
  });
  return {
    async answer(operation, path, request, checked, identity, trail) {
      const { headers, deadline, caller = anyCaller } = request;
      const wishes = readCacheDirectives(headers['cache-control']);
      const freshness = freshnessFor(operation.freshness, parametersOf(checked));
      let own: Refusal | undefined;
      const outcome = await answers.ask({
        key: `${await accountOf(identity)}#${await responseKey(operation.id, checked.query, checked.body)}`,
        freshness,
        caller,
        ...wishes,
        ...(deadline !== undefined && { deadline }),
        fetchMs: timeoutMs,
        async fetch(isPatient) {
          const patience = isPatient && !trail.priority ? { priority: 'background' as const } : {};
          const call = { operation, path, request: checked, trail: Object.assign(trail, patience) };
          const asked = await upstream.ask(call, identity);
          if (asked.kind === 'refused') own = asked.refusal;
          const isOthers = trail.signedBy !== undefined && trail.signedBy !== identity.appKey;
          return { ...fetched(asked), ...(isOthers && { isOwn: true }) };
        },
      });
      if (outcome.kind === 'unavailable')
        return {
          code: 'no_fresh_answer',
          retryAfterSeconds: outcome.retryAfterMs / 1000,
          // The status that RFC 9111 wants for what is not there.
          ...(wishes.onlyIfCached && { status: 504 }),
        };
      if (outcome.answer.kind === 'refused')
        return outcome.from === 'own' && own ? own : (outcome.answer.refusal as Refusal);
      trail.cacheResult = sharedBy[outcome.from];
      // Conditions of this kind are for GET.
      const ifNoneMatch = operation.method === 'GET' ? headers['if-none-match'] : undefined;
      return response(outcome, outcome.answer, ifNoneMatch, freshness.freshMs);
    },
  };
}

const sharedBy: Readonly<Record<'memory' | 'store' | 'own' | 'other', CacheResult>> = {
  memory: 'hit',
  store: 'hit',
  own: 'miss',
  other: 'collapsed',
};

/** As others may have it, too. */
function fetched(outcome: UpstreamOutcome): FetchedResponse {
  if (outcome.kind === 'answer') return { kind: 'answer', body: alone(outcome.body) };
  const { upstream, ...refusal } = outcome.refusal;
  const said = upstream && { upstream: withoutRequestId(upstream) };
  return {
    kind: 'refused',
    refusal: { ...refusal, ...said },
    // That one request had no permission in its time, or was called by a path that is no longer served, says
    // nothing of the next one.
    ...((wasNotSent(outcome) || refusal.code === 'upstream_path_unknown') && { isOwn: true }),
  };
}

/** Bytes that are part of a larger buffer would keep all of it in memory. */
const alone = (body: Uint8Array): Uint8Array =>
  body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);

const isKnown = (refusal: unknown): boolean =>
  typeof refusal === 'object' && refusal !== null && isRefusal(refusal);

function parametersOf({ query, body }: ValidRequest): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(query), ...(body && (JSON.parse(body) as Record<string, unknown>)) };
}

const tagOf = async (body: Uint8Array): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', body as Uint8Array<ArrayBuffer>);
  return weakTag(btoa(String.fromCharCode(...new Uint8Array(digest, 0, 12))));
};

async function response(
  { ageMs, ttlMs, from }: Exclude<ResponseOutcome, { kind: 'unavailable' }>,
  { body }: Extract<ResponseContent, { kind: 'answer' }>,
  ifNoneMatch: string | undefined,
  freshMs: number,
): Promise<GatewayResponse> {
  const etag = await tagOf(body);
  const isMiss = from === 'own' || from === 'other';
  const known = {
    etag,
    age: ageHeader(ageMs),
    'cache-control':
      freshMs >= keptByClientsMs ? `private, max-age=${Math.floor(freshMs / 1000)}` : 'private, no-cache',
    'cache-status': cacheStatus({
      ...(isMiss && { fwd: 'miss' as const }),
      collapsed: from === 'other',
      ttlMs,
    }),
    'x-poll-after': String(Math.max(1, Math.ceil(ttlMs / 1000))),
  };
  if (matchesTag(ifNoneMatch, etag)) return { status: 304, headers: known, body: new Uint8Array() };
  return { status: 200, headers: { 'content-type': 'application/json', ...known }, body };
}
