/**
 * Reads the operators' trading controls from DynamoDB: one item for each scope, in a table whose key is two texts named
 * `pk` and `sk`. A function needs BatchGetItem on the table. The operator's side is in `dynamo-control-admin.ts`, so that no
 * function has it in its bundle.
 */

import { restoredTables, type TableNames } from '../../lib/guard-rails/checkpoints.ts';
import { type ControlEntry, controlOf } from '../../lib/guard-rails/control-admin-store.ts';
import { type ControlStore, restoredControl, restoredScope } from '../../lib/guard-rails/controls.ts';
import { areLimits, readLimitChanges } from '../../lib/guard-rails/limits.ts';
import { checkpointKeys, checkpointsIn } from './dynamo-checkpoints.ts';
import { type StoreOptions, withLimit } from './dynamo-client.ts';
import { batchGetOf, type Item, type Values } from './dynamo-items.ts';

export interface DynamoControlsOptions extends StoreOptions {
  /** Other tables with checkpoints, whose restore also closes orders. Default none: restores are not detected. */
  readonly others?: TableNames;
}

/** The sort key of a scope's item. */
export const controlKey = 'control';

export const keyOf = (key: string) => ({ pk: key, sk: controlKey });

/** @example const controls = createDynamoControls({ client, tableName }); await controls.read(['stack']); */
export function createDynamoControls({
  client,
  tableName,
  others,
  // A client's order waits for the read.
  timeoutMs = 1000,
}: DynamoControlsOptions): ControlStore {
  const limited = withLimit(client, { timeoutMs, attempts: 2 });
  return {
    async read(keys) {
      const tables = others && keys.includes(restoredScope) ? { ...others, controls: tableName } : undefined;
      const own = [...new Set(keys)].filter((key) => key !== restoredScope).map(keyOf);
      const beside: Readonly<Record<string, readonly Values[]>> = tables ? checkpointKeys(tables) : {};
      const wanted = { ...beside, [tableName]: [...own, ...(beside[tableName] ?? [])] };
      const found = await batchGetOf(limited, wanted);
      const items = (found[tableName] ?? []).filter(({ sk }) => sk?.S === controlKey);
      const controls = new Map(items.map(toControlEntry).map((entry) => [entry.key, controlOf(entry)]));
      const isRestored = tables && restoredTables(tables, checkpointsIn(tables, found)).length > 0;
      return isRestored ? controls.set(restoredScope, restoredControl) : controls;
    },
  };
}

/**
 * @throws Error for a malformed control, and for limits that only a later version knows: neither may count as absent, or
 * an operator's limits would not apply
 */
export function toControlEntry({ pk, version, limits, stopped_at: at, sealed }: Item): ControlEntry {
  // A stop that was the first change of its scope wrote no limits; resuming writes them.
  const isStopAlone = limits === undefined && at !== undefined;
  const read = limits?.S === undefined ? (isStopAlone ? {} : []) : readLimitChanges(JSON.parse(limits.S));
  if (pk?.S === undefined || version?.N === undefined || !sealed?.B || !areLimits(read))
    throw new Error('an item of the table is no control of trading, or one of a later version');
  return {
    key: pk.S,
    version: Number(version.N),
    limits: read,
    ...(at?.N !== undefined && { stopped: { at: Number(at.N) } }),
    sealed: sealed.B,
  };
}
