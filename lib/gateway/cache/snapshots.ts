/** Snapshots over the quotes that all instances share: their ports, and their outcomes as answers. */

import {
  type AskUpstream,
  cacheDirectivesOf,
  createSnapshotCache,
  partialResultMembers,
  type RefreshPermit,
  type RefreshPermitAnswer,
  type RefreshPermits,
  type SnapshotOutcome,
  type SnapshotStore,
  snapshotResponse,
  type UpstreamAnswer,
  type UpstreamError,
  viewOf,
} from '../../cache/snapshots/index.ts';
import type { Operation } from '../../catalogue/operation.ts';
import { isRefusal, type Refusal, type RefusalCode, withoutRequestId } from '../../problem.ts';
import type { CacheResult, RequestContext } from '../context.ts';
import type { Credential } from '../credentials.ts';
import type { GatewayRequest, GatewayResponse } from '../http.ts';
import { limitsOf } from '../operation-limits.ts';
import { leastAttemptMs, refused } from '../permits.ts';
import { wasNotSent } from '../upstream.ts';
import type { UpstreamOutcome } from '../upstream-answer.ts';
import type { ValidRequest } from '../validate.ts';
import { createListings } from './listings.ts';
import { anyCaller, type CacheOptions, type CacheParts } from './ports.ts';

interface Holder extends Pick<RequestContext, 'priority'> {
  readonly identity: Credential;
}

export interface CachedSnapshotsOptions extends Pick<CacheOptions, 'directory' | 'figures'> {
  /** Of the identity's account alone. */
  readonly store: SnapshotStore;
  readonly identity: Credential;
  /** Told when the upstream refused the account's key, and another's was taken in its place. */
  readonly onLeft: () => void;
}

export interface CachedSnapshots {
  answer(
    request: GatewayRequest,
    checked: ValidRequest,
    trail: RequestContext,
  ): Promise<GatewayResponse | Refusal>;
}

/** So long a failure of the upstream is given as the reason why something cannot be had. */
const failureMs = 10_000;
/** Refused credentials are mended by an operator who waits to see it work. */
const authDeniedMs = 3000;

/** @param operation whose records are shared by symbol */
export function createCachedSnapshots(
  operation: Operation,
  { store, identity: first, onLeft, directory, figures }: CachedSnapshotsOptions,
  { upstream, credentials, limiter, operationLimits, clock, timeoutMs, reportRefresh }: CacheParts,
): CachedSnapshots {
  /** Whose permission it is, until it is used. */
  const holders = new WeakMap<RefreshPermit, Holder>();
  const paths = [operation.path, ...operation.aliases];
  /** Another secret of the same key takes its place. */
  let latest = first;
  let failure: { readonly refusal: Refusal; readonly at: number } | undefined;

  /** Of an upstream that has retired one path of the operation, another one may still answer. */
  function nextPath(): boolean {
    paths.shift();
    return paths.length > 0;
  }

  function given(permission: RefreshPermit, holder: Holder): RefreshPermitAnswer {
    holders.set(permission, holder);
    return { ok: true, permit: permission };
  }

  const permissions: RefreshPermits = {
    async ask({ priority, waitMs }) {
      const current = await credentials.forRead();
      if (!current.ok) return { ok: false, retryAfterMs: 1000 };
      if (current.identity.appKey === latest.appKey) latest = current.identity;
      const identity = latest;
      const limits = limitsOf(operation, operationLimits);
      if (!limiter || !limits) return given(unlimited(), { identity, priority });
      const answer = await limiter.acquire({ appKey: identity.appKey, limits, priority, waitMs });
      if (answer.ok) return given(answer.permit, { identity, priority });
      failure = { refusal: refused({ trail: { attempts: 0 } }, answer), at: clock() };
      return answer;
    },
  };

  const ask: AskUpstream = async (view, symbols, permission, turnMs) => {
    const { identity, ...holder } = holders.get(permission)!;
    // Whoever draws a permission anew in the middle has a little longer than an attempt takes.
    const trail: RequestContext = { attempts: 0, deadline: clock() + turnMs + leastAttemptMs, ...holder };
    const query = [['symbols', symbols.join(',')] as const, ...view.query];
    const outcome = await upstream.ask(
      {
        operation,
        path: paths[0] ?? operation.path,
        request: { query, body: '', headers: {} },
        trail,
        permission,
        timeoutMs: Math.min(turnMs, timeoutMs),
      },
      identity,
    );
    if (trail.signedBy !== undefined && trail.signedBy !== first.appKey) {
      onLeft();
      return { kind: 'failed', wasNotSent: true };
    }
    failure = undefined;
    if (outcome.kind !== 'refused') return outcome;
    const { refusal } = outcome;
    report(refusal, symbols.length);
    if (ofUpstream.includes(refusal.code)) failure = { refusal: forAll(refusal), at: clock() };
    if (refusal.code === 'upstream_path_unknown' && nextPath()) return { kind: 'failed' };
    return asTurnsKnowIt(outcome);
  };

  function report({ code, upstream: said }: Refusal, symbols: number): void {
    try {
      reportRefresh?.({
        operation: operation.id,
        code,
        symbols,
        ...(said && { upstreamStatus: said.status }),
        ...(said?.errorCode && { upstreamCode: said.errorCode }),
      });
    } catch {
      // A log that fails must not cost those who wait their answers.
    }
  }

  const quotes = createSnapshotCache({
    store,
    permits: permissions,
    upstream: ask,
    clock,
    ...(directory?.listing.snapshots.includes(operation.id) && {
      directory: {
        store: directory.store,
        listings: createListings(directory.listing, { upstream, credentials, clock }),
      },
    }),
    ...(figures && { figures }),
  });

  return {
    async answer(request, { query }, trail) {
      const { headers, deadline, caller = anyCaller, priority = 'interactive' } = request;
      const symbols = query.find(([name]) => name === 'symbols')?.[1].split(',') ?? [];
      const wishes = cacheDirectivesOf(headers);
      const outcome = await quotes.ask({
        view: viewOf(query),
        symbols,
        caller: caller.unit,
        priority: priority === 'interactive' ? priority : 'events',
        ...wishes,
        ...(deadline !== undefined && { deadline }),
      });
      if (outcome.kind === 'quotes') trail.cacheResult = sharedBy[outcome.from];
      if (outcome.kind !== 'quotes') return refusalOf(outcome, wishes.onlyIfCached ?? false);
      const response = snapshotResponse(outcome, headers, figures?.staleAfterMs);
      if (priority !== 'events') return response;
      const now = clock();
      return {
        ...response,
        recordAges: new Map(outcome.quotes.map(({ symbol, sentAt }) => [symbol, now - sentAt])),
      };
    },
  };

  function refusalOf(outcome: Exclude<SnapshotOutcome, { kind: 'quotes' }>, onlyIfCached: boolean): Refusal {
    if (outcome.kind === 'refused') return refusalFrom(outcome.says);
    const { known, missing, retryAfterMs, isSpent } = outcome;
    const now = clock();
    const members = {
      rawMembers: partialResultMembers({ known, missing }, now),
      retryAfterSeconds: retryAfterMs / 1000,
    };
    // The status that RFC 9111 wants for what is not there.
    if (onlyIfCached) return { code: 'no_fresh_answer', status: 504, ...members };
    if (isSpent)
      return { code: 'throttled', detail: spentWords, ...members, retryAfterSeconds: spentSeconds };
    const cause = failure && now - failure.at < failureMs ? failure.refusal : undefined;
    if (cause && known.length === 0) return { ...members, ...cause };
    return { code: 'no_fresh_answer', ...members, ...(cause?.upstream && { upstream: cause.upstream }) };
  }
}

/** Codes that say why nobody gets anything now; others are about the request that they were said of. */
const ofUpstream: readonly RefusalCode[] = [
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_error',
  'upstream_broken_answer',
  'upstream_answer_too_large',
  'upstream_rate_limited',
  'budget_used_up',
];

const forAll = ({ upstream, ...refusal }: Refusal): Refusal => ({
  ...refusal,
  ...(upstream && { upstream: withoutRequestId(upstream) }),
});

/** When looking again makes sense for a caller who asked for much that does not exist. */
const spentSeconds = 5;
const spentWords =
  'Too many of the symbols that this key asked for from this network are unknown to the upstream: for a while it gets only what others have asked for.';

const sharedBy: Readonly<Record<Extract<SnapshotOutcome, { kind: 'quotes' }>['from'], CacheResult>> = {
  memory: 'hit',
  'own-turn': 'miss',
  'other-turn': 'collapsed',
};

function unlimited(): RefreshPermit {
  let used = false;
  return {
    expiresAt: Number.POSITIVE_INFINITY,
    consume() {
      const isFirst = !used;
      used = true;
      return isFirst;
    },
  };
}

/** These say nothing about a symbol: whoever asks now is refused the same. */
const forEverybody: Partial<Record<RefusalCode, { readonly forMs?: number }>> = {
  data_not_subscribed: {},
  upstream_path_unknown: {},
  upstream_quota_used_up: {},
  upstream_auth_failed: { forMs: authDeniedMs },
};

function asTurnsKnowIt(outcome: UpstreamOutcome): UpstreamAnswer {
  if (outcome.kind === 'answer') return outcome;
  const { refusal } = outcome;
  const { code, retryAfterSeconds } = refusal;
  if (code === 'upstream_rejected') return { kind: 'rejected', error: saidBy(refusal) };
  const denied = forEverybody[code];
  if (denied) return { kind: 'forbidden', error: saidBy(refusal), ...denied };
  return {
    kind: 'failed',
    ...(retryAfterSeconds !== undefined && { retryAfterMs: retryAfterSeconds * 1000 }),
    ...(wasNotSent(outcome) && { wasNotSent: true }),
  };
}

/** Through the store, to whoever asks for the same. */
function saidBy({ code, status, upstream }: Refusal): UpstreamError {
  return {
    code,
    status: upstream?.status ?? status ?? 0,
    ...(upstream?.errorCode && { errorCode: upstream.errorCode }),
    ...(upstream?.message && { message: upstream.message }),
  };
}

function refusalFrom({ code, ...upstream }: UpstreamError): Refusal {
  const refusal = { code: code as RefusalCode, upstream };
  if (!isRefusal(refusal) || code === 'upstream_rejected')
    return {
      code: 'upstream_rejected',
      upstream,
      status: upstream.status === 400 || upstream.status === 404 ? upstream.status : 422,
      ...(upstream.message && { detail: `The upstream refused the request: ${upstream.message}` }),
    };
  return refusal;
}
