/** Checks query parameters that no source names: an operation with `anyQuery` accepts some of them. */

import { looksLikeAccount } from './account-places.ts';

/** Limits of number and percent-encoded length: together below 8 kB, the longest request line that common servers accept. */
export const maxFreeParameters = 20;
export const maxFreeName = 64;
export const maxFreeValue = 256;

/**
 * Names of signing headers. The signature merges parameters and signing headers into one list of names and values: a
 * request with a parameter of such a name has the signature of another request, whose header has the parameter's value.
 */
const reservedName = /^(host|x-(app-key|timestamp|version|access-token|signature(-.*)?))$/is;

/**
 * Whether a parameter may be read as an account. The account stands in the body, and the upstream could use the one in the
 * query instead. A server may decode a name more than once.
 */
const namesAccount = (name: string): boolean => decodings(name).some(looksLikeAccount);

/** Lists the name, and each form to which servers may decode it. */
export function decodings(name: string): readonly string[] {
  const decoded = name.replace(/%([0-7][\da-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return decoded === name ? [name] : [name, ...decodings(decoded)];
}

const sentLength = (text: string) => encodeURIComponent(text).length;

/**
 * Tells why a parameter is refused; undefined if it is accepted.
 *
 * @param isRepeated whether the name comes more than once: the signature joins its values with `&`, so that a value with
 * a `=` would have the signature of a parameter of another name, perhaps a reserved one
 */
export function freeParameterFault(
  name: string,
  value: string,
  isRepeated = false,
): 'nameless' | 'reserved' | 'account' | 'too-long' | 'ambiguous' | undefined {
  // Servers drop a parameter without a name, and then verify another text than the signed one.
  if (name === '') return 'nameless';
  if (reservedName.test(name)) return 'reserved';
  if (sentLength(name) > maxFreeName || sentLength(value) > maxFreeValue) return 'too-long';
  if (namesAccount(name)) return 'account';
  return isRepeated && value.includes('=') ? 'ambiguous' : undefined;
}
