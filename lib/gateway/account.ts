/** Cached data belongs to one account at the upstream: another one, which the secret may name later, must not see it. */

import { limiterKey } from '../limiter/store.ts';
import type { Credential } from './credentials.ts';

const names = new WeakMap<Credential, Promise<string>>();

/** The account's name in stores; it does not reveal the app key. */
export function accountOf(credential: Credential): Promise<string> {
  const name = names.get(credential) ?? limiterKey('account', credential.appKey);
  names.set(credential, name);
  return name;
}
