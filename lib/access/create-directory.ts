/** Directory of rights over a store. It reads a record from the store at most once in 30 s. */

import type { OptionsOf } from '../kernel/options-of.ts';
import type { Directory, Grants, Standing, StandingQuestion } from './directory.ts';
import { type Identity, nameOfPrincipal } from './identity.ts';
import { createRecordCache } from './record-cache.ts';
import { type AccessRecord, keyOf, keyOfName, type PrincipalRecord } from './records.ts';
import type { AccessStore } from './store.ts';

export interface DirectoryWiring {
  readonly store: Pick<AccessStore, 'read'>;
  readonly identity: Identity;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
}

export type DirectoryOptions = OptionsOf<DirectoryWiring, 'store' | 'identity'> & {
  /** Size limit of the sealed records in memory. Default 4 MiB: some ten thousand users. */
  readonly maxCachedBytes?: number;
};

/**
 * Applies an operator's change within 30 s. While the store is unreachable, a record in memory is used until it is 60 s
 * old; after that `standing` rejects. For a principal without a record in memory it rejects at once.
 *
 * @example
 * const directory = createDirectory({ store: createMemoryAccessStore(), identity });
 * await directory.standing({ principal: { kind: 'key', id: 'a1b2c3' } }); // { kind: 'unknown', user: '…' }
 */
export function createDirectory({
  store,
  identity,
  clock = Date.now,
  maxCachedBytes = 4 * 1024 * 1024,
}: DirectoryOptions): Directory {
  const cache = createRecordCache({ store, identity, clock, maxBytes: maxCachedBytes });
  const { names } = identity;

  async function standsForKey(record: AccessRecord | undefined): Promise<string | undefined> {
    return record && 'principal' in record && record.standsFor ? keyOf(names, record.standsFor) : undefined;
  }

  return {
    async standing({ principal, token, besideKey }) {
      const [name, beside, ...tokenKeys] = await Promise.all([
        nameOfPrincipal(names, principal),
        besideKey === undefined ? undefined : keyOf(names, { kind: 'key', id: besideKey }),
        ...(token?.id === undefined ? [] : [keyOf(names, { kind: 'token', id: token.id })]),
        ...(token?.clientId === undefined ? [] : [keyOf(names, { kind: 'app', id: token.clientId })]),
      ]);
      const key = keyOfName('principal', name);
      // Reads the key's previous user along with the key, because the user seldom changes.
      const expectedKey = await standsForKey(cache.peek(key));
      const others = [beside, expectedKey].filter((one) => one !== undefined);
      const records = await cache.read([key, ...tokenKeys, ...others]);
      const record = principalOf(records.get(key));
      const userKey = await standsForKey(record);
      const found = userKey && userKey !== expectedKey ? await cache.read([userKey]) : records;
      return standingOf({
        user: userKey?.slice(keyOfName('principal', '').length) ?? name,
        record,
        owner: userKey ? principalOf(found.get(userKey)) : record,
        isTokenBlocked: tokenKeys.some((one) => records.has(one)),
        isKeyBlocked: beside !== undefined && principalOf(records.get(beside))?.blocked === true,
        token,
      });
    },
  };
}

const principalOf = (record: AccessRecord | undefined): PrincipalRecord | undefined =>
  record && 'principal' in record ? record : undefined;

interface PrincipalFacts {
  readonly user: string;
  readonly record: PrincipalRecord | undefined;
  /** Record whose grants count: the principal's own, or that of the user whom it stands for. */
  readonly owner: PrincipalRecord | undefined;
  readonly isTokenBlocked: boolean;
  readonly isKeyBlocked: boolean;
  readonly token: StandingQuestion['token'];
}

function standingOf({ user, record, owner, isTokenBlocked, isKeyBlocked, token }: PrincipalFacts): Standing {
  if (isKeyBlocked) return { kind: 'revoked', user, isKey: true };
  const isBlocked = record?.blocked || owner?.blocked;
  const isTooOld = token !== undefined && token.issuedAt < (record?.notBefore ?? 0);
  if (isBlocked || isTooOld || isTokenBlocked) return { kind: 'revoked', user };
  if (!owner || (owner.accounts.length === 0 && owner.userData.length === 0))
    return { kind: 'unknown', user };
  return { kind: 'granted', user, grants: grantsOf(owner) };
}

const grantsOf = ({ accounts, userData }: PrincipalRecord): Grants => ({
  accounts: new Map(accounts.map(([account, scopes]) => [account, new Set(scopes)])),
  userData: new Set(userData),
});
