/** The code without its prefix: the upstream writes `OPENAPI_`, `OAUTH_OPENAPI_`, or none. */
export const stemOf = (errorCode = '') => errorCode.replace(/^(OAUTH_)?OPENAPI_/, '');

/** A server failed: what became of the request is not known. */
export const serverFailures: readonly string[] = [
  'SERVICE_NOT_AVAILABLE',
  'GATEWAY_TIMEOUT',
  'INTERNAL_ERROR',
  'SYSTEM_ERROR',
];
