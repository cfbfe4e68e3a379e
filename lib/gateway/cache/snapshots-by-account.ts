/**
 * Quotes of the account that the secret names. When it names another, requests for that one begin with nothing of the
 * old one's; those that are under way end with the old one, unless its key is refused: then they begin anew, too.
 */

import { snapshotPartition } from '../../cache/snapshots/index.ts';
import type { Operation } from '../../catalogue/operation.ts';
import type { Refusal } from '../../problem.ts';
import type { RequestContext } from '../context.ts';
import type { Credential, CredentialResult } from '../credentials.ts';
import type { GatewayRequest, GatewayResponse } from '../http.ts';
import type { ValidRequest } from '../validate.ts';
import { accountOf } from './account.ts';
import type { CacheOptions, CacheParts } from './ports.ts';
import { type CachedSnapshots, createCachedSnapshots } from './snapshots.ts';

export interface SnapshotsByAccount {
  answer(
    request: GatewayRequest,
    checked: ValidRequest,
    identity: Credential,
    trail: RequestContext,
  ): Promise<GatewayResponse | Refusal>;
}

interface Account {
  readonly name: string;
  readonly quotes: CachedSnapshots;
  /** The answer, or undefined when the upstream has taken another account's key in place of this one's meanwhile. */
  unlessLeft<T>(answer: Promise<T>): Promise<T | undefined>;
}

/** The secret's current version and the previous one may take turns; this is more often than they do. */
const mostMoves = 3;

/** @param operation whose records are shared by symbol */
export function createSnapshotsByAccount(
  operation: Operation,
  options: Pick<CacheOptions, 'snapshots' | 'directory' | 'figures'>,
  parts: CacheParts,
): SnapshotsByAccount {
  let latest: Account | undefined;

  function open(name: string, identity: Credential): Account {
    let hasLeft = false;
    /** Of requests under way. A promise that all of them raced against would keep what each was answered. */
    const leaving = new Set<() => void>();
    const onLeft = () => {
      if (latest === account) latest = undefined;
      hasLeft = true;
      for (const leave of leaving) leave();
      leaving.clear();
    };
    function unlessLeft<T>(answer: Promise<T>): Promise<T | undefined> {
      if (hasLeft) return Promise.resolve(undefined);
      return new Promise((resolve, reject) => {
        const leave = () => resolve(undefined);
        leaving.add(leave);
        answer.then(resolve, reject).finally(() => leaving.delete(leave));
      });
    }
    const { snapshots: storeOf, ...shared } = options;
    const own = { ...shared, store: storeOf(snapshotPartition(name, operation.id)), identity, onLeft };
    const account: Account = { name, quotes: createCachedSnapshots(operation, own, parts), unlessLeft };
    return account;
  }

  async function accountFor(identity: Credential): Promise<Account> {
    const name = await accountOf(identity);
    if (latest?.name !== name) latest = open(name, identity);
    return latest;
  }

  return {
    async answer(request, checked, identity, trail) {
      let current: CredentialResult = { ok: true, identity };
      for (let moves = 0; current.ok; moves++) {
        const { quotes, unlessLeft } = await accountFor(current.identity);
        const answer = quotes.answer(request, checked, trail);
        const given = await (moves < mostMoves ? unlessLeft(answer) : answer);
        if (given) return given;
        current = await parts.credentials.forRead();
      }
      return { code: current.code };
    },
  };
}
