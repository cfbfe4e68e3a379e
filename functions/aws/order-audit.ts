/**
 * The audit of orders behind the stream of the journal's table. What was not taken is told to Lambda, which brings it
 * again.
 */

import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { EntryChange } from '../../lib/orders/audit-line.ts';
import type { Sealer } from '../../lib/sealer.ts';
import type { ComposedAudit } from '../compose/order-audit.ts';
import { describe, type Log } from '../log/log.ts';
import { entryChange } from './order-stream.ts';

export type OrderAuditHandler = (event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>;

/**
 * @param composed undefined where the environment is wrong: each batch fails
 *
 * @example const handler = orderAuditHandler(start(orderAudit, process.env, ports), writeLog);
 */
export const orderAuditHandler =
  (composed: ComposedAudit | undefined, log: Log): OrderAuditHandler =>
  async ({ Records }) => {
    if (!composed) throw new Error('wrong_configuration');
    const {
      audit,
      identity: { sealer },
    } = composed;
    const read = await Promise.all(Records.map((record) => changeOf(record, sealer, log)));
    const changes = read.filter((change) => change !== undefined && change !== 'unread');
    const { failed, ...counts } = await audit.take(changes);
    const lost = new Set(failed.map(({ sequence }) => sequence));
    const again = Records.filter(
      ({ dynamodb }, index) => read[index] === 'unread' || lost.has(dynamodb?.SequenceNumber ?? ''),
    );
    const isWhole = again.length === 0 && counts.unreadable === 0;
    log({ level: isWhole ? 'info' : 'error', event: 'orders_audited', ...counts, failed: again.length });
    return {
      batchItemFailures: again.map(({ dynamodb }) => ({ itemIdentifier: dynamodb?.SequenceNumber ?? '' })),
    };
  };

/** @returns undefined for what is no change of an order; `unread` for what cannot be read now: it comes again */
async function changeOf(
  record: DynamoDBRecord,
  sealer: Sealer,
  log: Log,
): Promise<EntryChange | 'unread' | undefined> {
  try {
    return await entryChange(record, sealer);
  } catch (cause) {
    log({ level: 'error', event: 'order_change_not_read', ...describe(cause) });
    return 'unread';
  }
}
