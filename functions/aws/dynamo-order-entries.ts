/**
 * Entries of the journal as items of its table, whose key is a text named `pk`. Entries that are listed have an attribute
 * besides, the partition key of a global index by their keys; it is not there while they are not listed.
 *
 * What an entry says in words is sealed; the rest are keyed names, and what counters have of the order: numbers alone.
 */

import type { PutItemInput } from '@aws-sdk/client-dynamodb';
import type { Sealer } from '../../lib/kernel/sealer.ts';
import type { KeptOfEntry } from '../../lib/orders/audit-line.ts';
import type { JournalEntry } from '../../lib/orders/journal.ts';
import { listOf } from '../../lib/orders/memory-journal.ts';
import { openText } from './brotli.ts';
import { expression, put, tellsItem } from './dynamo-expressions.ts';
import { codec, type Item, numberOf, optional, seconds, textOf } from './dynamo-items.ts';

export type Put = PutItemInput & { readonly Item: Item };

/** The index of what is to be settled, with its partition key: the name of a list. */
export const unsettledIndex = 'Unsettled';
export const unsettledAttribute = 'unsettled';

/** The index of what counters have orders of, with its partition key, which is one for all of them. */
export const exposedIndex = 'Exposed';
export const exposedAttribute = 'exposed';
export const exposedOrders = 'orders';
export const exposureAttribute = 'exposure';

/** Attributes of an entry that counters have. */
export const exposedAs = (exposure: string) => ({
  [exposureAttribute]: exposure,
  [exposedAttribute]: exposedOrders,
});

/**
 * Where the key is absent, or where what stands there is expired or another attempt's that was refused, and in no counter.
 * An entry of the same attempt stays as it is: a write that arrives late must not undo its outcome.
 *
 * @param sealed the entry's record
 * @param now when a stored entry counts as expired, in milliseconds since the epoch
 */
export function putOf(
  entry: JournalEntry,
  {
    sealed,
    now,
    tableName,
  }: { readonly sealed: Uint8Array; readonly now: number; readonly tableName: string },
): Put {
  const { attempt, expiresAt, exposure } = entry;
  // An entry that a counter holds stays: if DynamoDB removed it, the counter would hold it for ever.
  const removedAt = exposure === undefined ? expiresAt : undefined;
  const values = {
    ...kept.write(entry),
    pk: entry.key,
    attempt,
    state: entry.state,
    sealed,
    [unsettledAttribute]: listOf(entry),
    expires_at: removedAt && seconds(removedAt),
    ...(exposure !== undefined && exposedAs(exposure)),
  };
  const isFree = expression`known_until <= ${now} OR #state = ${'refused'}`;
  const isOthers = expression`attempt <> ${attempt} AND attribute_not_exists(exposure) AND (${isFree})`;
  return { ...put(tableName, values, expression`attribute_not_exists(pk) OR (${isOthers})`), ...tellsItem };
}

/**
 * @param closed the record of what does not open; default none, so that it throws: taken for nothing, its order would be
 * sent again
 */
export async function toEntry(item: Item, sealer: Sealer, closed?: string): Promise<JournalEntry> {
  const key = textOf(item, 'pk');
  const record = (await openText(sealer, item.sealed?.B, aboutEntry(key))) ?? closed;
  if (record === undefined) throw new Error('an entry of the journal does not open');
  return {
    key,
    attempt: textOf(item, 'attempt'),
    state: textOf(item, 'state'),
    record,
    ...keptIn(item),
  };
}

/** What an entry says besides its state, and besides what is sealed. */
const kept = codec<KeptOfEntry>({
  hash: ['hash', textOf],
  credential: ['credential', textOf],
  at: ['at', numberOf],
  sendBy: ['send_by', numberOf],
  listedAs: ['listed_as', optional(textOf<NonNullable<KeptOfEntry['listedAs']>>)],
  // DynamoDB removes what has expired within days, so that conditions have a moment of their own.
  expiresAt: ['known_until', optional(numberOf)],
  exposure: [exposureAttribute, optional(textOf)],
});
export const { read: keptIn } = kept;

/** Sealed contents open in their own place alone. */
export const aboutEntry = (key: string) => `order journal ${key}`;
