/** What is certain about a request without a clear answer: one rule for the gateway and the client. */

/** Statuses by which the upstream refuses. With any other except 200 a change may have been made. */
export const refusingStatuses: ReadonlySet<number> = new Set([400, 401, 403, 404, 417, 429]);

/** Node's fetch names the cause of a failure. Where a runtime does not, the request counts as sent. */
export function neverConnected(error: unknown): boolean {
  const { code, syscall } = ((error instanceof Error && error.cause) || {}) as {
    readonly code?: unknown;
    readonly syscall?: unknown;
  };
  if (typeof code !== 'string') return false;
  // These two also occur on an open connection, after something was sent.
  if (/^(EHOSTUNREACH|ENETUNREACH)$/.test(code)) return syscall === 'connect';
  return connectFailures.test(code);
}

const connectFailures =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|CERT_.*|ERR_TLS_CERT.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*)$/;
