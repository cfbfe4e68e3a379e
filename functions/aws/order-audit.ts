/**
 * The handler that audits orders from the stream of the journal's table. It reports failed changes to Lambda, which
 * delivers them again.
 */

import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue, DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { Sealer } from '../../lib/kernel/sealer.ts';
import type { EntryChange, SeenEntry } from '../../lib/orders/audit-line.ts';
import type { EntryState } from '../../lib/orders/journal.ts';
import type { ComposedAudit } from '../compose/order-audit.ts';
import { describe, type Log } from '../log/log.ts';
import { openText } from './brotli.ts';
import type { Item } from './dynamo-items.ts';
import { aboutEntry, exposedAttribute, exposureAttribute, keptIn } from './dynamo-order-entries.ts';

type OrderAuditHandler = (event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>;

/**
 * @param composed undefined where the environment is wrong, so that each batch fails
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

/** @returns undefined for a record that is no change of an order; `unread` for one that cannot be read now and must come again */
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

/**
 * Reads a change of the journal from a record of its table's stream.
 *
 * @returns undefined for a change of no order: of a counter, or of an entry's exposure
 * @throws TypeError for a malformed record; and the sealer's error when its key cannot be read
 */
async function entryChange(
  { eventName, dynamodb, userIdentity }: DynamoDBRecord,
  sealer: Sealer,
): Promise<EntryChange | undefined> {
  const {
    SequenceNumber: sequence,
    ApproximateCreationDateTime: seconds,
    OldImage,
    NewImage,
  } = dynamodb ?? {};
  if (sequence === undefined || seconds === undefined)
    throw new TypeError('a stream’s record without its number or time');
  if (!isOfOrder(OldImage, NewImage)) return undefined;
  const [before, after] = await Promise.all([OldImage, NewImage].map((image) => seenIn(image, sealer)));
  return {
    sequence,
    at: Math.round(1000 * seconds),
    ...(before && { before }),
    ...(after && { after }),
    ...(eventName === 'REMOVE' && isExpiry(userIdentity) && { isExpiry: true }),
  };
}

/** Whether DynamoDB itself removed the item, because it had expired. */
const isExpiry = (identity: DynamoDBRecord['userIdentity']): boolean =>
  (identity as { readonly principalId?: string } | undefined)?.principalId === 'dynamodb.amazonaws.com';

type Image = Readonly<Record<string, AttributeValue>>;

/** Attributes of an entry's exposure, whose change says nothing about the order's outcome. */
const countedAttributes: ReadonlySet<string> = new Set([exposureAttribute, exposedAttribute]);

function isOfOrder(before: Image | undefined, after: Image | undefined): boolean {
  // Only entries have an `attempt`, counters have none.
  if (![before, after].some((image) => image && 'attempt' in image)) return false;
  if (!before || !after) return true;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]));
  // A write that changed no attribute is not a counter's, so it is shown.
  return changed.length === 0 || changed.some((name) => !countedAttributes.has(name));
}

/** Reads an entry, even without an attempt: left out, its change would be missing from the audit. */
async function seenIn(image: Image | undefined, sealer: Sealer): Promise<SeenEntry | undefined> {
  if (!image) return undefined;
  const text = (name: string) => image[name]?.S ?? '';
  const key = text('pk');
  // Lambda passes bytes as Base64.
  const sealed = image.sealed?.B;
  const bytes = sealed === undefined ? undefined : Buffer.from(sealed, 'base64');
  const record = await openText(sealer, bytes, aboutEntry(key));
  const state = (text('state') || 'unknown') as EntryState;
  return {
    key,
    attempt: text('attempt'),
    state,
    ...(record !== undefined && { record }),
    ...('credential' in image && keptIn(image as Item)),
  };
}
