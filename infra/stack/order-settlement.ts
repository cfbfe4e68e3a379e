/** The function that settles orders whose outcome stayed unknown: started every minute, and by trade events of orders. */

import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { exposedIndex, unsettledIndex } from '../../functions/aws/dynamo-order-entries.ts';
import { orderReadOperations } from '../../lib/gateway/order-reads.ts';
import { GroupFunction, onceTarget, runEachMinute } from './group-function.ts';
import type { Shared } from './shared.ts';
import { allowTable } from './tables.ts';

export interface OrderSettlementProps {
  readonly shared: Shared;
  readonly journal: Table;
}

/** What the function does to the journal and to its indexes; a test compares it with its code. */
export const settlementActions = ['BatchGetItem', 'UpdateItem'];
export const settlementIndexActions = ['Query'];

/** The next run starts then. */
const timeoutSeconds = 60;

export class OrderSettlement extends Construct {
  readonly function: Lambda;

  constructor(scope: Construct, id: string, { shared, journal }: OrderSettlementProps) {
    super(scope, id);
    const indexes = [unsettledIndex, exposedIndex].map((index) => `${journal.tableArn}/index/${index}`);
    this.function = new GroupFunction(this, 'Settlement', {
      ...shared.worker(orderReadOperations),
      title: 'Order settlement',
      purpose: 'finds out what became of orders whose answer was lost',
      entry: shared.entryOf('order-settlement'),
      policies: {
        Settle: [
          allowTable(settlementActions, journal.tableArn),
          allowTable(settlementIndexActions, ...indexes),
        ],
      },
      variables: { ORDER_JOURNAL_TABLE: journal.tableName },
      timeoutSeconds,
    }).function;
    runEachMinute(this, this.function, 'Settles orders whose outcome is unknown');
  }

  /** For rules that bring it events of orders. What it misses, its next run finds. */
  target(): LambdaFunction {
    return onceTarget(this.function);
  }
}
