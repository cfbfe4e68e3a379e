/** Query parameters that no source names: which of them an operation with `anyQuery` takes. */

import { looksLikeAccount } from './account-places.ts';

/** As they are sent, all of them together stay below 8 kB: the longest request line that common servers take. */
export const maxFreeParameters = 20;
export const maxFreeName = 64;
export const maxFreeValue = 256;

/**
 * The signature merges parameters and signing headers into one list of names and values: a request with a parameter
 * of a header's name signs like another one, whose header has the parameter's value.
 */
const reserved = /^(host|x-(app-key|timestamp|version|access-token|signature(-.*)?))$/is;

/**
 * The account stands in the body: another one beside it could be the one that the upstream takes. A server may decode a
 * name more than once.
 */
const namesAccount = (name: string): boolean => decodings(name).some(looksLikeAccount);

/** The name as it is, and as servers may read it. */
export function decodings(name: string): readonly string[] {
  const decoded = name.replace(/%([0-7][\da-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return decoded === name ? [name] : [name, ...decodings(decoded)];
}

const sentLength = (text: string) => encodeURIComponent(text).length;

/**
 * Why the parameter is not taken.
 *
 * @param isRepeated whether the name comes more than once: the signature joins its values with `&`, so that one with
 * a `=` in it would sign like a parameter of another name, a reserved one among them
 */
export function freeParameterFault(
  name: string,
  value: string,
  isRepeated = false,
): 'nameless' | 'reserved' | 'account' | 'too-long' | 'ambiguous' | undefined {
  // Servers leave such a parameter out: what they verify is not what was signed.
  if (name === '') return 'nameless';
  if (reserved.test(name)) return 'reserved';
  if (sentLength(name) > maxFreeName || sentLength(value) > maxFreeValue) return 'too-long';
  if (namesAccount(name)) return 'account';
  return isRepeated && value.includes('=') ? 'ambiguous' : undefined;
}
