/** What one account's subscriptions let it see is not for another, which the secret may name tomorrow. */

import { limiterKey } from '../../limiter/index.ts';
import type { Credential } from '../credentials.ts';

const names = new WeakMap<Credential, Promise<string>>();

/** The account's name in stores; the app key cannot be read from it. */
export function accountOf(identity: Credential): Promise<string> {
  const name = names.get(identity) ?? limiterKey('account', identity.appKey);
  names.set(identity, name);
  return name;
}
