/** The journal of orders of a deployed function: entries in DynamoDB, and each failure a line in the log and a metric. */

import type { OrdersOptions } from '../../lib/orders/hand-over.ts';
import { JournalUnavailable } from '../../lib/orders/journal.ts';
import type { DeployedAccess } from './deployed-access.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { createDynamoOrderJournal } from './dynamo-order-journal.ts';
import { embeddedMetrics } from './emf.ts';
import { describe, type Log } from './log.ts';

/** Of the table, because one alarm has to see all functions. */
export const journalMetric = { name: 'OrderJournalFailed', dimension: 'OrderJournalTable' } as const;

/** @example const orders = createDeployedJournal('orders', { client, log, ...createDeployedAccess(settings, client, log) }); */
export const createDeployedJournal = (
  tableName: string,
  {
    client,
    log,
    names,
    sealer,
  }: Pick<DeployedAccess, 'names' | 'sealer'> & { readonly client: DynamoSender; readonly log: Log },
): OrdersOptions => ({
  journal: createDynamoOrderJournal({ client, tableName, sealer }),
  names,
  reportFailure: (step, cause) =>
    log({
      level: 'error',
      event: 'journal_failed',
      step,
      ...embeddedMetrics(
        { [journalMetric.name]: 'Count' },
        {
          dimensions: { [journalMetric.dimension]: tableName },
          at: Date.now(),
          values: { [journalMetric.name]: 1 },
        },
      ),
      ...describe(cause instanceof JournalUnavailable ? cause.cause : cause),
    }),
});
