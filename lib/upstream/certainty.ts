/** Decides whether a request without a clear answer may have had an effect: one rule for the gateway and the client. */

/** Statuses with which the upstream refuses. After any other except 200, a change may have been made. */
export const refusingStatuses: ReadonlySet<number> = new Set([400, 401, 403, 404, 417, 429]);

/** Whether nothing was sent, because no connection was made. If the runtime does not name the cause, the answer is no. */
export function neverConnected(error: unknown): boolean {
  const { code, syscall } = ((error instanceof Error && error.cause) || {}) as {
    readonly code?: unknown;
    readonly syscall?: unknown;
  };
  if (typeof code !== 'string') return false;
  // These two codes also occur on an open connection, after something was sent.
  if (/^(EHOSTUNREACH|ENETUNREACH)$/.test(code)) return syscall === 'connect';
  return connectFailures.test(code);
}

const connectFailures =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|CERT_.*|ERR_TLS_CERT.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*)$/;
