/** What the upstream's error codes say. */

/** The code without its prefix: the upstream writes `OPENAPI_`, `OAUTH_OPENAPI_`, or none. */
export const stemOf = (errorCode = '') => errorCode.replace(/^(OAUTH_)?OPENAPI_/, '');

/** A server failed: what became of the request is not known. */
export const serverFailures: readonly string[] = [
  'SERVICE_NOT_AVAILABLE',
  'GATEWAY_TIMEOUT',
  'INTERNAL_ERROR',
  'SYSTEM_ERROR',
];

/**
 * Whether a refusal is about the access token, and not about key or signature.
 *
 * INVALID_TOKEN is the only such code that is documented. Another one with the word in it counts too where the status
 * says "not authenticated"; elsewhere it may be about the token of a page. With the status of a failure no code is a
 * refusal: an order may have taken effect.
 */
export const isTokenRefusal = (status: number, stem: string): boolean =>
  (stem === 'INVALID_TOKEN' && status >= 400 && status < 500) ||
  ((status === 401 || status === 403) && /(^|_)TOKEN(_|$)/.test(stem));
