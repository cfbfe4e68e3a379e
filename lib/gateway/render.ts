/** The one place where an outcome becomes HTTP: status, headers, ETag, problem+json. */

import { ageHeader, cacheStatus, matchesTag, weakTag } from '../cache/headers.ts';
import { hashOfAll } from '../cache/snapshots/hash.ts';
import { type PartialResult, problemOf, type Refusal } from '../problem.ts';
import type { GatewayRequest, GatewayResponse } from './http.ts';
import {
  bodyOf,
  type CachedResponse,
  type Outcome,
  type SnapshotsFound,
  type UncachedAnswer,
} from './outcome.ts';

/** The members of a request that its answer depends on. */
export type RenderedRequest = Pick<GatewayRequest, 'method' | 'headers' | 'requestId'>;

export async function render(outcome: Outcome, request: RenderedRequest): Promise<GatewayResponse> {
  switch (outcome.kind) {
    case 'uncached':
      return renderUncached(outcome, request.requestId);
    case 'cached':
      return renderCached(outcome, request);
    case 'snapshots':
      return renderSnapshots(outcome, request);
    case 'refused':
      return refusalResponse(outcome.refusal, request.requestId);
  }
}

const json = 'application/json';

const renderUncached = ({ body, upstreamRequestId }: UncachedAnswer, requestId: string): GatewayResponse => ({
  status: 200,
  headers: {
    'content-type': json,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    ...(upstreamRequestId && { 'x-upstream-request-id': upstreamRequestId }),
  },
  body,
});

/** From this freshness on a client may reuse a response without asking whether it changed. */
const cachedByClientsMs = 60_000;

async function renderCached(
  { body, cacheResult, ageMs, ttlMs, freshMs }: CachedResponse,
  request: RenderedRequest,
): Promise<GatewayResponse> {
  const digest = await crypto.subtle.digest('SHA-256', body as Uint8Array<ArrayBuffer>);
  const headers = {
    'content-type': json,
    etag: weakTag(btoa(String.fromCharCode(...new Uint8Array(digest, 0, 12)))),
    age: ageHeader(ageMs),
    'cache-control':
      freshMs >= cachedByClientsMs ? `private, max-age=${Math.floor(freshMs / 1000)}` : 'private, no-cache',
    'cache-status': cacheStatus({
      ...(cacheResult !== 'hit' && { fwd: 'miss' as const }),
      collapsed: cacheResult === 'collapsed',
      ttlMs,
    }),
    'x-poll-after': pollAfter(ttlMs),
    'x-request-id': request.requestId,
  };
  return withBody(headers, () => body, request);
}

export function renderSnapshots(outcome: SnapshotsFound, request: RenderedRequest): GatewayResponse {
  const { records, unknown, cacheResult, ageMs, ttlMs, stale, hasMaxAge, pollAfterMs } = outcome;
  const headers = {
    'content-type': json,
    etag: weakTag(hashOfAll(records.map(({ hash }) => hash))),
    age: ageHeader(ageMs),
    // A client may keep it and ask with its tag whether it changed.
    'cache-control': 'private, no-cache',
    'cache-status': cacheStatus({
      ...(cacheResult !== 'hit' && { fwd: hasMaxAge ? ('request' as const) : ('miss' as const) }),
      collapsed: cacheResult === 'collapsed',
      ttlMs,
      ...(stale && { detail: 'older-than-the-bound' }),
    }),
    'x-poll-after': pollAfter(pollAfterMs),
    // Symbols are printable and contain no comma: validation of the parameter ensures it.
    ...(unknown.length > 0 && { 'x-unknown-symbols': unknown.join(',') }),
    'x-request-id': request.requestId,
  };
  return withBody(headers, () => bodyOf(outcome), request);
}

const pollAfter = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)));

/** 304 without a body when the client has these bytes already. */
function withBody(
  headers: GatewayResponse['headers'] & { readonly etag: string },
  body: () => Uint8Array,
  { method, headers: received }: RenderedRequest,
): GatewayResponse {
  // RFC 9110 gives If-None-Match this meaning for GET and HEAD only.
  if (method !== 'GET' || !matchesTag(received['if-none-match'], headers.etag))
    return { status: 200, headers, body: body() };
  const { 'content-type': _, ...validators } = headers;
  return { status: 304, headers: validators, body: new Uint8Array() };
}

/**
 * RFC 9457 problem+json with the gateway's stable `code`, and with `error_code` and `message`, which clients of
 * the upstream's interface know. `type` has its default, about:blank.
 *
 * @example
 * const { status, headers, body } = refusalResponse({ code: 'unknown_operation' }, 'request-1');
 */
export function refusalResponse(refusal: Refusal, requestId: string): GatewayResponse {
  const problem = problemOf(refusal);
  const { status, retryAfterSeconds } = problem;
  const text = JSON.stringify({
    title: titles[status] ?? 'Error',
    status,
    detail: problem.detail,
    code: problem.code,
    request_id: requestId,
    error_code: problem.errorCode,
    message: problem.message,
    errors: problem.errors,
    find_out: problem.findOut,
    upstream: problem.upstream,
  });
  const { partial } = refusal;
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
      ...(refusal.allow && { allow: refusal.allow.join(', ') }),
    },
    body: new TextEncoder().encode(partial ? `${text.slice(0, -1)},${partialMembers(partial)}}` : text),
  };
}

/** JSON members without braces, so that the upstream's bytes stay as they are. `age` is in whole seconds. */
function partialMembers({ records, missing }: PartialResult): string {
  const decoder = new TextDecoder();
  const known = records.map(
    ({ bytes, ageMs }) => `{"age":${ageHeader(ageMs)},"snapshot":${decoder.decode(bytes)}}`,
  );
  return `"missing":${JSON.stringify(missing)},"known":[${known.join(',')}]`;
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};
