/** Which operations a gateway offers. */

import { type Group, groups } from './groups.ts';
import type { Operation } from './operation.ts';

/** The groups that are open by default. */
export const openByDefault: readonly Group[] = groupsThat((exposure) => exposure === 'open');

/** The groups that a deployer can open at all. */
export const openable: readonly Group[] = groupsThat((exposure) => exposure !== 'never');

/**
 * The operations of the opened groups, without the groups that no deployer can open.
 *
 * @example
 * const offered = exposedOperations(operations, [...openByDefault, 'accounts']);
 */
export function exposedOperations(
  operations: readonly Operation[],
  open: readonly Group[],
): readonly Operation[] {
  return operations.filter(({ group }) => openable.includes(group) && open.includes(group));
}

function groupsThat(matches: (exposure: (typeof groups)[Group]['exposure']) => boolean): readonly Group[] {
  return (Object.keys(groups) as Group[]).filter((group) => matches(groups[group].exposure));
}
