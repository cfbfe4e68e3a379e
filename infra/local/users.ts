/** Who may do what in a local run: its users, their tokens, and the API key that stands for the first of them. */

import { createAccessAdmin } from '../../lib/access/admin.ts';
import { createDirectory } from '../../lib/access/create-directory.ts';
import { createTokenVerifier } from '../../lib/access/create-token-verifier.ts';
import type { Identity } from '../../lib/access/identity.ts';
import { createMemoryAccessStore } from '../../lib/access/store.ts';
import type { TokenVerifier } from '../../lib/access/verifier.ts';
import { scopes } from '../../lib/catalogue/scopes.ts';
import type { AccessOptions } from '../../lib/gateway/access-options.ts';
import { audience } from './issuer.ts';

export interface LocalUser {
  readonly name: string;
  /** Their ids; `*` stands for every account of the app key. */
  readonly accounts: readonly string[];
}

export interface LocalAccessOptions {
  readonly users: readonly LocalUser[];
  /** Of the key that stands for the first user. */
  readonly apiKeyId: string;
  /** The issuer's name, which is known when the run listens: asked for at the first request that needs a user. */
  readonly issuer: () => string;
  /** Of the run's identity key. */
  readonly identity: Identity;
}

const names = ['ada', 'ben'];

/** One for each account that is known. Another upstream's are not: then the holder of its app key has them all. */
export const usersOf = (
  accounts: readonly { readonly account_id: string }[] | undefined,
): readonly LocalUser[] =>
  names.flatMap((name, index) => {
    const account = accounts ? accounts[index]?.account_id : index === 0 && '*';
    return account ? [{ name, accounts: [account] }] : [];
  });

/**
 * As an operator would grant it with `npm run users`, in memory.
 *
 * @example
 * const users = [{ name: 'ada', accounts: ['*'] }];
 * const access = createLocalAccess({ users, apiKeyId: 'local', issuer, identity });
 */
export function createLocalAccess({ users, apiKeyId, issuer, identity }: LocalAccessOptions): AccessOptions {
  const store = createMemoryAccessStore();
  const directory = createDirectory({ store, identity });
  let granting: Promise<void> | undefined;
  let verifier: TokenVerifier | undefined;

  async function grantAll(): Promise<void> {
    const admin = createAccessAdmin({ store, identity, by: 'local run' });
    for (const [index, { name, accounts }] of users.entries()) {
      const isFirst = index === 0;
      const user = { kind: 'user', issuer: issuer(), subject: name } as const;
      await admin.apply({ action: 'grant', subject: user, accounts, userData: isFirst, scopes });
      if (isFirst) await admin.apply({ action: 'bind', subject: { kind: 'key', id: apiKeyId }, user });
    }
  }

  return {
    names: identity.names,
    directory: {
      async standing(question) {
        granting ??= grantAll();
        await granting;
        return directory.standing(question);
      },
    },
    verifier: {
      verify(token) {
        verifier ??= createTokenVerifier({ issuer: issuer(), audience });
        return verifier.verify(token);
      },
    },
  };
}
