/** The token in a request's Authorization header. */

import type { TokenFault } from './verifier.ts';

/**
 * @param values of every Authorization header of the request
 *
 * @example
 * bearerToken(['Bearer abc']); // { ok: true, token: 'abc' }
 * bearerToken(['Basic abc']); // { ok: false, fault: 'wrong_scheme' }
 */
export function bearerToken(
  values: readonly string[],
): { readonly ok: true; readonly token: string } | { readonly ok: false; readonly fault: TokenFault } {
  const [value] = values;
  if (value === undefined) return { ok: false, fault: 'missing' };
  if (values.length > 1) return { ok: false, fault: 'several_tokens' };
  // RFC 9110, 11.4: the scheme is read without regard to case, and spaces follow it.
  const [, token] = /^bearer +(\S+)$/i.exec(value) ?? [];
  if (token !== undefined) return { ok: true, token };
  if (/^bearer *$/i.test(value)) return { ok: false, fault: 'missing' };
  // Two headers in one line, as some platforms join them; a token has neither space nor comma.
  return { ok: false, fault: /^bearer /i.test(value) ? 'malformed' : 'wrong_scheme' };
}
