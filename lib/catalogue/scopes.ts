/** Scopes that a user needs for operations. */

import { groups } from './groups.ts';
import type { Operation } from './operation.ts';

/** `read` allows reads, `trade` placing and changing orders, `write` changing other data of a user. */
export const scopes = ['read', 'trade', 'write'] as const;

export type Scope = (typeof scopes)[number];

/**
 * Returns the scope of an operation: the scope of its group if the operation changes something, else `read`.
 *
 * @example
 * scopeOf(placeOrder); // 'trade'
 */
export const scopeOf = ({ group, sideEffect }: Pick<Operation, 'group' | 'sideEffect'>): Scope => {
  const facts = groups[group];
  return sideEffect && 'changeScope' in facts ? facts.changeScope : 'read';
};
