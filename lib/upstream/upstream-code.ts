/** Classes of the upstream's error codes. */

/** The code without its prefix: the upstream writes `OPENAPI_`, `OAUTH_OPENAPI_`, or none. */
export const stemOf = (errorCode = '') => errorCode.replace(/^(OAUTH_)?OPENAPI_/, '');

/** Codes of a failed server: the outcome of the request is not known. */
export const serverFailures: readonly string[] = [
  'SERVICE_NOT_AVAILABLE',
  'GATEWAY_TIMEOUT',
  'INTERNAL_ERROR',
  'SYSTEM_ERROR',
];

/**
 * Whether a refusal is about the access token, and not about key or signature.
 *
 * INVALID_TOKEN is the only such code that is documented. Another code with the word TOKEN counts if the status is 401 or
 * 403; with another status it may be about a page token. A status from 500 on is no refusal, whatever the code: an order
 * may have taken effect.
 */
export const isTokenRefusal = (status: number, stem: string): boolean =>
  (stem === 'INVALID_TOKEN' && status >= 400 && status < 500) ||
  ((status === 401 || status === 403) && /(^|_)TOKEN(_|$)/.test(stem));
