/** Answers that API Gateway gives without a function, deployed and on this machine: health, preflights, and CORS headers. */

import {
  corsExposedHeaders,
  corsMaxAgeSeconds,
  corsMethods,
  corsRequestHeaders,
} from '../functions/events/cors.ts';
import type { Operation } from '../lib/catalogue/index.ts';

export type CorsHeaders = Readonly<Record<string, string>>;

/** Headers of a preflight's answer, for any origin. @param operation the one that the preflight asks about */
export const preflightHeaders = (operation?: Pick<Operation, 'headers'>): CorsHeaders => ({
  'Access-Control-Allow-Methods': corsMethods.join(', '),
  'Access-Control-Allow-Headers': corsRequestHeaders(operation && [operation]).join(', '),
  'Access-Control-Max-Age': String(corsMaxAgeSeconds),
});

/**
 * CORS headers of a preflight and of a constant answer. An origin that is not among several gets the first one, so that
 * its browser refuses.
 *
 * @param origins the configured ones; `*` stands alone
 */
export function originHeaders(origins: readonly string[], origin?: string): CorsHeaders {
  const [first, another] = origins;
  if (first === undefined) return {};
  return {
    'Access-Control-Allow-Origin': origins.find((one) => one === origin) ?? first,
    ...(another !== undefined && { Vary: 'Origin' }),
  };
}

/** Headers of API Gateway's own refusals, which cannot choose among origins. Any origin may read them: no cookies are used. */
export function refusalHeaders(origins: readonly string[]): CorsHeaders {
  const [only, another] = origins;
  if (only === undefined) return {};
  return {
    'access-control-allow-origin': another === undefined ? only : '*',
    'access-control-expose-headers': corsExposedHeaders.join(', '),
  };
}

/** Body of `GET /health`, deployed and on this machine; it tells only that there is an API. */
export const healthBody = '{"status":"ok"}';

/**
 * Bytes from which API Gateway compresses a response, deployed and on this machine. A smaller response fits one packet
 * with its headers anyhow, and gzip's own frame takes part of the gain.
 */
export const minimumCompressionBytes = 1024;
