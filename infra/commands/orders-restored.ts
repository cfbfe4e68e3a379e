/**
 * `countersign orders restored` and `confirm`: shows which tables are in an earlier state and what orders wait for, and
 * takes an operator's word that a restored table is right.
 */

import { createDynamoCheckpoints } from '../../functions/aws/dynamo-checkpoints.ts';
import { createDynamoControlAdmin } from '../../functions/aws/dynamo-control-admin.ts';
import { type ControlAdmin, confirmTables, createControlAdmin } from '../../lib/guard-rails/admin.ts';
import {
  type CheckpointStore,
  type CheckpointTable,
  readCheckpoint,
  restoredTables,
  type TableNames,
} from '../../lib/guard-rails/checkpoints.ts';
import { orderJournalTableOutput, tradingControlsTableOutput } from '../stack/outputs.ts';
import { operatorArn } from './operator.ts';
import type { Report } from './print.ts';
import type { StackTarget } from './readers.ts';
import { accessTableOutput, inSentences, sealedStack } from './sealed-stack.ts';

export interface RestoredArguments {
  readonly target: StackTarget;
  /** Tables to confirm; absent when the command only shows. */
  readonly confirms?: { readonly tables: readonly CheckpointTable[]; readonly reason: string };
}

interface RestoredPorts {
  readonly stackName: string;
  readonly admin: Pick<ControlAdmin, 'apply'>;
  readonly checkpoints: CheckpointStore;
  readonly tables: TableNames;
  readonly clock: () => number;
}

/** @throws StartError when the stack, its identity key, or the operator's identity cannot be read */
export async function deployedRestored({ target, confirms }: RestoredArguments): Promise<RestoredPorts> {
  const stack = await sealedStack(
    target,
    tradingControlsTableOutput,
    'places no orders: open the group orders',
  );
  const tables = {
    journal: stack.output(orderJournalTableOutput),
    controls: stack.store.tableName,
    users: stack.output(accessTableOutput),
  };
  const by = confirms ? await operatorArn() : '';
  return {
    ...stack,
    admin: createControlAdmin({ ...stack, store: createDynamoControlAdmin(stack.store), by }),
    checkpoints: createDynamoCheckpoints({ client: stack.store.client, tables }),
    tables,
    clock: Date.now,
  };
}

/** @throws StartError with one sentence */
export function showRestored({ target, confirms }: RestoredArguments, ports: RestoredPorts): Promise<Report> {
  const { stackName, checkpoints, tables } = ports;
  return inSentences(async () => {
    if (confirms) await confirmTables(ports, confirms.tables, confirms.reason);
    const stored = await checkpoints.read();
    const restored = restoredTables(tables, stored);
    const none = `No table of ${stackName} is as it was earlier: orders are open, unless trading is stopped.`;
    const lines = restored.flatMap((table) => {
      const text = stored.get(table);
      const since = text === undefined ? 'before its first checkpoint' : momentOf(readCheckpoint(text).at);
      return [
        `${table} (${tables[table]}) is as it was at ${since}: orders are neither placed nor replaced; cancels go through.`,
        `  ${adviceOn(table, target)}`,
      ];
    });
    return { lines: lines.length > 0 ? lines : [none] };
  }, `The checkpoints of ${stackName} cannot be read or written`);
}

const adviceOn = (table: CheckpointTable, { options }: StackTarget): string => {
  if (table === 'journal')
    return 'The settlement reads the audit and what is open, and opens it in about a quarter of an hour; its log event orders_closed says what it waits for.';
  const command = table === 'controls' ? 'countersign trading' : 'countersign users';
  return `Set again what was set since (${command}), then: countersign orders confirm ${options} --table ${table} --reason "…"`;
};

const momentOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
