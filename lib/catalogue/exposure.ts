/** Which operations a gateway offers. */

import { type Exposure, type Group, groups } from './groups.ts';
import type { Operation } from './operation.ts';

/** The groups that are open by default. */
export const openByDefault: readonly Group[] = groupsThat('open');

/** The groups that a deployer can open at all; public ones are there in any case. */
export const openable: readonly Group[] = groupsThat('open', 'closed');

/** The groups that every gateway answers, without a key. */
export const publicGroups: readonly Group[] = groupsThat('public');

/**
 * The operations of the opened groups, without the groups that no deployer can open, and those that every gateway
 * answers.
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
