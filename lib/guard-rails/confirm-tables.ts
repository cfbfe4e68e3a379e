/** An operator takes tables that were restored as they are: what they lack, no evidence shows. */

import type { ControlAdmin } from './admin.ts';
import {
  type CheckpointStore,
  type CheckpointTable,
  nextCheckpoint,
  type TableNames,
} from './checkpoints.ts';
import { ControlChangeError } from './control-changes.ts';

export interface ConfirmParts {
  readonly admin: Pick<ControlAdmin, 'apply'>;
  readonly checkpoints: CheckpointStore;
  readonly tables: TableNames;
  readonly clock: () => number;
}

/**
 * The history has it first: who, when and why.
 *
 * @throws ControlChangeError without a reason, and where the settlement wrote a checkpoint at the same moment each time
 */
export async function confirmTables(
  { admin, checkpoints, tables, clock }: ConfirmParts,
  taken: readonly CheckpointTable[],
  reason: string,
): Promise<void> {
  await admin.apply({ action: 'confirm', subject: { kind: 'gateway' }, tables: taken, reason });
  for (let left = 3; left > 0; left--) if (await nextCheckpoint(checkpoints, tables, clock(), taken)) return;
  throw new ControlChangeError('changed_by_others', 'other checkpoints were written each time');
}
