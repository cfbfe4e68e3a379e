/** Access tokens: whose are accepted, what their claims mean here, and which settings are missing or weak. */

import * as v from 'valibot';
import { type AuthSettings, authSettingsFaults } from '../../lib/access/auth-settings.ts';
import { type Scope, scopes } from '../../lib/catalogue/scopes.ts';
import type { Mistakes } from '../mistakes.ts';
import { reservation } from './schema-parts.ts';

/**
 * An OpenID Connect issuer. `audience`, `clientIds` or both: a token that was issued for another app must not open this
 * one. Without `accountsClaim`, operators grant accounts by `countersign users`.
 *
 * @example
 * // Cognito, whose access tokens name the app and no audience.
 * auth: { issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Ab1', clientIds: ['4f9…'] }
 */
export interface AuthConfig extends Omit<AuthSettings, 'scopes' | 'algorithms'> {
  /** What a token’s scopes must contain for each of ours, any one of the list. Default the scope’s own name. */
  readonly scopes?: Readonly<Partial<Record<Scope, string | readonly string[]>>>;
  /**
   * Instances of the authorizer, kept free for it, which are also its maximum and bound what wrong tokens cost. Default
   * 10, or `none` with `functions.reservedConcurrency: 'none'`.
   */
  readonly reservedConcurrency?: number | 'none';
}

const text = v.string('takes a text');
const texts = v.array(text, 'takes a list of texts');

/** The lists of a union’s parts have two faults each; chosen by what is given there is one. */
const oneOrMore = v.pipe(
  v.lazy((given) => (Array.isArray(given) ? texts : text)),
  v.transform((given): readonly string[] => (typeof given === 'string' ? [given] : given)),
);

/** `authSettingsFaults` has the rest, for functions as well. */
export const authSchema = v.strictObject({
  issuer: text,
  audience: v.optional(oneOrMore),
  clientIds: v.optional(texts),
  scopes: v.optional(
    v.strictObject(Object.fromEntries(scopes.map((scope) => [scope, v.optional(oneOrMore)]))),
  ),
  accountsClaim: v.optional(text),
  jwksUri: v.optional(text),
  reservedConcurrency: v.optional(reservation),
});

/**
 * Each instance takes ten requests a second, so these verify a hundred new tokens a second: six thousand users who are
 * all active within one minute, as a result is kept for 60 s.
 */
const usualReserved = 10;

/**
 * @param context what else decides: the modes of groups, and whether this is for an emulator
 * @param mistakes takes settings that are missing, or that would let foreign tokens in
 */
export function resolveAuth(
  given: v.InferOutput<typeof authSchema> | undefined,
  {
    access,
    allowLoopback,
    reservesNone,
  }: {
    readonly access: Readonly<Record<string, string>>;
    readonly allowLoopback: boolean;
    readonly reservesNone: boolean;
  },
  mistakes: Mistakes,
): { readonly auth?: AuthSettings; readonly authorizerConcurrency?: number } {
  const withToken = Object.keys(access).find((group) => access[group] === 'jwt');
  if (!given) {
    if (withToken)
      mistakes.add(
        `groups.${withToken} opens with jwt, so auth must say whose access tokens are accepted: auth: { issuer, audience or clientIds }.`,
      );
    return {};
  }
  const before = mistakes.count;
  const { reservedConcurrency, ...auth } = given;
  if (!Object.values(access).some((mode) => mode === 'jwt' || mode === 'bound-key'))
    mistakes.add('auth is of no use: no group opens with jwt or bound-key.');
  if (!auth.audience && !auth.clientIds)
    mistakes.add(
      'auth must have audience, clientIds or both: without them a token that the issuer gave to another app would be accepted.',
    );
  for (const name of ['issuer', 'jwksUri'] as const)
    if (!allowLoopback && auth[name]?.startsWith('http:'))
      mistakes.add(
        `auth.${name} cannot be used: use https; http on loopback is for emulators, with upstream.allowLoopback.`,
      );
  // They name again what is missing, in other words.
  if (mistakes.count === before)
    mistakes.add(...authSettingsFaults(present(auth)).map((fault) => `auth cannot be used: ${fault}.`));
  const usual = reservesNone ? 'none' : usualReserved;
  const count = reservedConcurrency ?? usual;
  return {
    auth: present(auth),
    ...(withToken && count !== 'none' && { authorizerConcurrency: count }),
  };
}

/** Without members that are undefined: JSON and the compiler tell them from absent ones. */
const present = (auth: object): AuthSettings => JSON.parse(JSON.stringify(auth)) as AuthSettings;
