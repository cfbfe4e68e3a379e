/** Ports of the snapshot cache to the upstream: calls with a permit, whose refusals are classified, and lists of symbols. */

import {
  type AskUpstream,
  type Listings,
  type RefreshAnswer,
  type RefreshPermitAnswer,
  type RefreshPermits,
  type UpstreamError,
  upstreamTimeoutMs,
} from '../../cache/snapshots/index.ts';
import type { Operation } from '../../catalogue/operation.ts';
import type { SymbolListing } from '../../catalogue/symbol-listing.ts';
import { steadyClock } from '../../kernel/age.ts';
import { elementsOf, membersOf, openBracket } from '../../kernel/json-scan.ts';
import { parseJson } from '../../kernel/parse-json.ts';
import type { Permit } from '../../limiter/index.ts';
import {
  isRefusal,
  type Refusal,
  type RefusalCode,
  reportedUpstream,
  withoutRequestId,
} from '../../problem.ts';
import { type Caused, causedBy } from '../../upstream/cause.ts';
import type { CacheParts } from '../cache-options.ts';
import { createContext, type RequestContext } from '../context.ts';
import type { Credential } from '../credentials.ts';
import { limitsOf } from '../limits/operation-limits.ts';
import { limiterRefusal, minAttemptMs } from '../limits/permits.ts';
import { wasNotSent } from '../upstream.ts';
import { isAboutCategory, rejectedBy } from '../upstream-answer.ts';

/** Credential and priority with which a permit was acquired. */
interface PermitHolder extends Pick<RequestContext, 'priority'> {
  readonly credential: Credential;
}

/** How long a failure of the upstream counts as the cause of a missing record. */
const failureMs = 10_000;
/** The circuit breaker's one caller for refreshes of served records, whose symbols no single client chose. */
const refreshCaller = 'refreshes';
/** Time limit below which a call's time-out says nothing about the upstream, because many answers take longer. */
const shortMs = upstreamTimeoutMs / 2;
/** Cool-down after a refused credential: short, because an operator who corrects it waits for the effect. */
const authForbiddenMs = 3000;

export class SnapshotUpstream implements RefreshPermits {
  readonly #operation: Operation;
  readonly #parts: CacheParts;
  readonly #appKey: string;
  readonly #onReplaced: () => void;
  readonly #holders = new WeakMap<Permit, PermitHolder>();
  /** Paths of the operation that the upstream may still serve. */
  readonly #paths: string[];
  /** Replaced by a newer secret's credential of the same app key. */
  #credential: Credential;
  #failure: { readonly refusal: Refusal; readonly at: number } | undefined;

  /** @param onReplaced called when the upstream refused the account's key and accepted another's in its place */
  constructor(operation: Operation, parts: CacheParts, credential: Credential, onReplaced: () => void) {
    this.#operation = operation;
    this.#parts = parts;
    this.#appKey = credential.appKey;
    this.#credential = credential;
    this.#onReplaced = onReplaced;
    this.#paths = [operation.path, ...operation.aliases];
  }

  /** The failure of the last 10 s, if any, which explains missing records. */
  recentFailure(now: number): Refusal | undefined {
    return this.#failure && now - this.#failure.at < failureMs ? this.#failure.refusal : undefined;
  }

  readonly acquire: RefreshPermits['acquire'] = async ({ priority, waitMs }) => {
    const { credentials, limiter, clock } = this.#parts;
    const current = await credentials.forRead();
    if (!current.ok) return { ok: false, retryAfterMs: 1000, isLocal: true };
    if (current.credential.appKey === this.#credential.appKey) this.#credential = current.credential;
    const credential = this.#credential;
    const limits = limitsOf(this.#operation, this.#parts);
    if (!limiter || !limits) return this.#granted(unlimitedPermit(), { credential, priority });
    const answer = await limiter.acquire({ appKey: credential.appKey, limits, priority, waitMs });
    if (answer.ok) return this.#granted(answer.permit, { credential, priority });
    this.#failure = { refusal: limiterRefusal({ attempts: 0 }, answer), at: steadyClock(clock)() };
    const isLocal = answer.reason === 'store_busy' || answer.reason === 'store_unavailable';
    return { ok: false, retryAfterMs: answer.retryAfterMs, ...(isLocal && { isLocal }) };
  };

  readonly fetch: AskUpstream = async (view, symbols, permit, refreshMs, caller = refreshCaller) => {
    const { upstream, clock, timeoutMs } = this.#parts;
    const { credential, priority } = this.#holders.get(permit)!;
    // The extra time is for an attempt that has to replace its permit.
    const context = createContext(clock() + refreshMs + minAttemptMs, priority, caller);
    const isShort = refreshMs < shortMs;
    const answer = await upstream.fetch(
      {
        operation: this.#operation,
        path: this.#paths[0] ?? this.#operation.path,
        request: { query: [['symbols', symbols.join(',')] as const, ...view.query], body: '', headers: {} },
        context,
        permit,
        isRepeatedByCaller: true,
        timeoutMs: Math.min(refreshMs, timeoutMs),
        isShort,
      },
      credential,
    );
    const { signedBy } = context.usage;
    if (signedBy !== undefined && signedBy !== this.#appKey) {
      this.#onReplaced();
      return { kind: 'failed', isLocal: true };
    }
    this.#failure = undefined;
    if (answer.kind === 'uncached') return { kind: 'answer', body: answer.body };
    const { refusal } = answer;
    this.#report(refusal, symbols.length);
    if (codesForAllRecords.includes(refusal.code))
      this.#failure = { refusal: withoutOwnRequestId(refusal), at: steadyClock(clock)() };
    if (refusal.code === 'upstream_path_unknown' && this.#hasNextPath()) return { kind: 'failed' };
    const isLocal = wasNotSent(answer) || (isShort && refusal.code === 'upstream_timeout');
    return refreshAnswerOf(refusal, isLocal);
  };

  #granted(permit: Permit, holder: PermitHolder): RefreshPermitAnswer {
    this.#holders.set(permit, holder);
    return { ok: true, permit };
  }

  /** When the upstream has retired one path of the operation, it may still serve another. */
  #hasNextPath(): boolean {
    this.#paths.shift();
    return this.#paths.length > 0;
  }

  #report(refusal: Refusal, symbols: number): void {
    try {
      this.#parts.reportRefresh?.({
        operation: this.#operation.id,
        code: refusal.code,
        symbols,
        ...reportedUpstream(refusal),
      });
    } catch {
      // A failing log must not cost the waiting requests their answers.
    }
  }
}

/** Codes that explain every missing record; any other code concerns only one request's symbols. */
const codesForAllRecords: readonly RefusalCode[] = [
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_error',
  'upstream_broken_answer',
  'upstream_answer_too_large',
  'upstream_rate_limited',
  'budget_used_up',
];

const withoutOwnRequestId = ({ upstream, ...refusal }: Refusal): Refusal => ({
  ...refusal,
  ...(upstream && { upstream: withoutRequestId(upstream) }),
});

function unlimitedPermit(): Permit {
  let isConsumed = false;
  return {
    expiresAt: Number.POSITIVE_INFINITY,
    consume() {
      const isFirst = !isConsumed;
      isConsumed = true;
      return isFirst;
    },
  };
}

/**
 * Codes after which the upstream probably refuses every request of the view for a while. With `mayBeOfSymbols` the cause
 * may be single symbols: a market that is not subscribed, or a text that a firewall forbids or the upstream signs otherwise.
 */
const forbidsAll: Partial<
  Record<RefusalCode, { readonly forMs?: number; readonly mayBeOfSymbols?: boolean }>
> = {
  data_not_subscribed: { mayBeOfSymbols: true },
  upstream_path_unknown: {},
  upstream_quota_used_up: {},
  upstream_auth_failed: { forMs: authForbiddenMs, mayBeOfSymbols: true },
  upstream_token_expired: { forMs: authForbiddenMs },
};

/** @param isLocal whether the refusal says nothing about the upstream */
function refreshAnswerOf(refusal: Refusal, isLocal: boolean): RefreshAnswer {
  const { code, retryAfterSeconds } = refusal;
  const forbidden = forbidsAll[code] ?? (isAboutCategory(refusal) ? {} : undefined);
  if (code === 'upstream_rejected' && !forbidden)
    return { kind: 'rejected', error: toUpstreamError(refusal) };
  if (forbidden) return { kind: 'forbidden', error: toUpstreamError(refusal), ...forbidden };
  return {
    kind: 'failed',
    ...(retryAfterSeconds !== undefined && { retryAfterMs: retryAfterSeconds * 1000 }),
    ...(isLocal && { isLocal }),
  };
}

/** The form in which the store passes a refusal to all requests for the same symbols. */
function toUpstreamError({ code, status, upstream, ...own }: Refusal): UpstreamError {
  return {
    code,
    ...causedBy(own),
    status: upstream?.status ?? status ?? 0,
    ...(upstream?.errorCode && { errorCode: upstream.errorCode }),
    ...(upstream?.message && { message: upstream.message }),
  };
}

/** Converts an error from the store back to the refusal that it was made of. */
export function fromUpstreamError(error: UpstreamError): Refusal {
  const { code, cause, clockOffsetSeconds, forMs, ...upstream } = error;
  const caused = causedBy(error as Caused);
  const refusal = { code: code as RefusalCode, ...caused, upstream };
  if (!isRefusal(refusal) || code === 'upstream_rejected') return { ...rejectedBy(upstream), ...caused };
  return refusal;
}

/** Longest wait for a permit: short, because a client waits for the page and can do without it. */
const permitWaitMs = 250;

/** Reads the upstream's lists of instruments, one page per request, for the directory of symbols. */
export function createListings(
  { operation, queries, categoryOf }: SymbolListing,
  { upstream, credentials, clock }: Pick<CacheParts, 'upstream' | 'credentials' | 'clock'>,
): Listings {
  return {
    count: queries.length,
    async ask(list, cursor, timeoutMs) {
      const query = queries[list];
      const current = await credentials.forRead();
      if (!query || !current.ok) return undefined;
      const answer = await upstream.fetch(
        {
          operation,
          path: operation.path,
          request: {
            query: cursor === undefined ? query : [...query, ['pagination_key', cursor]],
            body: '',
            headers: {},
          },
          // The priority `events` is below that of callers, but above that of callers over their share.
          context: createContext(clock() + timeoutMs, 'events'),
          timeoutMs,
          own: { waitMs: permitWaitMs },
        },
        current.credential,
      );
      if (answer.kind === 'uncached') return readPage(answer.body, categoryOf);
      return wasNotSent(answer) ? 'not_sent' : undefined;
    },
  };
}

/** Most records of a page: ten times as many as the pages that were seen had. */
const maxRecords = 10_000;
/** Longest record that is parsed; a record is some hundred bytes. */
const maxRecordBytes = 16_384;

/** Reads a page record by record, because a whole parsed page would take many times its size. Undefined for no page. */
function readPage(body: Uint8Array, categoryOf: SymbolListing['categoryOf']) {
  const members = membersOf(body, ['data', 'pagination_key']);
  const data = members?.get('data');
  if (!data || data[0] !== openBracket) return undefined;
  const symbols = new Map<string, string[]>();
  let records = 0;
  for (const bytes of elementsOf(data)) {
    if (++records > maxRecords) return undefined;
    if (bytes.length > maxRecordBytes) continue;
    const record = parsed(bytes) as Readonly<Record<string, unknown>> | null;
    if (typeof record?.symbol !== 'string') continue;
    const category = categoryOf(record);
    const listed = symbols.get(category);
    if (listed) listed.push(record.symbol);
    else symbols.set(category, [record.symbol]);
  }
  const key = members?.get('pagination_key');
  const next = (key && key.length <= maxRecordBytes ? parsed(key) : undefined) ?? '';
  if (typeof next !== 'string' && typeof next !== 'number') return undefined;
  return { symbols, ...(next !== '' && { next: `${next}` }) };
}

const parsed = (bytes: Uint8Array): unknown => parseJson(new TextDecoder().decode(bytes));
