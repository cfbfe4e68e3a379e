/** The trade events of the last day, in a table that the listener writes and streams read. */

import { RemovalPolicy } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { orderStreamPartition, writePart } from '../../functions/settings/parts.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { FunctionAccess } from './group-function.ts';
import { allowTable, createTable } from './tables.ts';

/** What the listener does to the table; a test compares it with its code. */
export const historyKeepActions = ['PutItem', 'Query'];
/** What a function does to it that tells events. */
export const historyReadActions = ['Query'];
/** What the same function does to the items that count its streams. */
export const streamCountActions = ['GetItem', 'PutItem'];

export class EventHistory extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.table = createTable(this, 'Table', {
      isSorted: true,
      expires: true,
      noBackups:
        'It holds what streams told within a day; orders and positions themselves are read from the upstream.',
      // With any `onRemoval`: a day later nothing of it would be left.
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  /** Of the listener. */
  get keeping(): FunctionAccess {
    return {
      policies: { KeepHistory: [allowTable(historyKeepActions, this.table.tableArn)] },
      variables: writePart('EVENT_HISTORY', { tableName: this.table.tableName }),
    };
  }

  /** @returns undefined for a function that tells no trade events */
  accessOf(operations: readonly Operation[]): FunctionAccess | undefined {
    if (!operations.some(({ answeredBy }) => answeredBy === 'trade events')) return undefined;
    const { tableArn, tableName } = this.table;
    const counting = allowTable(streamCountActions, tableArn);
    // It could put events of its own beside the listener's otherwise.
    counting.addCondition('ForAllValues:StringLike', {
      'dynamodb:LeadingKeys': [`streams#${orderStreamPartition}#*`],
    });
    return {
      policies: {
        ReadHistory: [allowTable(historyReadActions, tableArn)],
        CountStreams: [counting],
      },
      variables: writePart('EVENT_HISTORY', { tableName }),
    };
  }
}
