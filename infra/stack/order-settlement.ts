/** The function that settles orders whose outcome stayed unknown: started every minute, and by trade events of orders. */

import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { checkpointPartition } from '../../functions/aws/dynamo-checkpoints.ts';
import { exposedIndex, unsettledIndex } from '../../functions/aws/dynamo-order-entries.ts';
import { writePart } from '../../functions/settings/parts.ts';
import { onceTarget } from './group-function.ts';
import type { Shared } from './shared.ts';
import { allowTable } from './tables.ts';
import { inPartitions } from './trading-controls.ts';

/** What the function does to the journal and to its indexes; a test compares it with its code. */
export const settlementActions = ['BatchGetItem', 'PutItem', 'UpdateItem'];
export const settlementIndexActions = ['Query'];
/** What it does to the checkpoints of other tables. */
export const checkpointActions = ['BatchGetItem', 'PutItem'];
/** What it does to the audit. */
export const auditReadActions = ['Query'];

export class OrderSettlement extends Construct {
  readonly function: Lambda;

  /**
   * @param audit what a restored journal is brought up to date with
   * @param controls undefined where no order is placed or replaced
   */
  constructor(scope: Construct, id: string, shared: Shared, journal: Table, audit: Table, controls?: Table) {
    super(scope, id);
    const users = shared.users?.table;
    const checked = [controls, users].filter((table) => table !== undefined);
    const indexes = [unsettledIndex, exposedIndex].map((index) => `${journal.tableArn}/index/${index}`);
    this.function = shared.worker(this, 'Settlement', 'order-settlement', {
      policies: {
        Settle: [
          allowTable(settlementActions, journal.tableArn),
          allowTable(settlementIndexActions, ...indexes),
        ],
        ReadOrderAudit: [allowTable(auditReadActions, audit.tableArn)],
        ...(checked.length > 0 && {
          WriteCheckpoints: checked.map((table) =>
            inPartitions(checkpointActions, table, [checkpointPartition]),
          ),
        }),
      },
      variables: writePart('SETTLEMENT', {
        journalTable: journal.tableName,
        auditTable: audit.tableName,
        controlsTable: controls?.tableName,
        usersTable: users?.tableName,
      }),
    });
  }

  /** For rules that bring it events of orders. What it misses, its next run finds. */
  target(): LambdaFunction {
    return onceTarget(this.function);
  }
}
