/** Signs a request, without I/O. Any HTTP client can send the result as it is. */

import {
  algorithm,
  hashBody,
  interfaceVersion,
  parameterString,
  percentEncode,
  signatures,
  signatureVersion,
  signingKey,
  stringToSign,
} from './canonical.ts';
import { SignError } from './errors.ts';
import { refuseLoneSurrogate, type SignInput, toPlainRequest } from './request.ts';

export interface SignerOptions {
  readonly appKey: string;
  readonly appSecret: string;
  /** Now, in milliseconds since the epoch. Default: the system's clock. */
  readonly clock?: () => number;
  /** A text that no earlier call returned. Default: 128 random bits; replace it in tests only. */
  readonly nonce?: (() => string) | undefined;
  /** Default: WebCrypto's. Those of `node:crypto` are several times faster: Node runs each WebCrypto call on a thread. */
  readonly digests?: Digests | undefined;
}

/**
 * The algorithm's two digests, over a text's UTF-8 bytes. The signer does not check them: test a signer with its own
 * digests against the vectors.
 *
 * @example
 * // With createHash and createHmac of node:crypto:
 * const digests: Digests = {
 *   sha256: (text) => createHash('sha256').update(text).digest('hex'),
 *   hmacSha256: (key) => (text) => createHmac('sha256', key).update(text).digest('base64'),
 * };
 */
export interface Digests {
  /** @returns hexadecimal digits, of either case */
  readonly sha256: (text: string) => string | Promise<string>;
  /** Called once per signer, with the signing key. @returns a function of the text that gives base64 */
  readonly hmacSha256: (key: string) => (text: string) => string | Promise<string>;
}

/** A request to send as it is, and once: each attempt needs a nonce and a signature of its own. */
export interface SignedRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Every header that must be sent besides Host, which follows from the URL. */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent when there is no body. */
  readonly body?: string;
}

export interface Signer {
  /** @throws SignError for a request that cannot be signed faithfully */
  sign(input: SignInput): Promise<SignedRequest>;
}

/** Whether a header carries the text unchanged. */
export const isToken = (text: unknown) => typeof text === 'string' && /^[!-~]+$/.test(text);

/**
 * Creates a signer for one app key. The secret is imported as a key that cannot be read back.
 *
 * @throws SignError `invalid_credentials` for an empty or unusable key or secret
 * @example
 * const signer = createSigner({ appKey, appSecret });
 * const { url, method, headers } = await signer.sign({
 *   url: `${baseUrl}/openapi/market-data/stock/snapshot`,
 *   query: { symbols: ['AAPL', 'MSFT'], category: 'US_STOCK' },
 * });
 * const response = await fetch(url, { method, headers });
 */
export function createSigner({ appKey, appSecret, clock, nonce, digests }: SignerOptions): Signer {
  if (!isToken(appKey) || typeof appSecret !== 'string' || !appSecret)
    throw new SignError('invalid_credentials', 'appKey or appSecret');
  refuseLoneSurrogate(appSecret);
  const signatureOf = digests?.hmacSha256(signingKey(appSecret)) ?? signatures(appSecret);
  let second: number | undefined;
  let timestamp: string;
  return {
    async sign(input) {
      const { method, url, host, path, query, body } = toPlainRequest(input);
      const bodyHash = body && (await (digests ? digests.sha256(body) : hashBody(body)));
      const now = new Date(clock ? clock() : Date.now());
      const nowSecond = Math.floor(now.getTime() / 1000);
      // Formatting the time takes microseconds, so one timestamp serves its whole second.
      if (nowSecond !== second) {
        second = nowSecond;
        // toJSON, because toISOString throws an error without a code; the check below refuses an invalid time.
        timestamp = `${`${now.toJSON()}`.slice(0, 19)}Z`;
      }
      const headers = {
        appKey,
        host,
        nonce: nonce ? nonce() : crypto.randomUUID().replaceAll('-', ''),
        timestamp,
      };
      if (!isToken(headers.nonce) || !/^\d{4}-/.test(headers.timestamp))
        throw new SignError('invalid_nonce_or_time', 'nonce or clock');
      const text = percentEncode(stringToSign(path, parameterString(query, headers), bodyHash));
      return {
        method,
        url,
        headers: {
          'x-app-key': appKey,
          'x-timestamp': headers.timestamp,
          'x-signature': await signatureOf(text),
          'x-signature-algorithm': algorithm,
          'x-signature-version': signatureVersion,
          'x-signature-nonce': headers.nonce,
          'x-version': interfaceVersion,
          ...(method === 'POST' && { 'content-type': 'application/json' }),
        },
        ...(body && { body }),
      };
    },
  };
}
