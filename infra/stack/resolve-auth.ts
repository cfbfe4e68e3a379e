/** The settings of access tokens as functions read them; what is missing or weak is refused. */

import type * as v from 'valibot';
import { authSettingsFaults } from '../../lib/access/auth-settings.ts';
import type { Mistakes } from '../mistakes.ts';
import type { authSchema, ResolvedAuth } from './auth-config.ts';

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
): { readonly auth?: ResolvedAuth; readonly authorizerConcurrency?: number } {
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
const present = (auth: object): ResolvedAuth => JSON.parse(JSON.stringify(auth)) as ResolvedAuth;
