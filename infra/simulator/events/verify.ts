/**
 * Checks whether a subscription, as it came off the wire, is correctly signed. Written from the facts about the stream
 * alone, like the check of HTTP requests. Nonces, which need a memory, are checked elsewhere.
 */

import { createHash } from 'node:crypto';
import { byCodeUnit, percentEncode } from '../canonical.ts';
import { type Rejection, refuse } from '../refusal.ts';
import { checkSignature, type Signed, type VerifyOptions } from '../verify.ts';

interface WireSubscription {
  /** Metadata names and values in turn, as they came. */
  readonly rawMetadata: readonly string[];
  /** Bytes of the serialised request. */
  readonly message: Uint8Array;
  /** The upstream's clock, Unix time in milliseconds. */
  readonly now: number;
}

/** Names of the metadata that is signed. */
const signedNames = [
  'x-app-key',
  'x-signature-algorithm',
  'x-signature-nonce',
  'x-signature-version',
  'x-timestamp',
] as const;

const missingCodes = {
  'x-app-key': 'MISSING_APP_KEY',
  'x-timestamp': 'MISSING_TIMESTAMP',
  'x-signature': 'MISSING_SIGNATURE',
  'x-signature-algorithm': 'MISSING_ALGORITHM',
  'x-signature-nonce': 'MISSING_NONCE',
  'x-signature-version': 'ILLEAGAL_PARAMETER',
} as const;

type MetadataName = keyof typeof missingCodes;
type Metadata = Record<MetadataName, string>;

/** Headers of HTTP requests. A client that sends them here has signed another text, or will one day. */
const foreignHeaders = ['host', 'x-version'];

export function verifySubscription(
  { rawMetadata, message, now }: WireSubscription,
  options: VerifyOptions,
): Signed | Rejection {
  const metadata = readMetadata(rawMetadata);
  return 'ok' in metadata
    ? metadata
    : checkSignature(metadata, now, options, () => subscriptionString(metadata, message));
}

/** Builds the encoded string that the signature is computed over. */
export function subscriptionString(metadata: Omit<Metadata, 'x-signature'>, message: Uint8Array): string {
  const pairs = [...signedNames].sort(byCodeUnit).map((name) => `${name}=${metadata[name]}`);
  // Differs from HTTP: joined by =, no path, and the digest in lower case.
  return percentEncode(`${pairs.join('=')}&${createHash('sha256').update(message).digest('hex')}`);
}

/** Reads every required name, which must come exactly once. */
function readMetadata(raw: readonly string[]): Metadata | Rejection {
  const found: Partial<Metadata> = {};
  const names = raw.filter((_, at) => at % 2 === 0);
  const refused = foreignHeaders.find((name) => names.includes(name));
  if (refused) return refuse(400, 'ILLEAGAL_PARAMETER', `${refused} does not belong to a subscription`);
  for (const name of Object.keys(missingCodes) as MetadataName[]) {
    const at = names.indexOf(name);
    const value = raw[2 * at + 1];
    if (at < 0 || !value) return refuse(401, missingCodes[name], `${name} is missing`);
    if (names.indexOf(name, at + 1) >= 0)
      return refuse(400, 'ILLEAGAL_PARAMETER', `${name} was sent more than once`);
    found[name] = value;
  }
  return found as Metadata;
}
