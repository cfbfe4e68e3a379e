/**
 * The audit of orders as it is deployed: records of the journal's stream in, lines in DynamoDB and events on a bus out.
 * What was not taken is told to Lambda, which brings it again.
 */

import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { createIdentity } from '../../lib/access/identity.ts';
import { createOrderAudit, type OrderAudit } from '../../lib/orders/audit.ts';
import type { EntryChange } from '../../lib/orders/audit-line.ts';
import type { Sealer } from '../../lib/sealer.ts';
import { createDynamoClient } from './dynamo-client.ts';
import { createDynamoOrderAudit } from './dynamo-order-audit.ts';
import { type Environment, requiredOf } from './environment.ts';
import { createEventBus } from './event-bridge.ts';
import { createIdentityKeyReader } from './identity-key.ts';
import { describe, type Log, writeLog } from './log.ts';
import { entryChange } from './order-stream.ts';
import { wrongConfiguration } from './wrong-configuration.ts';

export type OrderAuditHandler = (event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>;

/** A wrong environment fails each batch: the records wait in the stream, for a day. */
export function deployedOrderAudit(env: Environment = process.env, log: Log = writeLog): OrderAuditHandler {
  const faults: string[] = [];
  const required = requiredOf(env, faults);
  const tableName = required('ORDER_AUDIT_TABLE');
  const busName = required('ORDER_EVENTS_BUS');
  const identityKeySecretId = required('IDENTITY_KEY_SECRET_ID');
  if (faults.length > 0) return wrongConfiguration(log, faults);
  const { names, sealer } = createIdentity(createIdentityKeyReader(identityKeySecretId, log));
  const failed = (event: string) => (cause: unknown) => log({ level: 'error', event, ...describe(cause) });
  const audit = createOrderAudit({
    store: createDynamoOrderAudit({ client: createDynamoClient(), tableName, sealer }),
    bus: createEventBus({ busName, onFailure: failed('order_event_not_published') }),
    names,
    reportFailure: failed('order_not_audited'),
  });
  return createOrderAuditHandler({ audit, sealer, log });
}

export interface OrderAuditHandlerParts {
  readonly audit: OrderAudit;
  /** Of the journal's entries. */
  readonly sealer: Sealer;
  readonly log: Log;
}

/** @example const handler = createOrderAuditHandler({ audit, sealer, log: writeLog }); */
export const createOrderAuditHandler =
  ({ audit, sealer, log }: OrderAuditHandlerParts): OrderAuditHandler =>
  async ({ Records }) => {
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
