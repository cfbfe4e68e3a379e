/** What a deployer may configure of access tokens: whose are accepted, and what their claims mean here. */

import * as v from 'valibot';
import type { AuthSettings } from '../../lib/access/auth-settings.ts';
import { type Scope, scopes } from '../../lib/catalogue/scopes.ts';
import { whole } from './schema-parts.ts';

/**
 * An OpenID Connect issuer. `audience`, `clientIds` or both: a token that was issued for another app must not open this
 * one.
 *
 * @example
 * // Cognito, whose access tokens name the app and no audience.
 * auth: { issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Ab1', clientIds: ['4f9…'] }
 */
export interface AuthConfig {
  /** The claim `iss` of its tokens, to the letter: an `https:` URL without query and fragment. */
  readonly issuer: string;
  /** Of the claim `aud`, any one of the list. */
  readonly audience?: string | readonly string[];
  /** Of the claim `client_id` or `azp`: the apps whose tokens are accepted. Default any app of the audience. */
  readonly clientIds?: readonly string[];
  /** What a token’s scopes must contain for each of ours, any one of the list. Default the scope’s own name. */
  readonly scopes?: Readonly<Partial<Record<Scope, string | readonly string[]>>>;
  /** The claim that lists the accounts of a user. Default none: operators grant accounts by `npm run users`. */
  readonly accountsClaim?: string;
  /** Where the issuer’s keys are. Default the `jwks_uri` of its discovery document. */
  readonly jwksUri?: string;
  /**
   * Instances of the authorizer, kept free for it, which are also its maximum and bound what wrong tokens cost. Default
   * 10, or `none` with `functions.reservedConcurrency: 'none'`.
   */
  readonly reservedConcurrency?: number | 'none';
}

/** As functions read them; none of it is secret. */
export type ResolvedAuth = AuthSettings;

const text = v.pipe(
  v.string('takes a text'),
  v.regex(/^[!-~]{1,256}$/, 'takes 1 to 256 visible ASCII characters'),
);

const texts = v.pipe(
  v.array(text, 'takes a list of texts'),
  v.minLength(1, 'takes at least one'),
  v.maxLength(20, 'takes 20 at most'),
);

/** The lists of a union’s parts have two faults each; chosen by what is given there is one. */
const oneOrMore = v.pipe(
  v.lazy((given) => (Array.isArray(given) ? texts : text)),
  v.transform((given): readonly string[] => (typeof given === 'string' ? [given] : given)),
);

const urlFault = 'takes an https URL without credentials, query and fragment';
const url = v.pipe(v.string(urlFault), v.check(isPlainUrl, urlFault), v.maxLength(512, urlFault));

/** `http:` on loopback passes here, and is refused below unless it is for an emulator. */
function isPlainUrl(given: string): boolean {
  if (!URL.canParse(given) || /[?#\s]/.test(given)) return false;
  const { protocol, username, password } = new URL(given);
  return username === '' && password === '' && (protocol === 'https:' || isLoopback(given));
}

const isLoopback = (given: string) => {
  const { protocol, hostname } = new URL(given);
  return protocol === 'http:' && (hostname === '127.0.0.1' || hostname === '[::1]');
};

const reserved = v.lazy((given) =>
  typeof given === 'number'
    ? whole(1, 1000)
    : v.literal('none', 'takes a whole number from 1 to 1000, or none'),
);

export const authSchema = v.strictObject({
  issuer: url,
  audience: v.optional(oneOrMore),
  clientIds: v.optional(texts),
  scopes: v.optional(
    v.strictObject(Object.fromEntries(scopes.map((scope) => [scope, v.optional(oneOrMore)]))),
  ),
  accountsClaim: v.optional(text),
  jwksUri: v.optional(url),
  reservedConcurrency: v.optional(reserved),
});
