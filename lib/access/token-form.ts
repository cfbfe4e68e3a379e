/** Parses a signed token before any key is looked up. Its contents are not verified yet. */

import type { SignatureAlgorithm } from './auth-settings.ts';
import type { TokenFault } from './verifier.ts';

interface ReadToken {
  readonly algorithm: SignatureAlgorithm;
  readonly keyId?: string | undefined;
  /** `typ` of the header, in lower case and without `application/`. */
  readonly type?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** In characters. API Gateway accepts 10,240 bytes of headers in all. */
const maxLength = 8192;

const maxKeyIdLength = 256;

/** @returns a fault for a text that is no token of three canonical parts, or has an algorithm that is not accepted */
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
  // Extensions named in `crit` must be understood, and none is here: `b64` would even change the bytes that are signed.
  if ('crit' in header || 'b64' in header || 'enc' in header || 'zip' in header)
    return { fault: 'unknown_extension' };
  if (!isKeyId(kid) || !(typ === undefined || typeof typ === 'string')) return { fault: 'malformed' };
  const payloadBytes = fromBase64Url(payloadPart);
  const payload = payloadBytes && strictObject(payloadBytes);
  if (!payload || !fromBase64Url(signaturePart)) return { fault: 'malformed' };
  return {
    algorithm,
    payload,
    keyId: kid,
    ...(typ !== undefined && { type: typ.toLowerCase().replace(/^application\//, '') }),
  };
}

const isKeyId = (kid: unknown): kid is string | undefined =>
  kid === undefined || (typeof kid === 'string' && kid !== '' && kid.length <= maxKeyIdLength);

/**
 * Decodes base64url in its canonical form only: no padding, no other character, no bits left over. If two texts had the
 * same bytes, one could be refused or revoked, and the other not.
 */
function fromBase64Url(text: string): Uint8Array | undefined {
  if (!/^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/.test(text) || text === '')
    return undefined;
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
}

/**
 * Reads a JSON object of a token, and refuses texts that two readers could understand in two ways.
 *
 * @returns undefined for bytes that are not UTF-8, not JSON or no object, and for an object in which a name comes twice:
 *   some parsers use the first of two equal names, others the last
 */
export function strictObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    if (namesIn(text) !== Object.keys(value).length) return undefined;
    // No prototype, so that looking up a claim's name never finds an inherited member.
    return Object.assign(Object.create(null), value);
  } catch {
    return undefined;
  }
}

/** Counts the members of a JSON text's outer object. */
function namesIn(text: string): number {
  let depth = 0;
  let names = 0;
  // Matches each string as a whole, so that no bracket or colon in one counts.
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (part === '{' || part === '[') depth++;
    else if (part === '}' || part === ']') depth--;
    else if (part === ':' && depth === 1) names++;
  }
  return names;
}
