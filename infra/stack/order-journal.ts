/**
 * The journal of orders: a table that says of each order what was asked for, and what became of it. It is there where an
 * open group changes orders or watchlists, and no setting does without it: no entry, no order.
 */

import type { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, ProjectionType, StreamViewType, type Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import {
  exposedAttribute,
  exposedIndex,
  unsettledAttribute,
  unsettledIndex,
} from '../../functions/aws/dynamo-order-entries.ts';
import { writePart } from '../../functions/settings/parts.ts';
import type { Operation } from '../../lib/catalogue/index.ts';
import { areJournaled } from '../../lib/gateway/look-ups.ts';
import type { FunctionAccess } from './group-function.ts';
import { allowTable, createTable } from './tables.ts';

/** What a function does to the table that only tells what became of orders. */
const journalReadActions = ['BatchGetItem'];
/** What a function does to the table that sends orders; a test compares it with its code. A transaction puts and updates items, too. */
export const journalActions = ['BatchGetItem', 'PutItem', 'UpdateItem'];

export class OrderJournal extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string, { removalPolicy }: { readonly removalPolicy: RemovalPolicy }) {
    super(scope, id);
    this.table = journalTable(this, removalPolicy);
  }

  /** @returns undefined for a function none of whose requests have an entry */
  accessOf(operations: readonly Operation[]): FunctionAccess | undefined {
    if (!areJournaled(operations)) return undefined;
    const { tableArn } = this.table;
    const keeps = operations.some(({ sideEffect }) => sideEffect?.journal);
    return {
      policies: keeps
        ? { KeepJournal: [allowTable(journalActions, tableArn)] }
        : { ReadJournal: [allowTable(journalReadActions, tableArn)] },
      variables: writePart('JOURNAL', { tableName: this.table.tableName }),
    };
  }
}

function journalTable(scope: Construct, removalPolicy: RemovalPolicy): Table {
  const table = createTable(scope, 'Table', {
    // Of entries by Idempotency-Key alone: those of orders stay.
    expires: true,
    // Without an entry its order could be sent a second time.
    isProtected: true,
    stream: StreamViewType.NEW_AND_OLD_IMAGES,
    removalPolicy,
  });
  // DynamoDB adds one index in an update of a table: a third one is a deployment of its own.
  for (const [indexName, name] of [
    [unsettledIndex, unsettledAttribute],
    [exposedIndex, exposedAttribute],
  ] as const)
    table.addGlobalSecondaryIndex({
      indexName,
      partitionKey: { name, type: AttributeType.STRING },
      sortKey: { name: 'pk', type: AttributeType.STRING },
      projectionType: ProjectionType.KEYS_ONLY,
    });
  return table;
}
