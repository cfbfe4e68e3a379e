/** Changes of the journal, out of the records of its table's stream. */

import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import type { EntryChange, SeenEntry } from '../../lib/orders/audit-line.ts';
import type { EntryState } from '../../lib/orders/journal.ts';
import type { Sealer } from '../../lib/sealer.ts';
import { openRecord } from './dynamo-order-entries.ts';

/**
 * @throws TypeError for what is no record of a stream; and as the sealer does when its key cannot be read
 */
export async function entryChange(
  { eventName, dynamodb, userIdentity }: DynamoDBRecord,
  sealer: Sealer,
): Promise<EntryChange> {
  const {
    SequenceNumber: sequence,
    ApproximateCreationDateTime: seconds,
    OldImage,
    NewImage,
  } = dynamodb ?? {};
  if (sequence === undefined || seconds === undefined)
    throw new TypeError('a stream’s record without its number or time');
  const [before, after] = await Promise.all([OldImage, NewImage].map((image) => seenIn(image, sealer)));
  return {
    sequence,
    at: Math.round(1000 * seconds),
    ...(before && { before }),
    ...(after && { after }),
    ...(eventName === 'REMOVE' && isExpiry(userIdentity) && { isExpiry: true }),
  };
}

/** DynamoDB itself removed it. */
const isExpiry = (identity: DynamoDBRecord['userIdentity']): boolean =>
  (identity as { readonly principalId?: string } | undefined)?.principalId === 'dynamodb.amazonaws.com';

type Image = Readonly<Record<string, AttributeValue>>;

/** What is no entry is shown, too: left out, it would be a change of the journal that the audit does not have. */
async function seenIn(image: Image | undefined, sealer: Sealer): Promise<SeenEntry | undefined> {
  if (!image) return undefined;
  const text = (name: string) => image[name]?.S ?? '';
  const key = text('pk');
  // Lambda hands bytes over as Base64.
  const sealed = image.sealed?.B;
  const bytes = sealed === undefined ? undefined : Buffer.from(sealed, 'base64');
  const record = await openRecord(sealer, key, bytes);
  const state = (text('state') || 'unknown') as EntryState;
  return { key, attempt: text('attempt'), state, ...(record !== undefined && { record }) };
}
