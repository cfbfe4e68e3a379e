/** Decides which operations a gateway offers. */

import { type Exposure, type Group, groups } from './groups.ts';
import type { Operation } from './operation.ts';

/** Groups that are open by default. */
export const openByDefault: readonly Group[] = groupsThat('open');

/** Groups that a deployer can open; public groups are offered in any case. */
export const openable: readonly Group[] = groupsThat('open', 'closed');

/** Groups that every gateway answers, without a key. */
const publicGroups: readonly Group[] = groupsThat('public');

/**
 * Selects the operations of the opened groups and of the public groups. A group that no deployer can open is left out.
 *
 * @example
 * const offered = exposedOperations(operations, [...openByDefault, 'accounts']);
 */
export function exposedOperations(
  operations: readonly Operation[],
  open: readonly Group[],
): readonly Operation[] {
  return operations.filter(
    ({ group }) => publicGroups.includes(group) || (openable.includes(group) && open.includes(group)),
  );
}

function groupsThat(...exposures: readonly Exposure[]): readonly Group[] {
  return (Object.keys(groups) as Group[]).filter((group) => exposures.includes(groups[group].exposure));
}
