/**
 * Finds out why the upstream refused a request or was not reached, as far as its answer and the connection show. For
 * operators: a cause names the thing to repair, and nothing of a request, a key or an account.
 */

/** Stable: a cause is never given another meaning. */
export const causes = [
  /** The gateway's clock and the upstream's are too far apart. */
  'wrong_clock',
  /** The upstream does not know the app key, or has disabled it. */
  'key_refused',
  /** The key is known, but the signature is not that of its secret. */
  'wrong_secret',
  'token_missing',
  /** A token was sent: it is pending, expired or invalid. */
  'token_refused',
  /** The upstream accepts the key from other IP addresses only. */
  'address_refused',
  /** A signing header did not arrive: something on the way removes headers. */
  'header_lost',
  /** The upstream accepts another version of the interface, or of the signature. */
  'version_refused',
  /** The account that the request names is not the app key's. */
  'account_not_ours',
  /** The upstream answered 429 although the gateway kept the limit that it knows. */
  'limit_tighter',
  /** DNS knows no such host. */
  'host_unknown',
  /** The host accepts no connection on this port. */
  'host_closed',
  /** The certificate is for another name, such as another region's. */
  'wrong_certificate',
  /** The certificate is not signed by a trusted authority, because something on the way reads along, or it has expired. */
  'untrusted_certificate',
  /** The answer is a web page or a redirect: another server than the interface's. */
  'not_the_interface',
] as const;

export type Cause = (typeof causes)[number];

/** The cause, as far as it is known. */
export interface Caused {
  readonly cause?: Cause | undefined;
  /** Lead of the gateway's clock over the upstream's, with `wrong_clock`; below zero when it is behind. */
  readonly clockOffsetSeconds?: number | undefined;
}

/** An answer of the upstream that is no success. */
interface RefusedAnswer {
  readonly status: number;
  /** The upstream's code without its prefix; empty when it has none. */
  readonly stem: string;
  readonly header: (name: string) => string | undefined;
  /** Time of arrival by the gateway's clock, in milliseconds since the epoch. */
  readonly now: number;
  readonly sentToken: boolean;
}

const causeByCode: Readonly<Record<string, Cause>> = {
  INCORRECT_SIGN: 'wrong_secret',
  CLOCK_SKEW_EXCEEDED: 'wrong_clock',
  ILLEAGAL_TIMESTAMP: 'wrong_clock',
  IP_NOT_ALLOWED: 'address_refused',
  ACCOUNT_ACCESS_DENIED: 'account_not_ours',
  MISSING_APP_KEY: 'header_lost',
  MISSING_SIGNATURE: 'header_lost',
  MISSING_ALGORITHM: 'header_lost',
  MISSING_NONCE: 'header_lost',
  MISSING_TIMESTAMP: 'header_lost',
  MISSING_VERSION: 'header_lost',
  ILLEAGAL_PARAMETER: 'header_lost',
  SIGNATURE_ALGORITHM_NOT_SUPPORTED: 'version_refused',
  VERSION_NOT_SUPPORTED: 'version_refused',
  UNSUPPORTED_API_VERSION: 'version_refused',
};

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A synchronised clock is right within a second: neither chance nor a slow answer explains a larger offset than this. */
const maxOffsetSeconds = 60;

/**
 * @returns no `cause` when the answer shows no more than its code does
 * @example causeOf({ status: 401, stem: 'INCORRECT_SIGN', header: () => undefined, now, sentToken: false })  // wrong_secret
 */
export function causeOf(answer: RefusedAnswer): Caused {
  const { status, stem, header, now, sentToken } = answer;
  // A page of status 500 and above comes from a server in front of an interface that is down.
  const isPage = /^text\/html\b/i.test(header('content-type') ?? '') && status < 500;
  if (stem === '' && (isPage || redirectStatuses.has(status))) return { cause: 'not_the_interface' };
  const clockOffsetSeconds = offsetOf(header('date'), now);
  const named = Object.hasOwn(causeByCode, stem) ? causeByCode[stem] : undefined;
  // This code has many causes, and only a wrong clock can be seen from here.
  const isVague = stem === 'UNAUTHORIZED' || (stem === '' && (status === 401 || status === 403));
  const isOff = clockOffsetSeconds !== undefined && Math.abs(clockOffsetSeconds) > maxOffsetSeconds;
  if (named === 'wrong_clock' || (isVague && isOff)) return { cause: 'wrong_clock', clockOffsetSeconds };
  if (named) return { cause: named };
  if (stem === 'INVALID_TOKEN') return { cause: sentToken ? 'token_refused' : 'token_missing' };
  return stem === 'UNAUTHORIZED' ? { cause: 'key_refused' } : {};
}

function offsetOf(date: string | undefined, now: number): number | undefined {
  const offset = Math.round((now - Date.parse(date ?? '')) / 1000);
  // One second is no offset: the header has whole seconds, and the answer was on its way.
  return Math.abs(offset) > 1 ? offset : undefined;
}

/** Finds the cause of a failed connection by the code of Node's error. */
export function causeOfConnection(code: unknown): Cause | undefined {
  if (typeof code !== 'string') return undefined;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'host_unknown';
  if (code === 'ECONNREFUSED') return 'host_closed';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'wrong_certificate';
  return /^(CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_|UNABLE_TO_)/.test(code)
    ? 'untrusted_certificate'
    : undefined;
}

/** Picks the members about a cause out of a larger object. */
export const causedBy = ({ cause, clockOffsetSeconds }: Caused): Caused => ({
  ...(cause && { cause }),
  ...(clockOffsetSeconds !== undefined && { clockOffsetSeconds }),
});

/**
 * Finds the market data product that a refusal names, such as US_STOCK; undefined when it names none. Only a word in
 * capitals counts, because the result goes into logs.
 */
export const productIn = (message = ''): string | undefined =>
  /\bproduct\W{1,3}([A-Z][A-Z0-9_]{1,39})\b/.exec(message)?.[1] ??
  /\b[A-Z]{2,20}_[A-Z0-9_]{1,20}\b/.exec(message)?.[0];
