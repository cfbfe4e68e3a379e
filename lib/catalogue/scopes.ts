/** What a user must have been granted for an operation. */

import { groups } from './groups.ts';
import type { Operation } from './operation.ts';

/** `read` looks, `trade` places and changes orders, `write` changes what else belongs to a user. */
export const scopes = ['read', 'trade', 'write'] as const;

export type Scope = (typeof scopes)[number];

/**
 * The scope of an operation: that of its group for requests that change something, or else `read`.
 *
 * @example
 * scopeOf(placeOrder); // 'trade'
 */
export const scopeOf = ({ group, sideEffect }: Pick<Operation, 'group' | 'sideEffect'>): Scope => {
  const facts = groups[group];
  return sideEffect && 'changeScope' in facts ? facts.changeScope : 'read';
};
