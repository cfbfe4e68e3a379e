/** What API Gateway answers without a function, deployed and on this machine: health, preflights, and what says who may read it. */

import {
  corsExposedHeaders,
  corsMaxAgeSeconds,
  corsMethods,
  corsRequestHeaders,
} from '../functions/events/cors.ts';
import type { Operation } from '../lib/catalogue/index.ts';

export type CorsHeaders = Readonly<Record<string, string>>;

/** What a preflight allows, for any origin. @param operation the one that is asked for */
export const preflightHeaders = (operation?: Pick<Operation, 'headers'>): CorsHeaders => ({
  'Access-Control-Allow-Methods': corsMethods.join(', '),
  'Access-Control-Allow-Headers': corsRequestHeaders(operation && [operation]).join(', '),
  'Access-Control-Max-Age': String(corsMaxAgeSeconds),
});

/**
 * Of a preflight and of a constant. A caller whose origin is not among several gets the first one, which its browser
 * refuses.
 *
 * @param origins those that are configured; `*` stands alone
 */
export function originHeaders(origins: readonly string[], origin?: string): CorsHeaders {
  const [first, another] = origins;
  if (first === undefined) return {};
  return {
    'Access-Control-Allow-Origin': origins.find((one) => one === origin) ?? first,
    ...(another !== undefined && { Vary: 'Origin' }),
  };
}

/** API Gateway's own refusals cannot choose among several origins. Any may read them: no cookies are used. */
export function refusalHeaders(origins: readonly string[]): CorsHeaders {
  const [only, another] = origins;
  if (only === undefined) return {};
  return {
    'access-control-allow-origin': another === undefined ? only : '*',
    'access-control-expose-headers': corsExposedHeaders.join(', '),
  };
}

/** The body of `GET /health`, deployed and on this machine: that there is an API, and nothing else. */
export const healthBody = '{"status":"ok"}';

/**
 * From how many bytes on API Gateway compresses a response, deployed and on this machine. Below, the response
 * fits one packet with its headers anyhow, and gzip's own frame takes some of what is won.
 */
export const minimumCompressionBytes = 1024;
