/**
 * Builds the canonical string in the steps of the interface's section "Algorithm". Pure functions from text to text;
 * signer, verifier and `explain` share them, so that they cannot differ.
 */

/** A query parameter or signing header: name and raw value, not percent-encoded. */
export type Pair = readonly [name: string, value: string];

/** Values of the headers that take part in signing. */
interface SigningHeaders {
  readonly appKey: string;
  /** The Host header as sent, with its port when that is not the scheme's own. */
  readonly host: string;
  readonly nonce: string;
  /** YYYY-MM-DDThh:mm:ssZ */
  readonly timestamp: string;
}

/** Values of the headers that are the same in every request (interface, "Required request headers"). */
export const algorithm = 'HMAC-SHA256';
export const signatureVersion = '1.0';
export const interfaceVersion = 'v3';

/**
 * Bytes that WebCrypto and `fetch` accept. From version 5.7 on TypeScript needs the buffer's type as a type argument and
 * earlier versions refuse it, so this type is inferred from the platform's declarations: from a value, because those of Node
 * name no such type.
 */
export type Bytes = ReturnType<InstanceType<typeof TextEncoder>['encode']>;

/** Makes its encoder when called: apps on engines without one load this file and never sign. */
export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

/** The six signing headers as pairs (step 1). */
export const signingPairs = (headers: SigningHeaders): Pair[] => [
  ['host', headers.host],
  ['x-app-key', headers.appKey],
  ['x-signature-algorithm', algorithm],
  ['x-signature-nonce', headers.nonce],
  ['x-signature-version', signatureVersion],
  ['x-timestamp', headers.timestamp],
];

/**
 * Builds str1 (steps 1 to 4): all pairs sorted by name, the values of one name sorted and joined under it. The order
 * is by UTF-16 code unit, as `<` compares.
 */
export function parameterString(query: readonly Pair[], headers: SigningHeaders): string {
  const pairs = [...signingPairs(headers), ...query].sort(([a, x], [b, y]) =>
    a < b ? -1 : a > b ? 1 : x < y ? -1 : 1,
  );
  let joined = '';
  let last: string | undefined;
  for (const [name, value] of pairs) {
    joined += name === last ? `&${value}` : `${last === undefined ? '' : '&'}${name}=${value}`;
    last = name;
  }
  return joined;
}

/** Builds str3 (steps 5 and 6): the body's hash is in upper case, and an empty body has none. */
export const stringToSign = (path: string, str1: string, bodyHash: string) =>
  `${path}&${str1}${bodyHash && `&${bodyHash.toUpperCase()}`}`;

/**
 * Encodes everything but RFC 3986 unreserved characters (step 7); `encodeURIComponent` leaves five more. Throws a
 * URIError at a lone surrogate. Testing first is faster than an encoding or a replacement that changes nothing.
 */
export function percentEncode(text: string): string {
  if (!/[^\w.~-]/.test(text)) return text;
  const encoded = encodeURIComponent(text);
  if (!/[!'()*]/.test(encoded)) return encoded;
  return encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Hashes the body (str2 of step 5, but in lower case): hexadecimal SHA-256 of its bytes; '' when it is empty (step 6). */
export async function hashBody(body: string | Bytes): Promise<string> {
  if (!body.length) return '';
  const bytes = typeof body === 'string' ? utf8(body) : body;
  const digits = '0123456789abcdef';
  let hex = '';
  for (const byte of new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
    hex += `${digits[byte >> 4]}${digits[byte & 15]}`;
  return hex;
}

/** Step 8: the signing key is the secret followed by `&`. */
export const signingKey = (appSecret: string) => `${appSecret}&`;

/** Imports the signing key as an object that cannot be read back. */
export const importSigningKey = (
  appSecret: string,
  usage: 'sign' | 'verify',
): ReturnType<typeof crypto.subtle.importKey> =>
  crypto.subtle.importKey('raw', utf8(signingKey(appSecret)), { name: 'HMAC', hash: 'SHA-256' }, false, [
    usage,
  ]);

/** Returns a function that signs an encoded string with WebCrypto (step 9). */
export function signatures(appSecret: string): (encodedString: string) => Promise<string> {
  const key = importSigningKey(appSecret, 'sign');
  return async (encodedString) => {
    const digest = await crypto.subtle.sign('HMAC', await key, utf8(encodedString));
    return btoa(Reflect.apply(String.fromCharCode, undefined, new Uint8Array(digest)));
  };
}
