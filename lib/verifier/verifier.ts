/** Verifies a signed request as it arrived. Web APIs only. */

import {
  algorithm,
  type Bytes,
  hashBody,
  importSigningKey,
  interfaceVersion,
  type Pair,
  parameterString,
  percentEncode,
  signatureVersion,
  signingPairs,
  stringToSign,
  utf8,
} from '../signer/canonical.ts';
import { createMemoryNonceStore, type NonceStore } from './nonces.ts';

export interface VerifierOptions {
  /** The app secret of a key, or undefined for an unknown key. */
  readonly secretOf: (appKey: string) => string | undefined | Promise<string | undefined>;
  /** Largest distance of x-timestamp from the clock, either way. Default 300; the interface names no figure. */
  readonly toleranceSeconds?: number | undefined;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Default: in memory, for one process. */
  readonly nonces?: NonceStore;
  /**
   * Refuses requests whose canonical string could stand for another request, too. The algorithm joins names and values
   * without escaping, so that `a=1` beside `b=2` and the one value `1&b=2` of `a` have the same signature. Refused are
   * `&` or `=` in a name, `&` in a value or a signing header, a parameter named like a signing header, and, if a name
   * occurs more than once, a value with `=` or in the form of a body's hash. Default: off, to the letter of the interface.
   */
  readonly strict?: boolean;
}

/** A request as it arrived. */
export interface ReceivedRequest {
  /** Absolute URL, or path and query as in the request line. Not normalised by the caller. */
  readonly url: string;
  /** Names in any case. Without a Host header, the URL's host counts. */
  readonly headers: Headers | Readonly<Record<string, string | undefined>>;
  readonly body?: string | Bytes | null;
}

export type VerifyRefusal =
  | 'missing_header'
  | 'unsupported_algorithm'
  | 'unsupported_signature_version'
  | 'unsupported_version'
  | 'invalid_timestamp'
  | 'clock_skew'
  | 'unknown_app_key'
  | 'malformed_url'
  | 'ambiguous_query'
  | 'ambiguous_header'
  | 'signature_mismatch'
  | 'nonce_reused';

export type Verification =
  | { readonly ok: true; readonly appKey: string }
  | { readonly ok: false; readonly code: VerifyRefusal; readonly detail: string };

export interface Verifier {
  verify(request: ReceivedRequest): Promise<Verification>;
}

/**
 * Creates a verifier. It reports a refused request as a value with a stable `code`, never as an exception.
 *
 * @example
 * const verifier = createVerifier({ secretOf: (appKey) => secrets.get(appKey) });
 * const verification = await verifier.verify({ url: request.url, headers: request.headers, body });
 * if (!verification.ok) return new Response(verification.code, { status: 401 });
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const clock = options.clock ?? Date.now;
  const tolerance = (options.toleranceSeconds ?? 300) * 1000;
  const nonces = options.nonces ?? createMemoryNonceStore({ clock });
  return {
    async verify({ url, headers, body }) {
      const value = headerReader(headers);
      const sent = Object.fromEntries(requiredHeaders.map((name) => [name, value(name) ?? '']));
      const missing = requiredHeaders.find((name) => !sent[name]);
      if (missing) return refuse('missing_header', missing);
      const header = (name: (typeof requiredHeaders)[number]) => sent[name] as string;
      if (header('x-signature-algorithm') !== algorithm) return refuse('unsupported_algorithm', algorithm);
      if (header('x-signature-version') !== signatureVersion)
        return refuse('unsupported_signature_version', signatureVersion);
      if (header('x-version') !== interfaceVersion) return refuse('unsupported_version', interfaceVersion);

      const timestamp = header('x-timestamp');
      const time = parseTimestamp(timestamp);
      if (Number.isNaN(time)) return refuse('invalid_timestamp', 'YYYY-MM-DDThh:mm:ssZ');
      // Written with `!`, so that a clock or tolerance that is not a number refuses the request.
      if (!(Math.abs(time - clock()) <= tolerance))
        return refuse('clock_skew', `more than ${tolerance / 1000} s`);

      const target = parseTarget(url);
      if (!target) return refuse('malformed_url', 'path or percent-encoding');
      const appKey = header('x-app-key');
      const nonce = header('x-signature-nonce');
      const host = value('host') ?? target.host;
      if (!host) return refuse('missing_header', 'host');
      if (/\p{Cs}/u.test(host + appKey + nonce)) return refuse('signature_mismatch', 'no UTF-8 form');
      const signing = { appKey, host, nonce, timestamp };
      if (options.strict) {
        const pairs = signingPairs(signing);
        const ambiguous = target.query.find((pair) => isAmbiguous(pair, target.query, pairs));
        if (ambiguous) return refuse('ambiguous_query', ambiguous[0]);
        const joined = pairs.find(([, value]) => value.includes('&'));
        if (joined) return refuse('ambiguous_header', joined[0]);
      }

      const secret = await options.secretOf(appKey);
      if (!secret) return refuse('unknown_app_key', appKey);
      const signature = decodeSignature(header('x-signature'));
      const text = percentEncode(
        stringToSign(target.path, parameterString(target.query, signing), await hashBody(body ?? '')),
      );
      // WebCrypto compares in constant time.
      const key = await importSigningKey(secret, 'verify');
      if (!signature || !(await crypto.subtle.verify('HMAC', key, signature, utf8(text))))
        return refuse('signature_mismatch', 'see explain');
      // Checked last, so that only a holder of the secret can fill the nonce store.
      if (!(await nonces.add(appKey, nonce, time + tolerance + 1000)))
        return refuse('nonce_reused', 'each request wants a new nonce');
      return { ok: true, appKey };
    },
  };
}

const requiredHeaders = [
  'x-app-key',
  'x-timestamp',
  'x-signature',
  'x-signature-algorithm',
  'x-signature-version',
  'x-signature-nonce',
  'x-version',
] as const;

const refuse = (code: VerifyRefusal, detail: string): Verification => ({ ok: false, code, detail });

function headerReader(headers: ReceivedRequest['headers']): (name: string) => string | undefined {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined;
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => byName.get(name);
}

/** Milliseconds since the epoch, or NaN for another format or a day that does not exist. */
function parseTimestamp(text: string): number {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? Date.parse(text) : Number.NaN;
  return new Date(time).toJSON() === text.replace('Z', '.000Z') ? time : Number.NaN;
}

/** Splits a URL: the path stays as sent, the query is decoded. `+` counts as a space, as form encoders send it. */
function parseTarget(url: string) {
  const [, host, path, search] = /^(?:https?:\/\/([^/?#]+))?(\/[\w.~/-]*)(?:\?([^#]*))?$/.exec(url) ?? [];
  if (!path) return undefined;
  try {
    const query = (search ?? '')
      .split('&')
      .filter(Boolean)
      .map((part): Pair => {
        const [name = '', ...value] = part.split('=');
        return [decode(name), decode(value.join('='))];
      });
    return { host, path, query };
  } catch {
    return undefined;
  }
}

/** Throws a URIError for a malformed escape or bytes that are no UTF-8. */
const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));

const isAmbiguous = ([name, value]: Pair, query: readonly Pair[], signing: readonly Pair[]) =>
  /[&=]/.test(name) ||
  value.includes('&') ||
  signing.some(([header]) => header === name) ||
  // In str1 the second value of a name stands alone, where another parameter or the body's hash could stand.
  (/=|^[\dA-F]{64}$/.test(value) && query.filter(([other]) => other === name).length > 1);

/** Decodes a signature; undefined unless the text is the canonical base64 of 32 bytes. */
function decodeSignature(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(text)) return undefined;
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
