/** Renders an outcome as HTTP: status, headers, ETag, the two forms of a refusal. */

import { ageHeader, cacheStatus, matchesTag, weakTag } from '../cache/headers.ts';
import { hashOfAll, joinRecords } from '../cache/snapshots/records.ts';
import {
  type PartialResult,
  type Problem,
  problemOf,
  type Refusal,
  refusalKinds,
  type UpstreamRefusal,
} from '../problem.ts';
import type { GatewayRequest, GatewayResponse } from './http.ts';
import type { CachedResponse, Outcome, SnapshotsFound, UncachedAnswer } from './outcome.ts';

/** Members of the request that rendering depends on. */
type RenderedRequest = Pick<GatewayRequest, 'method' | 'headers' | 'requestId'>;

export async function render(outcome: Outcome, request: RenderedRequest): Promise<GatewayResponse> {
  switch (outcome.kind) {
    case 'uncached':
      return renderUncached(outcome, request.requestId);
    case 'cached':
      return renderCached(outcome, request);
    case 'snapshots':
      return renderSnapshots(outcome, request);
    case 'stream':
      return {
        status: 200,
        headers: {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
          'x-request-id': request.requestId,
        },
        body: outcome.body,
        stream: outcome.events,
      };
    case 'refused':
      return refusalResponse(outcome.refusal, request.requestId, request.headers.accept);
  }
}

const json = 'application/json';

const renderUncached = (
  { body, upstreamRequestId, isReplayed }: UncachedAnswer,
  requestId: string,
): GatewayResponse => ({
  status: 200,
  headers: {
    'content-type': json,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    ...(upstreamRequestId && { 'x-upstream-request-id': upstreamRequestId }),
    ...(isReplayed && { 'idempotent-replayed': 'true' }),
  },
  body,
});

/** Freshness from which a client may reuse a response without revalidating it. */
const cachedByClientsMs = 60_000;

async function renderCached(
  { body, cacheResult, ageMs, ttlMs, freshMs, isAccountData }: CachedResponse,
  request: RenderedRequest,
): Promise<GatewayResponse> {
  const digest = digests.get(body) ?? crypto.subtle.digest('SHA-256', body as Uint8Array<ArrayBuffer>);
  digests.set(body, digest);
  const headers = {
    'content-type': json,
    etag: weakTag(btoa(String.fromCharCode(...new Uint8Array(await digest, 0, 12)))),
    age: ageHeader(ageMs),
    'cache-control':
      freshMs >= cachedByClientsMs && !isAccountData
        ? `private, max-age=${Math.floor(freshMs / 1000)}`
        : 'private, no-cache',
    'cache-status': cacheStatus({
      ...(cacheResult !== 'hit' && { fwd: 'miss' as const }),
      collapsed: cacheResult === 'collapsed',
      ttlMs,
    }),
    'x-poll-after': pollAfter(ttlMs),
    'x-request-id': request.requestId,
  };
  return notModified(headers, request) ?? { status: 200, headers, body };
}

/** Remembers digests of cached bodies, which many answers share: computing one takes longer than the rest of an answer. */
const digests = new WeakMap<Uint8Array, Promise<ArrayBuffer>>();

export function renderSnapshots(outcome: SnapshotsFound, request: RenderedRequest): GatewayResponse {
  const { records, unknown, cacheResult, ageMs, ttlMs, stale, hasMaxAge, pollAfterMs } = outcome;
  const headers = {
    'content-type': json,
    etag: weakTag(hashOfAll(records.map(({ hash }) => hash))),
    age: ageHeader(ageMs),
    // A client may store the answer, and must revalidate it with its ETag.
    'cache-control': 'private, no-cache',
    'cache-status': cacheStatus({
      ...(cacheResult !== 'hit' && { fwd: hasMaxAge ? ('request' as const) : ('miss' as const) }),
      collapsed: cacheResult === 'collapsed',
      ttlMs,
      ...(stale && { detail: 'older-than-the-bound' }),
    }),
    'x-poll-after': pollAfter(pollAfterMs),
    // Validation of the parameter ensures that symbols are printable and contain no comma.
    ...(unknown.length > 0 && { 'x-unknown-symbols': unknown.join(',') }),
    'x-request-id': request.requestId,
  };
  return (
    notModified(headers, request) ?? {
      status: 200,
      headers,
      body: joinRecords(records.map(({ bytes }) => bytes)),
    }
  );
}

const pollAfter = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)));

/** The answer without a body to a client whose ETag matches; undefined for any other. */
function notModified(
  headers: GatewayResponse['headers'] & { readonly etag: string },
  { method, headers: received }: RenderedRequest,
): GatewayResponse | undefined {
  // RFC 9110 gives If-None-Match this meaning for GET and HEAD only.
  if (method !== 'GET' || !matchesTag(received['if-none-match'], headers.etag)) return undefined;
  const { 'content-type': _, ...validators } = headers;
  return { status: 304, headers: validators, body: new Uint8Array() };
}

/**
 * A refusal as HTTP, in the form that the client can read. Both forms have the gateway's stable `code`, the members
 * `error_code` and `message`, which clients of the upstream's interface know, and the members of RFC 9457; `type` has
 * its default, about:blank.
 *
 * - Flat, as application/json: text and numbers. Existing clients of the interface read a refusal as a map of text to
 *   text, and an array in it would cost them code and message.
 * - Nested, as application/problem+json, where the request names that type: the same members, with the arrays and
 *   objects `errors`, `known` and `missing`.
 *
 * @param accept the request's header; default: none, which gives the flat form
 * @example
 * const { status, headers, body } = refusalResponse({ code: 'unknown_operation' }, 'request-1');
 */
export function refusalResponse(refusal: Refusal, requestId: string, accept?: string): GatewayResponse {
  const { partial, allow } = refusal;
  const problem = problemOf(partial ? withPartialInWords(refusal, partial) : refusal);
  const { status, retryAfterSeconds } = problem;
  const nested = acceptsProblem(accept);
  const text = JSON.stringify({
    title: titles[status] ?? 'Error',
    status,
    detail: problem.detail,
    code: problem.code,
    request_id: requestId,
    error_code: problem.errorCode,
    message: problem.message,
    find_out: problem.findOut,
    cause: problem.cause,
    clock_offset_seconds: problem.clockOffsetSeconds,
    ...upstreamMembers(problem.upstream),
    ...(nested && { errors: problem.errors }),
  });
  return {
    status,
    headers: {
      'content-type': nested ? problemType : json,
      'cache-control': 'no-store',
      // Some caches on the way store answers in spite of no-store; they must not mix the two forms.
      vary: 'accept',
      'x-request-id': requestId,
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
      ...(allow && { allow: allow.join(', ') }),
      ...(status === 401 && { 'www-authenticate': challengeOf(problem) }),
    },
    body: new TextEncoder().encode(
      nested && partial ? `${text.slice(0, -1)},${partialMembers(partial)}}` : text,
    ),
  };
}

/** The challenge that RFC 6750 requires for a request without a token or with one that is not accepted. */
const challengeOf = ({ code, detail }: Pick<Problem, 'code' | 'detail'>): string =>
  code === 'invalid_token'
    ? `Bearer error="invalid_token", error_description="${quotable(detail)}"`
    : 'Bearer';

/** Replaces the characters that RFC 6750 does not allow in a description of an error. */
const quotable = (text: string) => text.replace(/[^ !#-[\]-~]/g, '.');

/** Members about the upstream's refusal; JSON leaves out the undefined ones. */
const upstreamMembers = (upstream?: UpstreamRefusal) => ({
  upstream_status: upstream?.status,
  upstream_error_code: upstream?.errorCode,
  upstream_message: upstream?.message,
  upstream_request_id: upstream?.requestId,
});

/** Most missing symbols that a text names: a request may ask for a hundred. */
const maxMissingInWords = 10;

/** Adds to the text, for clients that read no lists, which symbols are missing and how to get the known records. */
function withPartialInWords(refusal: Refusal, { records, missing }: PartialResult): Refusal {
  const named = missing.slice(0, maxMissingInWords).join(', ');
  const more = missing.length - maxMissingInWords;
  const words = [
    refusal.detail ?? refusalKinds[refusal.code].detail,
    missing.length > 0 && `Missing: ${named}${more > 0 ? ` and ${more} more` : ''}.`,
    records.length > 0 &&
      `${records.length} of ${records.length + missing.length} records are known: a request that accepts ${problemType} gets them.`,
  ];
  return { ...refusal, detail: words.filter(Boolean).join(' ') };
}

/** JSON members, as text so that the upstream's bytes stay as they are. `age` is in whole seconds. */
function partialMembers({ records, missing }: PartialResult): string {
  const decoder = new TextDecoder();
  const known = records.map(
    ({ bytes, ageMs }) => `{"age":${ageHeader(ageMs)},"snapshot":${decoder.decode(bytes)}}`,
  );
  return `"missing":${JSON.stringify(missing)},"known":[${known.join(',')}]`;
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** Media type of nested refusals. */
const problemType = 'application/problem+json';

/**
 * Whether the Accept header (RFC 9110) names the type of nested refusals. A range with a star does not count: many
 * clients send one by default, and those may read only a flat object.
 *
 * @param accept the header's value; absent and empty name no type
 */
function acceptsProblem(accept = ''): boolean {
  return withoutQuotes(accept)
    .toLowerCase()
    .split(',')
    .some((range) => {
      const [type, ...parameters] = range.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
      // A weight of 0 means "not acceptable".
      return type === problemType && Number(weight) > 0;
    });
}

/** Removes quoted values, which may contain commas and semicolons. One without an end extends to the header's end. */
const withoutQuotes = (header: string): string => header.replace(/"(?:[^"\\]|\\.)*(?:"|\\?$)/gs, '');
