/** What a gateway needs to tell users apart. */

import type { Directory, KeyedNames } from '../access/directory.ts';
import type { TokenVerifier } from '../access/verifier.ts';
import { type Group, isAccountData } from '../catalogue/groups.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { Scope } from '../catalogue/scopes.ts';

export interface AccessOptions {
  readonly directory: Directory;
  readonly names: KeyedNames;
  /** Verifies bearer tokens that no authorizer in front has verified. Default: such tokens count as missing. */
  readonly verifier?: TokenVerifier;
  /** What a token's scopes must contain for each of ours, any one of the list. Default the scope's own name. */
  readonly tokenScopes?: Readonly<Partial<Record<Scope, readonly string[]>>>;
  /** Groups of market facts that need a user all the same. Groups of account data always do. */
  readonly userGroups?: readonly Group[];
}

/** Why a gateway must not serve the operations so; undefined where it may. */
export function accessFault(
  access: AccessOptions | 'single-user' | undefined,
  operations: readonly Operation[],
): string | undefined {
  const ofAccount = operations.find(({ group }) => isAccountData(group));
  if (access !== undefined || !ofAccount) return undefined;
  return `${ofAccount.id} belongs to an account: say who may use it, or single-user where every caller is the holder of the app key`;
}
