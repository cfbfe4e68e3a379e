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
import { type Item, number, numberOf, seconds, textOf } from './dynamo-items.ts';
import { openText } from './sealed-text.ts';

export type Put = PutItemInput & { readonly Item: Item };

/** The index of what is to be settled, with its partition key: the name of a list. */
export const unsettledIndex = 'Unsettled';
export const unsettledAttribute = 'unsettled';

/** The index of what counters have orders of, with its partition key, which is one for all of them. */
export const exposedIndex = 'Exposed';
export const exposedAttribute = 'exposed';
export const exposedOrders = 'orders';
export const exposureAttribute = 'exposure';

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
  const { key, attempt, hash, state, credential, at, sendBy, listedAs, expiresAt, exposure } = entry;
  const list = listOf(entry);
  return {
    TableName: tableName,
    Item: {
      pk: { S: key },
      attempt: { S: attempt },
      hash: { S: hash },
      state: { S: state },
      credential: { S: credential },
      at: number(at),
      send_by: number(sendBy),
      sealed: { B: sealed },
      ...(listedAs && { listed_as: { S: listedAs } }),
      ...(list && { [unsettledAttribute]: { S: list } }),
      // DynamoDB removes what has expired within days, so that conditions have a moment of their own.
      ...(expiresAt !== undefined && { known_until: number(expiresAt) }),
      // What is counted stays: removed, it would be counted for ever.
      ...(expiresAt !== undefined && exposure === undefined && { expires_at: seconds(expiresAt) }),
      ...(exposure !== undefined && {
        [exposureAttribute]: { S: exposure },
        [exposedAttribute]: { S: exposedOrders },
      }),
    },
    ConditionExpression: `attribute_not_exists(pk) OR (attempt <> :attempt AND attribute_not_exists(${exposureAttribute}) AND (known_until <= :now OR #state = :refused))`,
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: {
      ':now': number(now),
      ':refused': { S: 'refused' },
      ':attempt': { S: attempt },
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
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
    state: textOf(item, 'state') as JournalEntry['state'],
    record,
    ...keptIn(item),
  };
}

/** What an entry says besides its state, and besides what is sealed. */
export const keptIn = (item: Item): KeptOfEntry => ({
  hash: textOf(item, 'hash'),
  credential: textOf(item, 'credential'),
  at: numberOf(item, 'at'),
  sendBy: numberOf(item, 'send_by'),
  ...(item.listed_as && { listedAs: textOf(item, 'listed_as') as NonNullable<JournalEntry['listedAs']> }),
  ...(item.known_until && { expiresAt: numberOf(item, 'known_until') }),
  ...(item[exposureAttribute] && { exposure: textOf(item, exposureAttribute) }),
});

/** Sealed contents open in their own place alone. */
export const aboutEntry = (key: string) => `order journal ${key}`;
