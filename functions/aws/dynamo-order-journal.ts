/**
 * The journal of orders in DynamoDB: one item for each entry and for each counter, in a table with `expires_at` as its time
 * to live. An entry and the counters that have its order change in one transaction.
 *
 * A function that sends orders needs BatchGetItem, PutItem and UpdateItem on the table; one that settles them needs no
 * PutItem, and Query on the indexes, too.
 */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { readCheckpoint } from '../../lib/guard-rails/checkpoints.ts';
import type { StoredCounter } from '../../lib/guard-rails/counter.ts';
import {
  type CountedChanges,
  type CountingJournal,
  type EntryOutcome,
  type JournalEntry,
  JournalUnavailable,
  type Stale,
  type UnsettledList,
} from '../../lib/orders/journal.ts';
import { listOf, replacedBy } from '../../lib/orders/memory-journal.ts';
import { isUnderWay, reconciliationKey } from '../../lib/orders/reconciliation.ts';
import { isWatched } from '../../lib/orders/record.ts';
import { sealText } from './brotli.ts';
import { checkpointPartition } from './dynamo-checkpoints.ts';
import { type DynamoSender, type SealedStoreOptions, type SendLimit, withLimit } from './dynamo-client.ts';
import { oncePerItem, staleIn, toCounter, updatesOf } from './dynamo-counted-changes.ts';
import { expression, query, set, tellsItem, update } from './dynamo-expressions.ts';
import { batchGet, type Item, isUnmet, pagesOf, textOf } from './dynamo-items.ts';
import {
  aboutEntry,
  exposedAttribute,
  exposedIndex,
  exposedOrders,
  type Put,
  putOf,
  toEntry,
  unsettledAttribute,
  unsettledIndex,
} from './dynamo-order-entries.ts';
import { conditionFailures, type Failure, isConflict, present, transact } from './dynamo-transaction.ts';

/** Most entries that are listed at once: as many as one read accepts. */
const maxKeys = 100;

/**
 * Attempts and pauses after a conflict. Orders of one scope change the same counter. While one transaction has it, for some
 * 10 ms, DynamoDB refuses the others at once; the next try of each returns the current counter. So tries follow each other
 * in about the time of a few transactions, at random so that they do not meet again; longer pauses would let new orders
 * pass them. `test/orders/waits/contention.test.ts` has orders of many instances on one counter.
 */
const conflicts = { isOne: isConflict, attempts: 30, pauses: { firstMs: 40, maxMs: 160 } };

/** Time limits by write. An order waits for `begin`; `finish` fits into the platform's time after the last moment of sending. */
const limits = {
  begin: { timeoutMs: 1000, attempts: 4, conflicts },
  // An order waits four seconds for its entry: one try may take half of them, so that there is time for a second.
  count: { timeoutMs: 2000, attempts: 4, conflicts },
  finish: { timeoutMs: 600, attempts: 2, conflicts },
  read: { timeoutMs: 1000, attempts: 3 },
  list: { timeoutMs: 3000, attempts: 3 },
} satisfies Readonly<Record<string, SendLimit>>;

const nothing: CountedChanges = { counters: [], exposures: [] };

/**
 * @example
 * const journal = createDynamoOrderJournal({ client: createDynamoClient(), tableName: 'orders', sealer });
 */
export const createDynamoOrderJournal = (options: SealedStoreOptions): CountingJournal => {
  const journal = new DynamoOrderJournal(options);
  return {
    begin: (entries, now) => orUnavailable(journal.begin(entries, now)),
    beginCounted: (entries, now, changes) => orUnavailable(journal.beginCounted(entries, now, changes)),
    change: (changes) => orUnavailable(journal.change(changes)),
    counters: (keys) => orUnavailable(journal.counters(keys)),
    finish: (outcome) => orUnavailable(journal.finish(outcome)),
    read: (keys) => orUnavailable(journal.read(keys)),
    unsettled: (list, from, limit) => orUnavailable(journal.unsettled(list, from, limit)),
    exposed: (from, limit) => orUnavailable(journal.exposed(from, limit)),
    isRestored: () => orUnavailable(journal.isRestored()),
  };
};

async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new JournalUnavailable(error);
  }
}

/** A list as a part of a global index: the attribute that is the partition key, and its value. */
interface Listing {
  readonly IndexName: string;
  readonly attribute: string;
  readonly value: string;
  readonly isListed: (entry: JournalEntry) => boolean;
}

const unsettledListing = (value: UnsettledList): Listing => ({
  IndexName: unsettledIndex,
  attribute: unsettledAttribute,
  value,
  isListed: (entry) => listOf(entry) === value,
});

const exposedListing: Listing = {
  IndexName: exposedIndex,
  attribute: exposedAttribute,
  value: exposedOrders,
  isListed: ({ exposure }) => exposure !== undefined,
};

class DynamoOrderJournal implements CountingJournal {
  readonly #options: SealedStoreOptions;

  constructor(options: SealedStoreOptions) {
    this.#options = options;
  }

  #client(operation: keyof typeof limits): DynamoSender {
    const { client, timeoutMs } = this.#options;
    return withLimit(client, {
      ...limits[operation],
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  }

  async begin(entries: readonly JournalEntry[], now: number): Promise<'begun' | readonly JournalEntry[]> {
    const begun = await this.beginCounted(entries, now, nothing);
    return begun !== 'begun' && 'counters' in begun ? [] : begun;
  }

  async beginCounted(
    entries: readonly JournalEntry[],
    now: number,
    changes: CountedChanges,
  ): Promise<'begun' | readonly JournalEntry[] | Stale> {
    if (entries.length === 0) return 'begun';
    const puts = await Promise.all(entries.map((entry) => this.#putOf(entry, now)));
    const { ofEntries, ofChanges, changed } = await this.#write(puts, changes);
    const stored = ofEntries.map((failure) => failure && present(failure.item));
    const others = stored.filter(
      (item, index) => item && textOf(item, 'attempt') !== entries[index]?.attempt,
    );
    if (others.length > 0) return Promise.all(others.map((item) => this.#toEntry(present(item))));
    const left = entries.filter((_, index) => !stored[index]);
    // An earlier write, whose answer was lost, wrote all of the entries and changes.
    if (left.length === 0) return 'begun';
    if (left.length < entries.length) return this.beginCounted(left, now, changes);
    return staleIn(changed, ofChanges) ?? 'begun';
  }

  async change(changes: CountedChanges): Promise<'changed' | Stale> {
    const { ofChanges, changed } = await this.#write([], changes);
    return staleIn(changed, ofChanges) ?? 'changed';
  }

  async counters(keys: readonly string[]): Promise<readonly StoredCounter[]> {
    return (await this.#itemsOf(keys)).map(toCounter);
  }

  async finish(outcome: EntryOutcome): Promise<boolean> {
    const { key, attempt, state, record } = outcome;
    const sealed = await sealText(this.#options.sealer, record, aboutEntry(key));
    const { states, isOverWords } = replacedBy(outcome);
    const isWord = state !== 'unknown' && isWatched(record);
    const change = set({ state, sealed, [unsettledAttribute]: isWord ? 'unseen' : undefined });
    const isListed = isWord || state === 'unknown';
    const isBefore = expression`#state IN (${(placeholder) => `${states.map(placeholder)}`})`;
    const request = update(
      this.#options.tableName,
      { pk: key },
      isListed ? change : expression`${change} REMOVE unsettled`,
      expression`attempt = ${attempt} AND (${isOverWords ? expression`${isBefore} OR unsettled = ${'unseen'}` : isBefore})`,
    );
    try {
      await this.#client('finish').send('UpdateItem', { ...request, ...tellsItem });
      return true;
    } catch (error) {
      if (!isUnmet(error)) throw error;
      // Each seal has a nonce of its own, so an equal one means that this write succeeded and its answer was lost.
      return isSame(error.Item?.sealed?.B, sealed);
    }
  }

  async read(keys: readonly string[]): Promise<ReadonlyMap<string, JournalEntry>> {
    const items = await this.#itemsOf(keys);
    const entries = await Promise.all(items.map((item) => this.#toEntry(item)));
    return new Map(entries.map((entry) => [entry.key, entry]));
  }

  /** Whether the table was restored: its checkpoint has another table name, or a reconciliation is under way. */
  async isRestored(): Promise<boolean> {
    const items = await this.#itemsOf([checkpointPartition, reconciliationKey]);
    const checkpoint = items.find((item) => textOf(item, 'pk') === checkpointPartition);
    const tables = checkpoint && readCheckpoint(textOf(checkpoint, 'state')).tables;
    return (
      (tables !== undefined && tables.journal !== this.#options.tableName) || isUnderWay(items.map(toCounter))
    );
  }

  async unsettled(list: UnsettledList, from: string, limit: number): Promise<readonly JournalEntry[]> {
    return this.#round(unsettledListing(list), from, limit);
  }

  async exposed(from: string, limit: number): Promise<readonly JournalEntry[]> {
    return this.#round(exposedListing, from, limit);
  }

  async #round(listing: Listing, from: string, limit: number): Promise<readonly JournalEntry[]> {
    const found = await this.#list(listing, '>=', from, limit);
    const left = limit - found.length;
    return left === 0 ? found : [...found, ...(await this.#list(listing, '<', from, left))];
  }

  /**
   * Lists entries. The index has only keys, and lags behind, so the entries themselves are read. One that was sealed with
   * another identity key gets an empty record, so that it does not hide the others.
   */
  async #list(
    { IndexName, attribute, value, isListed }: Listing,
    side: '>=' | '<',
    from: string,
    limit: number,
  ): Promise<readonly JournalEntry[]> {
    const found: JournalEntry[] = [];
    const client = this.#client('list');
    const isMeant = expression`${() => attribute} = ${value} AND pk ${() => side} ${from}`;
    const request = query(this.#options.tableName, isMeant, { IndexName });
    const read = (ExclusiveStartKey: Put['Item'] | undefined) => {
      const Limit = Math.min(maxKeys, limit - found.length);
      return client.send('Query', { ...request, Limit, ExclusiveStartKey });
    };
    for await (const page of pagesOf(read)) {
      const keys = page.map((item) => textOf(item, 'pk'));
      const items = await this.#itemsOf(keys);
      const read = await Promise.all(items.map((item) => this.#toEntry(item, '')));
      const entries = new Map(read.map((entry) => [entry.key, entry]));
      found.push(...keys.flatMap((key) => entries.get(key) ?? []).filter(isListed));
      if (found.length >= limit) break;
    }
    return found;
  }

  /** Writes all or none. @returns for each entry and each change undefined, or its failed condition */
  async #write(puts: readonly Put[], changes: CountedChanges): Promise<Written> {
    const changed = oncePerItem(changes);
    const updates = updatesOf(changed, this.#options.tableName);
    const failures = await this.#send([
      ...puts.map((Put) => ({ Put })),
      ...updates.map((Update) => ({ Update })),
    ]);
    return {
      changed,
      ofEntries: puts.map((_, index) => failures[index]),
      ofChanges: updates.map((_, index) => failures[puts.length + index]),
    };
  }

  async #send(
    TransactItems: readonly ({ readonly Put: Put } | Pick<TransactWriteItem, 'Update'>)[],
  ): Promise<readonly (Failure | undefined)[]> {
    const [first, second] = TransactItems;
    if (!first) return [];
    const isCounted = TransactItems.some((one) => 'Update' in one);
    const client = this.#client(isCounted ? 'count' : 'begin');
    try {
      // A single entry costs half as much outside a transaction.
      if (!second && 'Put' in first) await client.send('PutItem', first.Put);
      else await transact(client, [...TransactItems]);
      return [];
    } catch (error) {
      const failures = conditionFailures(error);
      if (failures.length === 0) throw error;
      return failures;
    }
  }

  async #putOf(entry: JournalEntry, now: number): Promise<Put> {
    const { sealer, tableName } = this.#options;
    const sealed = await sealText(sealer, entry.record, aboutEntry(entry.key));
    return putOf(entry, { sealed, now, tableName });
  }

  #itemsOf(keys: readonly string[]): Promise<readonly Item[]> {
    const unique = [...new Set(keys)].map((pk) => ({ pk }));
    return batchGet(this.#client('read'), this.#options.tableName, unique);
  }

  #toEntry(item: Item, closed?: string): Promise<JournalEntry> {
    return toEntry(item, this.#options.sealer, closed);
  }
}

interface Written {
  /** The changes as they were sent. */
  readonly changed: CountedChanges;
  readonly ofEntries: readonly (Failure | undefined)[];
  readonly ofChanges: readonly (Failure | undefined)[];
}

const isSame = (one: Uint8Array | undefined, other: Uint8Array) =>
  one !== undefined && Buffer.compare(one, other) === 0;
