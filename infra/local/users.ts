/** Users of a local run, their rights, and the API key that stands for the first of them. */

import { createAccessAdmin } from '../../lib/access/admin.ts';
import type { Identity } from '../../lib/access/identity.ts';
import type { AccessStore } from '../../lib/access/store.ts';
import { scopes } from '../../lib/catalogue/scopes.ts';

export interface LocalUser {
  readonly name: string;
  /** Account ids; `*` stands for every account of the app key. */
  readonly accounts: readonly string[];
}

interface UserGrants {
  readonly users: readonly LocalUser[];
  /** Id of the key that stands for the first user. */
  readonly apiKeyId: string;
  readonly issuer: string;
  /** Identity of the run, made with its identity key. */
  readonly identity: Identity;
}

const userNames = ['ada', 'ben'];

/** Makes a user for each known account. Accounts at another upstream are unknown: then the first user has them all. */
export const usersOf = (
  accounts: readonly { readonly account_id: string }[] | undefined,
): readonly LocalUser[] =>
  userNames.flatMap((name, index) => {
    const account = accounts ? accounts[index]?.account_id : index === 0 && '*';
    return account ? [{ name, accounts: [account] }] : [];
  });

/**
 * Grants what an operator would grant with `countersign users`.
 *
 * @example
 * const users = [{ name: 'ada', accounts: ['*'] }];
 * await grantUsers(platform.access('access'), { users, apiKeyId: 'local', issuer, identity });
 */
export async function grantUsers(
  store: AccessStore,
  { users, apiKeyId, issuer, identity }: UserGrants,
): Promise<void> {
  const admin = createAccessAdmin({ store, identity, by: 'local run' });
  for (const [index, { name, accounts }] of users.entries()) {
    const isFirst = index === 0;
    const user = { kind: 'user', issuer, subject: name } as const;
    await admin.apply({ action: 'grant', subject: user, accounts, userData: isFirst, scopes });
    if (isFirst) await admin.apply({ action: 'bind', subject: { kind: 'key', id: apiKeyId }, user });
  }
}
