/**
 * The snapshot cache of the account that the secret names. When the secret names another account, its requests start
 * with an empty cache. Requests under way finish with the old account; if the upstream refuses the old key, they start
 * again with the new account.
 */

import { snapshotPartition } from '../cache/snapshots/index.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { AdmittedRequest, CacheOptions, CacheParts } from './cache-options.ts';
import type { CachedSnapshotsOptions } from './cached-snapshots.ts';
import { accountOf } from './credential.ts';
import type { Credential, CredentialResult } from './credentials.ts';
import { type Outcome, refused } from './outcome.ts';

export interface SnapshotsByAccount {
  ask(read: AdmittedRequest): Promise<Outcome>;
}

/** Answers reads of one account. */
export interface AccountSnapshots {
  ask(read: Pick<AdmittedRequest, 'request' | 'valid' | 'reachNow'>): Promise<Outcome>;
}

interface AccountSnapshotsByName {
  readonly name: string;
  readonly snapshots: AccountSnapshots;
  /** Resolves to the answer, or to undefined when the upstream has come to accept only another account's key. */
  unlessReplaced<T>(answer: Promise<T>): Promise<T | undefined>;
}

/** Most restarts of one request: the secret's current and previous version may alternate, but less often than this. */
const maxChanges = 3;

/**
 * @param operation the operation whose records callers share by symbol
 * @param create creates the cache of one account
 */
export function createSnapshotsByAccount(
  operation: Operation,
  options: Pick<CacheOptions, 'snapshots' | 'streamed' | 'directory' | 'tuning'>,
  parts: Pick<CacheParts, 'credentials'>,
  create: (own: CachedSnapshotsOptions) => AccountSnapshots,
): SnapshotsByAccount {
  let latest: AccountSnapshotsByName | undefined;

  function open(name: string, credential: Credential): AccountSnapshotsByName {
    let isReplaced = false;
    /** Ends the waits of requests under way. One promise that all race against would keep every answer in memory. */
    const waiting = new Set<() => void>();
    const onReplaced = () => {
      if (latest === account) latest = undefined;
      isReplaced = true;
      for (const leave of waiting) leave();
      waiting.clear();
    };
    function unlessReplaced<T>(answer: Promise<T>): Promise<T | undefined> {
      if (isReplaced) return Promise.resolve(undefined);
      return new Promise((resolve, reject) => {
        const leave = () => resolve(undefined);
        waiting.add(leave);
        answer.then(resolve, reject).finally(() => waiting.delete(leave));
      });
    }
    const { snapshots: storeOf, streamed: logOf, ...shared } = options;
    const partition = snapshotPartition(name, operation);
    const streamed = logOf?.(partition);
    const own = {
      ...shared,
      store: storeOf(partition),
      ...(streamed && { streamed }),
      credential,
      onReplaced,
    };
    const account: AccountSnapshotsByName = { name, snapshots: create(own), unlessReplaced };
    return account;
  }

  async function accountFor(credential: Credential): Promise<AccountSnapshotsByName> {
    const name = await accountOf(credential);
    if (latest?.name !== name) latest = open(name, credential);
    return latest;
  }

  return {
    async ask({ request, valid, credential, reachNow }) {
      let current: CredentialResult = { ok: true, credential };
      for (let changes = 0; current.ok; changes++) {
        const { snapshots, unlessReplaced } = await accountFor(current.credential);
        const answer = snapshots.ask({ request, valid, reachNow });
        const outcome = await (changes < maxChanges ? unlessReplaced(answer) : answer);
        if (outcome) return outcome;
        current = await parts.credentials.forRead();
      }
      return refused({ code: current.code });
    },
  };
}
