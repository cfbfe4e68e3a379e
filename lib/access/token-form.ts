/** The form of a signed token, checked before any key is looked up. Nothing in here is proved yet. */

import type { SignatureAlgorithm } from './auth-settings.ts';
import { strictObject } from './strict-json.ts';
import type { TokenFault } from './verifier.ts';

export interface ReadToken {
  readonly algorithm: SignatureAlgorithm;
  readonly keyId?: string;
  /** Of the header, in lower case and without `application/`. */
  readonly type?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** API Gateway takes 10,240 bytes of headers in all. */
const maxLength = 8192;

const maxKeyIdLength = 256;

/** @returns a fault for what is no signed token of three canonical parts, or one that nothing here may verify */
export function readToken(
  token: string,
  algorithms: readonly SignatureAlgorithm[],
): ReadToken | { readonly fault: TokenFault } {
  if (token.length > maxLength) return { fault: 'too_large' };
  const [headerPart = '', payloadPart = '', signaturePart = '', ...more] = token.split('.');
  if (more.length > 0 || !token.includes('.')) return { fault: 'malformed' };
  const headerBytes = fromBase64Url(headerPart);
  const header = headerBytes && strictObject(headerBytes);
  if (!header) return { fault: 'malformed' };
  const { alg, kid, typ } = header;
  const algorithm = algorithms.find((one) => one === alg);
  if (algorithm === undefined) return { fault: 'wrong_algorithm' };
  // What `crit` names must be understood, and nothing is: `b64` among it would change the bytes that are signed.
  if ('crit' in header || 'b64' in header || 'enc' in header || 'zip' in header)
    return { fault: 'unknown_extension' };
  if (!isKeyId(kid) || !(typ === undefined || typeof typ === 'string')) return { fault: 'malformed' };
  const payloadBytes = fromBase64Url(payloadPart);
  const payload = payloadBytes && strictObject(payloadBytes);
  if (!payload || !fromBase64Url(signaturePart)) return { fault: 'malformed' };
  return {
    algorithm,
    payload,
    ...(kid !== undefined && { keyId: kid }),
    ...(typ !== undefined && { type: typ.toLowerCase().replace(/^application\//, '') }),
  };
}

const isKeyId = (kid: unknown): kid is string | undefined =>
  kid === undefined || (typeof kid === 'string' && kid !== '' && kid.length <= maxKeyIdLength);

/**
 * The bytes, if the text is the one form of them: no padding, no other character, no bits left over. Of two texts for
 * the same bytes one could be refused or revoked, and the other not.
 */
function fromBase64Url(text: string): Uint8Array | undefined {
  if (!/^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/.test(text) || text === '')
    return undefined;
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
}
