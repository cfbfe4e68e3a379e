/**
 * Signs a subscription to the event stream, without I/O: with the key and digest of a request, over a canonical text of
 * the stream's own. A separate file, so that an app without a stream does not bundle it.
 */

import {
  algorithm,
  type Bytes,
  hashBody,
  percentEncode,
  signatures,
  signatureVersion,
  signingPairs,
} from './canonical.ts';
import { SignError } from './errors.ts';
import { refuseLoneSurrogate } from './request.ts';
import { isToken, type SignerOptions } from './signer.ts';

export interface SubscriptionSigner {
  /**
   * @param message the serialised request: send exactly these bytes
   * @returns the metadata of the call. Send it once: each attempt needs a nonce and a signature of its own
   * @throws SignError `invalid_body` for an empty message, `invalid_nonce_or_time`
   */
  signSubscription(message: Uint8Array): Promise<Readonly<Record<string, string>>>;
}

/** App key and token that the subscriptions are signed for. */
export interface SubscriptionSignerOptions extends Omit<SignerOptions, 'digests'> {
  /** Sent with the metadata, unsigned, where the upstream checks tokens. */
  readonly accessToken?: string;
}

/**
 * Creates a signer for event streams. The secret is imported as a key that cannot be read back.
 *
 * @throws SignError `invalid_credentials` for an empty or unusable key, secret or token
 * @example
 * const { signSubscription } = createSubscriptionSigner({ appKey, appSecret });
 * const message = encodeSubscribeRequest({ subscribeType: 7, timestamp: Date.now(), accounts });
 * const metadata = await signSubscription(message);
 */
export function createSubscriptionSigner(options: SubscriptionSignerOptions): SubscriptionSigner {
  const { appKey, appSecret, accessToken, clock = Date.now, nonce = randomNonce } = options;
  const isUsable = isToken(appKey) && typeof appSecret === 'string' && appSecret !== '';
  if (!isUsable || (accessToken !== undefined && !isToken(accessToken)))
    throw new SignError('invalid_credentials', 'appKey, appSecret or accessToken');
  const signatureOf = signatures(refuseLoneSurrogate(appSecret));
  return {
    async signSubscription(message) {
      if (message.length === 0) throw new SignError('invalid_body', 'an empty message');
      const usedNonce = nonce();
      const timestamp = `${`${new Date(clock()).toJSON()}`.slice(0, 19)}Z`;
      if (!isToken(usedNonce) || !/^\d{4}-/.test(timestamp))
        throw new SignError('invalid_nonce_or_time', 'nonce or clock');
      const hash = await hashBody(message as Bytes);
      const text = percentEncode(subscriptionText({ appKey, nonce: usedNonce, timestamp }, hash));
      return {
        'x-app-key': appKey,
        'x-timestamp': timestamp,
        'x-signature': await signatureOf(text),
        'x-signature-algorithm': algorithm,
        'x-signature-version': signatureVersion,
        'x-signature-nonce': usedNonce,
        ...(accessToken !== undefined && { 'x-access-token': accessToken }),
      };
    },
  };
}

const randomNonce = () => crypto.randomUUID().replaceAll('-', '');

/** Builds the canonical text of a stream: it has neither host nor path, and its parts are joined with `=`. */
function subscriptionText(
  headers: { readonly appKey: string; readonly nonce: string; readonly timestamp: string },
  messageHash: string,
): string {
  const pairs = signingPairs({ ...headers, host: '' }).filter(([name]) => name !== 'host');
  return `${pairs.map(([name, value]) => `${name}=${value}`).join('=')}&${messageHash}`;
}
