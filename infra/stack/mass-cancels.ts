/**
 * The function that cancels what is open, when an operator or a failed check asks for it: started at once by the stream of
 * the table of limits and stops, and every minute until nothing is open any more.
 */

import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type Function as Lambda,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { massCancelPartition } from '../../functions/aws/dynamo-mass-cancel-requests.ts';
import { writePart } from '../../functions/settings/parts.ts';
import { cancelOrder } from '../../lib/catalogue/order-cancels.ts';
import { massCancelConcurrency } from './functions-config.ts';
import type { OrderJournal } from './order-journal.ts';
import type { Shared } from './shared.ts';
import { allowStream } from './tables.ts';
import { inMassCancels } from './trading-controls.ts';

/** What the function does to requests beside asking for cancels; a test compares it with its code. */
export const massCancelActions = ['DeleteItem', 'Query'];

export class MassCancels extends Construct {
  readonly function: Lambda;

  /** @param controls limits and stops, with a stream: requests lie in a partition of the table */
  constructor(scope: Construct, id: string, shared: Shared, controls: Table, journal: OrderJournal) {
    super(scope, id);
    this.function = shared.worker(this, 'Canceller', 'mass-cancels', {
      cache: shared.cache.accessOf([cancelOrder]),
      access: [journal.accessOf([cancelOrder])],
      policies: {
        FinishMassCancels: [inMassCancels(massCancelActions, controls)],
        ReadStream: [allowStream(controls)],
      },
      variables: writePart('MASS_CANCELS', { controlsTable: controls.tableName }),
      reservedConcurrency: massCancelConcurrency(shared.config),
    });
    this.#followRequests(controls);
  }

  /** It only wakes the function, which reads all requests: what the stream loses, the next minute finds. */
  #followRequests({ tableStreamArn = '' }: Table): void {
    new EventSourceMapping(this, 'Requests', {
      target: this.function,
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition.LATEST,
      batchSize: 100,
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.or('INSERT', 'MODIFY'),
          dynamodb: { Keys: { pk: { S: FilterRule.isEqual(massCancelPartition) } } },
        }),
      ],
      retryAttempts: 0,
    });
  }
}
