/** Port: verifies bearer tokens. */

import type { TokenClaims } from './evidence.ts';

export interface TokenVerifier {
  /** Never rejects. @param token the text after `Bearer ` */
  verify(token: string): Promise<TokenVerification>;
}

export type TokenVerification =
  | { readonly ok: true; readonly claims: TokenClaims }
  | { readonly ok: false; readonly fault: TokenFault };

/** Reason why a token is not accepted; stable, because refusals and logs carry it. */
export type TokenFault = keyof typeof tokenFaults;

/**
 * Sentences for the client, by fault. None repeats any part of the token. They have only characters that
 * `error_description` of a header WWW-Authenticate may have (RFC 6750, 3).
 */
export const tokenFaults = {
  missing: 'The header Authorization with a bearer token is missing.',
  malformed: 'The token is no signed JSON Web Token.',
  too_large: 'The token is larger than 8 kB.',
  wrong_scheme: 'The header Authorization is not the word Bearer, a space and a token.',
  several_tokens: 'The request has several headers Authorization.',
  wrong_algorithm: 'The token is signed by an algorithm that is not accepted here.',
  unknown_extension: 'The header of the token wants an extension that is not supported here.',
  unknown_key: 'The issuer has no key with the key id of the token; get a new token.',
  wrong_signature: 'The signature of the token is wrong.',
  wrong_issuer: 'The token is of another issuer.',
  wrong_audience: 'The token is not for the audience of this API.',
  wrong_client: 'The token was given to an app that is not accepted here.',
  not_an_access_token: 'The token is no access token.',
  sender_constrained: 'The token is bound to a key of its holder, which is not checked here.',
  expired: 'The token has expired; get a new one.',
  not_yet_valid: 'The token is not valid yet.',
  incomplete: 'The token lacks one of the claims sub, exp and iat.',
  wrong_claim: 'A claim of the token is not of its form.',
  revoked: 'The token, its user or its app was revoked.',
  /** Not the client's fault: answered with 503. */
  issuer_unavailable: 'The keys of the issuer cannot be read now.',
} as const satisfies Record<string, string>;

/**
 * Reads the token in a request's Authorization header.
 *
 * @param values values of every Authorization header of the request
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
  // A space or comma in the token may come from two headers that the platform has joined in one line.
  return { ok: false, fault: /^bearer /i.test(value) ? 'malformed' : 'wrong_scheme' };
}
