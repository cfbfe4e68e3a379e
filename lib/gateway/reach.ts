/** Step accounts: whether the sender of a request may use each account that the request names. */

import type { Operation } from '../catalogue/operation.ts';
import type { Scope } from '../catalogue/scopes.ts';
import { notSent, type Refusal } from '../problem.ts';

/** What the sender of a request may use, with the operation of that request. */
export type Reach =
  | typeof everything
  /** The accounts that have the scope; the others are there to tell why one is refused. */
  | { readonly scope: Scope; readonly accounts: ReadonlyMap<string, ReadonlySet<Scope>> };

/** All accounts, and what belongs to none. */
export const everything = { scope: 'every' } as const;

/** What the sender may use now, for what lasts longer than a request. */
export type ReachNow = () => Promise<Reach | Refusal>;

export const isReached = (reach: Reach, account: string): boolean =>
  reach.scope === 'every' || (reach.accounts.get(account)?.has(reach.scope) ?? false);

/** Why the request is refused; undefined when it may go on. */
export function refuseAccounts(
  { accounts: places }: Operation,
  named: readonly string[],
  reach: Reach,
): Refusal | undefined {
  if (reach.scope === 'every') return undefined;
  const refused = named.filter((account) => !isReached(reach, account));
  // An upstream that is told no account might choose one.
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
