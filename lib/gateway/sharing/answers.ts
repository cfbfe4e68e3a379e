/** Reads whose whole answer stands for equal requests: the cache over the upstream, and its outcomes as answers. */

import type { Freshness } from '../../catalogue/freshness.ts';
import type { Operation } from '../../catalogue/operation.ts';
import {
  type AnswerContent,
  type AnswerOutcome,
  answerKey,
  createAnswers,
  type FetchedAnswer,
  freshnessFor,
} from '../answers/index.ts';
import { ageHeader, cacheStatus, matchesTag, readCacheWishes, weakTag } from '../cache-headers.ts';
import type { CheckedRequest } from '../check.ts';
import type { Identity } from '../credentials.ts';
import type { GatewayRequest, GatewayResponse } from '../http.ts';
import type { Refusal } from '../refusals.ts';
import type { SharedBy, Trail } from '../trail.ts';
import { wasHeld } from '../upstream.ts';
import type { UpstreamOutcome } from '../upstream-answer.ts';
import { anyCaller, type SharingOptions, type SharingParts } from './ports.ts';

export interface SharedAnswers {
  answer(
    operation: Operation & { readonly freshness: Freshness },
    path: string,
    request: GatewayRequest,
    checked: CheckedRequest,
    identity: Identity,
    trail: Trail,
  ): Promise<GatewayResponse | Refusal>;
}

/** From this freshness on a phone may keep an answer without asking whether it changed. */
const keptByClientsMs = 60_000;

export function createSharedAnswers(
  { answers: store, figures = {} }: Pick<SharingOptions, 'answers' | 'figures'>,
  { upstream, clock, timeoutMs }: SharingParts,
): SharedAnswers {
  const { leastMaxAgeMs, turnsPerCaller } = figures;
  const answers = createAnswers({
    store,
    clock,
    ...(leastMaxAgeMs !== undefined && { leastMaxAgeMs }),
    ...(turnsPerCaller !== undefined && { wishesPerCaller: turnsPerCaller }),
  });
  return {
    async answer(operation, path, request, checked, identity, trail) {
      const { headers, deadline, caller = anyCaller } = request;
      const wishes = readCacheWishes(headers['cache-control']);
      const freshness = freshnessFor(operation.freshness, parametersOf(checked));
      const outcome = await answers.ask({
        key: await answerKey(operation.id, checked.query, checked.body),
        freshness,
        caller,
        ...wishes,
        ...(deadline !== undefined && { deadline }),
        fetchMs: timeoutMs,
        async fetch(isPatient) {
          const patience = isPatient && !trail.priority ? { priority: 'background' as const } : {};
          const own = Object.assign(trail, patience);
          return fetched(await upstream.ask({ operation, path, request: checked, trail: own }, identity));
        },
      });
      if (outcome.kind === 'unavailable')
        return {
          code: 'no_fresh_answer',
          retryAfterSeconds: outcome.retryAfterMs / 1000,
          // The status that RFC 9111 wants for what is not there.
          ...(wishes.onlyIfCached && { status: 504 }),
        };
      if (outcome.answer.kind === 'refused') return outcome.answer.refusal as Refusal;
      trail.shared = sharedBy[outcome.from];
      return response(outcome, outcome.answer, headers['if-none-match'], freshness.freshMs);
    },
  };
}

const sharedBy: Readonly<Record<'memory' | 'store' | 'own' | 'other', SharedBy>> = {
  memory: 'hit',
  store: 'hit',
  own: 'miss',
  other: 'collapsed',
};

function fetched(outcome: UpstreamOutcome): FetchedAnswer {
  if (outcome.kind === 'answer') return { kind: 'answer', body: outcome.body };
  return {
    kind: 'refused',
    refusal: outcome.refusal,
    // That one request had no permission in its time says nothing of the next one.
    ...(wasHeld(outcome) && { isOwn: true }),
  };
}

function parametersOf({ query, body }: CheckedRequest): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(query), ...(body && (JSON.parse(body) as Record<string, unknown>)) };
}

const tagOf = async (body: Uint8Array): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', body as Uint8Array<ArrayBuffer>);
  return weakTag(btoa(String.fromCharCode(...new Uint8Array(digest, 0, 12))));
};

async function response(
  { ageMs, ttlMs, from }: Exclude<AnswerOutcome, { kind: 'unavailable' }>,
  { body }: Extract<AnswerContent, { kind: 'answer' }>,
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
