/** What one account's subscriptions let it see is not for another, which the secret may name tomorrow. */

import { budgetKey } from '../budget/key.ts';
import type { Identity } from '../credentials.ts';

const names = new WeakMap<Identity, Promise<string>>();

/** The account's name in stores; the app key cannot be read from it. */
export function accountOf(identity: Identity): Promise<string> {
  const name = names.get(identity) ?? budgetKey('account', identity.appKey);
  names.set(identity, name);
  return name;
}
