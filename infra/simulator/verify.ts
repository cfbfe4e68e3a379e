/**
 * Checks whether a request, as it came off the wire, is correctly signed. A pure function, so that tests can check
 * thousands of requests without a socket; nonces, which need a memory, are checked elsewhere.
 */

import { timingSafeEqual } from 'node:crypto';
import { canonicalString, type Field, parseTarget, signatureOf } from './canonical.ts';
import { observed } from './observed.ts';
import { type Rejection, refuse } from './refusal.ts';

export interface WireRequest {
  readonly method: string;
  /** Path and query exactly as in the request line. */
  readonly rawTarget: string;
  /** Names and values in turn, as in `IncomingMessage.rawHeaders`. */
  readonly rawHeaders: readonly string[];
  /** Body; empty when the request has none. */
  readonly body: Uint8Array;
  /** The upstream's clock, Unix time in milliseconds. */
  readonly now: number;
}

export interface VerifyOptions {
  /** Finds the secret of an app key; undefined for an unknown key. */
  readonly secretOf: (appKey: string) => string | undefined;
  /** Seconds that x-timestamp may differ from `now`, in either direction. */
  readonly toleranceSeconds: number;
}

/** App key, nonce and time of a valid signature. */
export interface Signed {
  readonly ok: true;
  readonly appKey: string;
  readonly nonce: string;
  /** x-timestamp as Unix time in milliseconds. */
  readonly timestamp: number;
}

export interface Verified extends Signed {
  readonly path: string;
  /** Decoded query pairs in the order sent. */
  readonly query: readonly Field[];
}

/** Required headers with the refusal for each one's absence, in the order of the checks. */
const requiredHeaders = {
  host: [400, 'ILLEAGAL_PARAMETER'],
  'x-app-key': [observed.noKey.status, observed.noKey.code],
  'x-timestamp': [401, 'MISSING_TIMESTAMP'],
  'x-signature': [401, 'MISSING_SIGNATURE'],
  'x-signature-algorithm': [401, 'MISSING_ALGORITHM'],
  'x-signature-nonce': [401, 'MISSING_NONCE'],
  'x-signature-version': [400, 'ILLEAGAL_PARAMETER'],
  'x-version': [401, 'MISSING_VERSION'],
} as const;

type HeaderName = keyof typeof requiredHeaders;

const signingHeaders = [
  'x-app-key',
  'x-signature-algorithm',
  'x-signature-version',
  'x-signature-nonce',
  'x-timestamp',
  'host',
] as const satisfies readonly HeaderName[];

export function verifyRequest(request: WireRequest, options: VerifyOptions): Verified | Rejection {
  const target = parseTarget(request.rawTarget);
  if (!target) return refuse(400, 'ILLEAGAL_PARAMETER', 'The request target is malformed');
  const headers = readHeaders(request);
  if ('ok' in headers) return headers;

  const pairs = signingHeaders.map((name): Field => [name, headers[name]]);
  const signed = checkSignature(headers, request.now, options, () =>
    canonicalString({ ...target, headers: pairs, body: request.body }),
  );
  return signed.ok ? { ...signed, ...target } : signed;
}

type SigningName = Exclude<HeaderName, 'host' | 'x-version'>;

/** Checks the signature of a request or a subscription. @param text builds the string that is signed */
export function checkSignature(
  headers: Readonly<Record<SigningName, string> & { 'x-version'?: string }>,
  now: number,
  { secretOf, toleranceSeconds }: VerifyOptions,
  text: () => string,
): Signed | Rejection {
  if (headers['x-signature-algorithm'] !== 'HMAC-SHA256')
    return refuse(401, 'SIGNATURE_ALGORITHM_NOT_SUPPORTED', 'x-signature-algorithm must be HMAC-SHA256');
  if (headers['x-signature-version'] !== '1.0')
    return refuse(401, 'VERSION_NOT_SUPPORTED', 'x-signature-version must be 1.0');
  // Only requests come here with the header; a subscription with it was refused before.
  if ((headers['x-version'] ?? 'v3') !== 'v3')
    return refuse(401, 'UNSUPPORTED_API_VERSION', 'x-version must be v3');
  const timestamp = instantOf(headers['x-timestamp']);
  if (timestamp === undefined)
    return refuse(401, 'ILLEAGAL_TIMESTAMP', 'x-timestamp is not YYYY-MM-DDThh:mm:ssZ');
  const appKey = headers['x-app-key'];
  const secret = secretOf(appKey);
  if (secret === undefined) return refuse(401, 'UNAUTHORIZED', 'The app key is not known');
  if (Math.abs(now - timestamp) > toleranceSeconds * 1000)
    return refuse(401, 'CLOCK_SKEW_EXCEEDED', 'x-timestamp is too far from the server clock');
  return sameText(signatureOf(text(), secret), headers['x-signature'])
    ? { ok: true, appKey, nonce: headers['x-signature-nonce'], timestamp }
    : refuse(401, 'INCORRECT_SIGN', 'The signature does not match');
}

/** Reads every required header, which must come exactly once, and checks the content type of a POST. */
function readHeaders(request: WireRequest): Record<HeaderName, string> | Rejection {
  const lines = new Map<string, string[]>();
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at]!.toLowerCase();
    lines.set(name, [...(lines.get(name) ?? []), request.rawHeaders[at + 1]!]);
  }
  const found: Partial<Record<HeaderName, string>> = {};
  for (const name of Object.keys(requiredHeaders) as HeaderName[]) {
    const [value, ...more] = lines.get(name) ?? [];
    // Two lines would leave open which one was signed.
    if (more.length > 0) return refuse(400, 'ILLEAGAL_PARAMETER', `${name} was sent more than once`);
    if (!value) {
      const [status, code] = requiredHeaders[name];
      return refuse(status, code, `${name} is missing`);
    }
    found[name] = value;
  }
  if (request.method === 'POST') {
    const types = lines.get('content-type') ?? [];
    if (types.length !== 1 || !/^application\/json\s*(;|$)/i.test(types[0]!)) {
      return refuse(400, 'ILLEAGAL_PARAMETER', 'The Content-Type of a POST must be application/json');
    }
  }
  return found as Record<HeaderName, string>;
}

/** Parses a timestamp in the one allowed form to milliseconds; undefined for others and for days that do not exist. */
function instantOf(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return undefined;
  const instant = Date.parse(text);
  // The engine rolls 30 February and 24:00:00 over into the next day; writing it back shows that.
  if (Number.isNaN(instant) || new Date(instant).toISOString() !== text.replace('Z', '.000Z'))
    return undefined;
  return instant;
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
