/**
 * Entries of the journal as items of its table, whose key is a text named `pk`. A listed entry has a further attribute, the
 * partition key of a global index; it is absent while the entry is not listed.
 *
 * An entry's record is sealed; the rest are keyed names, and the exposure, which has numbers only.
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

/** Index of unsettled entries, and its partition key, the name of a list. */
export const unsettledIndex = 'Unsettled';
export const unsettledAttribute = 'unsettled';

/** Index of entries whose orders are counted, and its partition key, the same for all. */
export const exposedIndex = 'Exposed';
export const exposedAttribute = 'exposed';
export const exposedOrders = 'orders';
export const exposureAttribute = 'exposure';

/** Attributes of an entry whose order is counted. */
export const exposedAs = (exposure: string) => ({
  [exposureAttribute]: exposure,
  [exposedAttribute]: exposedOrders,
});

/**
 * Puts an entry where the key is absent, or where the stored entry is expired, or refused and another attempt's, and is
 * not counted. An entry of the same attempt stays as it is: a late write must not undo its outcome.
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
  // A counted entry never expires: if DynamoDB removed it, its order would be counted for ever.
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
 * @param closed record for an entry whose seal does not open. Default none: the read throws, because an entry taken for
 * absent would let its order be sent again
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

/** The entry's members besides its state and its sealed record. */
const kept = codec<KeptOfEntry>({
  hash: ['hash', textOf],
  credential: ['credential', textOf],
  at: ['at', numberOf],
  sendBy: ['send_by', numberOf],
  listedAs: ['listed_as', optional(textOf<NonNullable<KeptOfEntry['listedAs']>>)],
  // DynamoDB removes expired items only within days, so conditions use this time of their own.
  expiresAt: ['known_until', optional(numberOf)],
  exposure: [exposureAttribute, optional(textOf)],
});
export const { read: keptIn } = kept;

/** Binds a sealed record to its entry, so that it does not open in another one. */
export const aboutEntry = (key: string) => `order journal ${key}`;
