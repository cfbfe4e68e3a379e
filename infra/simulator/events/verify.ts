/**
 * Is this subscription, as it came off the wire, correctly signed? Written from the facts about the stream and from
 * nothing else, like the check of HTTP requests beside it. What has to be remembered (nonces) is elsewhere.
 */

import { createHash } from 'node:crypto';
import { byCodeUnit, percentEncode, signatureOf } from '../canonical.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { instantOf, sameText, type VerifyOptions } from '../verify.ts';

export interface WireSubscription {
  /** Names and values in turn, as they came. */
  readonly rawMetadata: readonly string[];
  /** The serialised request. */
  readonly message: Uint8Array;
  /** The upstream's clock, Unix time in milliseconds. */
  readonly now: number;
}

export interface VerifiedSubscription {
  readonly ok: true;
  readonly appKey: string;
  readonly nonce: string;
  /** x-timestamp as Unix time in milliseconds. */
  readonly timestamp: number;
}

/** What is signed. */
const signing = [
  'x-app-key',
  'x-signature-algorithm',
  'x-signature-nonce',
  'x-signature-version',
  'x-timestamp',
] as const;

const missing = {
  'x-app-key': 'MISSING_APP_KEY',
  'x-timestamp': 'MISSING_TIMESTAMP',
  'x-signature': 'MISSING_SIGNATURE',
  'x-signature-algorithm': 'MISSING_ALGORITHM',
  'x-signature-nonce': 'MISSING_NONCE',
  'x-signature-version': 'ILLEAGAL_PARAMETER',
} as const;

type Name = keyof typeof missing;
type Metadata = Record<Name, string>;

/** Of HTTP requests alone: a client that sends them here has signed another text, or will one day. */
const foreign = ['host', 'x-version'];

export function verifySubscription(
  { rawMetadata, message, now }: WireSubscription,
  { secretOf, toleranceSeconds }: VerifyOptions,
): VerifiedSubscription | Refusal {
  const metadata = readMetadata(rawMetadata);
  if ('ok' in metadata) return metadata;
  if (metadata['x-signature-algorithm'] !== 'HMAC-SHA256')
    return refuse(401, 'SIGNATURE_ALGORITHM_NOT_SUPPORTED', 'x-signature-algorithm must be HMAC-SHA256');
  if (metadata['x-signature-version'] !== '1.0')
    return refuse(401, 'VERSION_NOT_SUPPORTED', 'x-signature-version must be 1.0');
  const timestamp = instantOf(metadata['x-timestamp']);
  if (timestamp === undefined)
    return refuse(401, 'ILLEAGAL_TIMESTAMP', 'x-timestamp is not YYYY-MM-DDThh:mm:ssZ');
  const appKey = metadata['x-app-key'];
  const secret = secretOf(appKey);
  if (secret === undefined) return refuse(401, 'UNAUTHORIZED', 'The app key is not known');
  if (Math.abs(now - timestamp) > toleranceSeconds * 1000)
    return refuse(401, 'CLOCK_SKEW_EXCEEDED', 'x-timestamp is too far from the server clock');
  if (!sameText(signatureOf(subscriptionString(metadata, message), secret), metadata['x-signature']))
    return refuse(401, 'INCORRECT_SIGN', 'The signature does not match');
  return { ok: true, appKey, nonce: metadata['x-signature-nonce'], timestamp };
}

/** The encoded string that the signature is computed over. */
export function subscriptionString(metadata: Omit<Metadata, 'x-signature'>, message: Uint8Array): string {
  const pairs = [...signing].sort(byCodeUnit).map((name) => `${name}=${metadata[name]}`);
  // Unlike over HTTP: joined by =, no path, and the digest in lower case.
  return percentEncode(`${pairs.join('=')}&${createHash('sha256').update(message).digest('hex')}`);
}

/** Every required name exactly once. */
function readMetadata(raw: readonly string[]): Metadata | Refusal {
  const found: Partial<Metadata> = {};
  const names = raw.filter((_, at) => at % 2 === 0);
  const refused = foreign.find((name) => names.includes(name));
  if (refused) return refuse(400, 'ILLEAGAL_PARAMETER', `${refused} does not belong to a subscription`);
  for (const name of Object.keys(missing) as Name[]) {
    const at = names.indexOf(name);
    const value = raw[2 * at + 1];
    if (at < 0 || !value) return refuse(401, missing[name], `${name} is missing`);
    if (names.indexOf(name, at + 1) >= 0)
      return refuse(400, 'ILLEAGAL_PARAMETER', `${name} was sent more than once`);
    found[name] = value;
  }
  return found as Metadata;
}
