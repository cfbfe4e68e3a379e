/** The step `accounts`: checks that the sender of a request may use each account that the request names. */

import type { Operation } from '../catalogue/operation.ts';
import type { Scope } from '../catalogue/scopes.ts';
import { notSent, type Refusal } from '../problem.ts';

/** The accounts that the sender of a request may use with the request's operation. */
export type Reach =
  | typeof everything
  /** Granted accounts with their scopes. Accounts without `scope` are included to explain why one is refused. */
  | { readonly scope: Scope; readonly accounts: ReadonlyMap<string, ReadonlySet<Scope>> };

/** Reach of all accounts and of data that belongs to none. */
export const everything = { scope: 'every' } as const;

/** Asks again what the sender may use, for streams, which last longer than a request. */
export type ReachNow = () => Promise<Reach | Refusal>;

export const isReached = (reach: Reach, account: string): boolean =>
  reach.scope === 'every' || (reach.accounts.get(account)?.has(reach.scope) ?? false);

/** The refusal of accounts that the sender may not use; undefined when the request may go on. */
export function refuseAccounts(
  { accounts: places }: Operation,
  named: readonly string[],
  reach: Reach,
): Refusal | undefined {
  if (reach.scope === 'every') return undefined;
  const refused = named.filter((account) => !isReached(reach, account));
  // Without an account in the request, the upstream might choose one.
  const lacksOne = named.length === 0 && (places?.query || places?.body);
  if (refused.length === 0 && !lacksOne) return undefined;
  const hasOtherScope = (account: string) => reach.accounts.has(account) || reach.accounts.has('*');
  if (refused.length > 0 && refused.every(hasOtherScope))
    return {
      code: 'insufficient_scope',
      detail: `The caller has not been granted the scope ${reach.scope} for this account. ${notSent}`,
    };
  return { code: 'account_not_granted' };
}
