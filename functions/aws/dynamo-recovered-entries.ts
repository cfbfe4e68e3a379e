/**
 * Writes entries from the audit into a restored journal. Only the settlement does so; it needs PutItem on the journal's
 * table.
 */

import { JournalUnavailable, type RecoverableJournal } from '../../lib/orders/journal.ts';
import { sealText } from './brotli.ts';
import { type SealedStoreOptions, withLimit } from './dynamo-client.ts';
import { expression, isAbsent, put } from './dynamo-expressions.ts';
import { isMet } from './dynamo-items.ts';
import { aboutEntry, putOf } from './dynamo-order-entries.ts';

/** @example const { recover } = createDynamoRecovery({ client, tableName: 'orders', sealer }); */
export function createDynamoRecovery({
  client,
  tableName,
  sealer,
  timeoutMs = 3000,
}: SealedStoreOptions): RecoverableJournal {
  const limited = withLimit(client, { timeoutMs, attempts: 3 });
  return {
    async recover(entry, read) {
      const sealed = await sealText(sealer, entry.record, aboutEntry(entry.key));
      const { Item } = putOf(entry, { sealed, now: 0, tableName });
      const asRead = read ? expression`attempt = ${read.attempt} AND #state = ${read.state}` : isAbsent;
      try {
        return await isMet(limited.send('PutItem', put(tableName, Item, asRead)));
      } catch (error) {
        throw new JournalUnavailable(error);
      }
    },
  };
}
