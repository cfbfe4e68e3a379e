/** CORS of what API Gateway answers without a function, deployed and on this machine: preflights, constants, refusals. */

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
