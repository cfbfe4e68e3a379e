/**
 * CORS for web views and browsers. The functions put it on their responses; the preflight is answered by
 * API Gateway itself, from the same figures.
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
  // Why a token is not accepted; API Gateway renames the header of a function's answer.
  'www-authenticate',
  'x-amzn-remapped-www-authenticate',
  // How old a response is, whether it was shared, when to ask again, and what is missing.
  'age',
  'cache-status',
  'etag',
  'x-poll-after',
  'x-unknown-symbols',
  // An order that was sent before is answered with what became of it.
  'idempotent-replayed',
];

/** How long a browser keeps a preflight's response; two hours is as long as any of them does. */
export const corsMaxAgeSeconds = 7200;

const requestHeaders = [
  'content-type',
  'x-api-key',
  // How fresh a response has to be, and which one the client has already.
  'cache-control',
  'if-none-match',
  // By what a request that comes again is known.
  'idempotency-key',
  // A token, or what SigV4 signs, for groups that are opened with them.
  'authorization',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-content-sha256',
  // Existing clients of the interface send these; here they are dropped, but not refused.
  'x-app-key',
  'x-timestamp',
  'x-signature',
  'x-signature-algorithm',
  'x-signature-version',
  'x-signature-nonce',
  'x-version',
  'x-access-token',
];

/** The request headers that a preflight allows: the gateway's own, and those that the operations forward. */
export function corsRequestHeaders(
  operations: readonly Pick<Operation, 'headers'>[] = [],
): readonly string[] {
  return [...new Set([...requestHeaders, ...operations.flatMap(({ headers }) => headers ?? [])])];
}

/** Origins as an environment holds them: `*`, or a list with commas; none where it is empty. */
export function readOrigins(text: string | undefined): CorsOrigins {
  if (!text?.trim()) return [];
  if (text.trim() === '*') return '*';
  return text.split(',').map((origin) => origin.trim());
}

/** In words what is wrong with each that is no origin. */
export const originsFaults = (origins: CorsOrigins): readonly string[] =>
  (origins === '*' ? [] : origins).flatMap((origin, index) => {
    const fault = originFault(origin);
    return fault ? [`entry ${index + 1} is no origin; ${fault}, or * stands alone`] : [];
  });

/** In words what is wrong with an origin, or undefined. */
export function originFault(origin: string): string | undefined {
  const form = /^[a-z][a-z0-9+.-]*:\/\/(?:\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::(?<port>\d{1,5}))?$/.exec(origin);
  if (form && Number(form.groups?.port ?? 1) > 65_535) return 'a port is at most 65535';
  if (/^(https:.*:443|http:.*:80)$/.test(origin))
    return 'browsers leave the port out of an origin where it is the scheme’s own';
  if (form) return undefined;
  return 'an origin is a scheme, "://", a host and perhaps a port, in lower case, without a path';
}

/** A response's headers with those that CORS adds; what it varies by is the sum of both. */
export function withCors(
  headers: Readonly<Record<string, string>>,
  origins: CorsOrigins,
  origin: string | undefined,
): Readonly<Record<string, string>> {
  const cors = corsHeaders(origins, origin);
  const vary = [headers.vary, cors.vary].filter(Boolean).join(', ');
  return { ...headers, ...cors, ...(vary && { vary }) };
}

/** The headers of a response to a request from this origin. */
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
