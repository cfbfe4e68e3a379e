/**
 * CORS for web views and browsers. Functions add its headers to their responses; API Gateway answers preflights by itself,
 * with the same values.
 */

import type { Operation } from '../../lib/catalogue/operation.ts';

/** `*`, or origins as browsers write them: `https://app.example`, `capacitor://localhost`. */
export type CorsOrigins = '*' | readonly string[];

export const corsMethods: readonly string[] = ['GET', 'POST', 'OPTIONS'];

/** Headers of the functions' responses that a script may read only if they are named. */
export const corsExposedHeaders: readonly string[] = [
  'x-request-id',
  'x-upstream-request-id',
  'retry-after',
  'allow',
  'x-amzn-requestid',
  'x-amzn-errortype',
  // Says why a token is refused; API Gateway renames the header in a function's answer.
  'www-authenticate',
  'x-amzn-remapped-www-authenticate',
  // Age of a response, whether it was shared, when to ask again, and which symbols are unknown.
  'age',
  'cache-status',
  'etag',
  'x-poll-after',
  'x-unknown-symbols',
  // Marks the outcome of an order that was sent before.
  'idempotent-replayed',
];

/** Seconds for which a browser may cache a preflight; no browser caches longer than two hours. */
export const corsMaxAgeSeconds = 7200;

const requestHeaders = [
  'content-type',
  'x-api-key',
  // Required freshness of a response, and the version that the client has.
  'cache-control',
  'if-none-match',
  // Key that identifies a repeated request.
  'idempotency-key',
  // A token, or the headers that SigV4 signs, for groups that open with them.
  'authorization',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-content-sha256',
  // Sent by existing clients of the interface; the gateway drops them without a refusal.
  'x-app-key',
  'x-timestamp',
  'x-signature',
  'x-signature-algorithm',
  'x-signature-version',
  'x-signature-nonce',
  'x-version',
  'x-access-token',
];

/** Request headers that a preflight allows: the gateway's own, and those that the operations forward. */
export function corsRequestHeaders(
  operations: readonly Pick<Operation, 'headers'>[] = [],
): readonly string[] {
  return [...new Set([...requestHeaders, ...operations.flatMap(({ headers }) => headers ?? [])])];
}

/** Says what is wrong with an origin; undefined for a valid one. */
export function originFault(origin: string): string | undefined {
  const form = /^[a-z][a-z0-9+.-]*:\/\/(?:\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::(?<port>\d{1,5}))?$/.exec(origin);
  if (form && Number(form.groups?.port ?? 1) > 65_535) return 'a port is at most 65535';
  if (/^(https:.*:443|http:.*:80)$/.test(origin))
    return 'browsers leave the port out of an origin where it is the scheme’s own';
  if (form) return undefined;
  return 'an origin is a scheme, "://", a host and perhaps a port, in lower case, without a path';
}

/** Adds the CORS headers to a response; its `vary` names both sets of headers. */
export function withCors(
  headers: Readonly<Record<string, string>>,
  origins: CorsOrigins,
  origin: string | undefined,
): Readonly<Record<string, string>> {
  const cors = corsHeaders(origins, origin);
  const vary = [headers.vary, cors.vary].filter(Boolean).join(', ');
  return { ...headers, ...cors, ...(vary && { vary }) };
}

/** Headers of a response to a request from an origin. */
export function corsHeaders(
  origins: CorsOrigins,
  origin: string | undefined,
): Readonly<Record<string, string>> {
  if (origins !== '*' && origins.length === 0) return {};
  const allowed = origins === '*' ? '*' : origins.find((one) => one === origin);
  return {
    // A cache must not give one origin's response to another; with `*` all responses are the same.
    ...(origins !== '*' && { vary: 'origin' }),
    ...(allowed !== undefined && {
      'access-control-allow-origin': allowed,
      'access-control-expose-headers': corsExposedHeaders.join(', '),
    }),
  };
}
