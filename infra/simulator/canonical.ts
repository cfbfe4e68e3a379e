/**
 * Builds the string to sign from the interface's section "Algorithm" and from nothing else. It is a second opinion, so it
 * shares no line with the signer that it judges.
 */

import { createHash, createHmac } from 'node:crypto';

export type Field = readonly [name: string, value: string];

interface SignedParts {
  /** Path without the query, exactly as sent. */
  readonly path: string;
  /** Decoded query pairs in the order sent. */
  readonly query: readonly Field[];
  /** The six signing headers, names in lower case. */
  readonly headers: readonly Field[];
  readonly body: Uint8Array;
}

interface RequestTarget {
  readonly path: string;
  readonly query: readonly Field[];
}

/** Takes a request target apart; undefined when it is not an origin-form target with well-formed escapes. */
export function parseTarget(rawTarget: string): RequestTarget | undefined {
  if (!rawTarget.startsWith('/') || rawTarget.includes('#')) return undefined;
  const mark = rawTarget.indexOf('?');
  if (mark < 0) return { path: rawTarget, query: [] };
  const query: Field[] = [];
  for (const piece of rawTarget.slice(mark + 1).split('&')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const name = decodePart(equals < 0 ? piece : piece.slice(0, equals));
    const value = decodePart(equals < 0 ? '' : piece.slice(equals + 1));
    if (name === undefined || value === undefined) return undefined;
    query.push([name, value]);
  }
  return { path: rawTarget.slice(0, mark), query };
}

function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', '%20'));
  } catch {
    return undefined;
  }
}

/** Computes steps 1 to 7: the encoded string that is signed. */
export function canonicalString({ path, query, headers, body }: SignedParts): string {
  const valuesOf = new Map<string, string[]>();
  for (const [name, value] of [...query, ...headers]) {
    const values = valuesOf.get(name);
    if (values) values.push(value);
    else valuesOf.set(name, [value]);
  }
  const str1 = [...valuesOf.keys()]
    .sort(byCodeUnit)
    .map((name) => `${name}=${valuesOf.get(name)!.sort(byCodeUnit).join('&')}`)
    .join('&');
  const str3 =
    body.length === 0
      ? `${path}&${str1}`
      : `${path}&${str1}&${createHash('sha256').update(body).digest('hex').toUpperCase()}`;
  return percentEncode(str3);
}

/** Computes steps 8 and 9: base64 of the HMAC-SHA256 of the encoded string. */
export function signatureOf(encodedString: string, appSecret: string): string {
  return createHmac('sha256', `${appSecret}&`).update(encodedString, 'utf8').digest('base64');
}

/** Compares by code unit and never by locale: both ends must agree on the order under any language setting. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Text for each byte: itself for RFC 3986's unreserved characters, otherwise its escape. */
const escapes = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9\-._~]/.test(character)
    ? character
    : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

export function percentEncode(text: string): string {
  let encoded = '';
  for (const byte of Buffer.from(text, 'utf8')) encoded += escapes[byte];
  return encoded;
}
