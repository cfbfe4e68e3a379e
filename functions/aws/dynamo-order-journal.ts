/**
 * The journal of orders in DynamoDB: one item for each entry, in a table whose key is a text named `pk`, with
 * `expires_at` as its time to live. Unsettled entries have an attribute `unsettled` besides, the partition key of a
 * global index by time.
 *
 * What an entry says in words is sealed; the rest are keyed names. A function that sends orders needs BatchGetItem,
 * PutItem and UpdateItem on the table; one that settles them Query on the index, too.
 */

import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { type JournalEntry, JournalUnavailable, type OrderJournal } from '../../lib/orders/journal.ts';
import { isUnsettled } from '../../lib/orders/memory-journal.ts';
import type { Sealer } from '../../lib/sealer.ts';
import { compress, decompress } from './brotli.ts';
import { number, seconds } from './dynamo-attributes.ts';
import { type DynamoSender, type SendLimit, withLimit } from './dynamo-client.ts';
import { asStoreError } from './throttling.ts';

export interface DynamoOrderJournalOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  /** For what an entry says: it names account and order. */
  readonly sealer: Sealer;
  /** For each operation with all its attempts, in milliseconds. Default as long as a request can wait for it. */
  readonly timeoutMs?: number;
}

type Item = Record<string, AttributeValue>;
type Put = PutItemCommandInput & { readonly Item: Item };

/** The index of what is to be settled, with its partition and its sort key. */
export const unsettledIndex = 'Unsettled';
export const unsettledAttribute = 'unsettled';
export const begunAttribute = 'at';

/** DynamoDB's bound for one BatchGetItem. */
const maxKeys = 100;
/** DynamoDB returns keys unread when it throttles. */
const maxReads = 3;
/** More than a request's body and its answer can be. */
const maxUnpackedBytes = 16 * 1024 * 1024;

/** An order waits for the first; the second fits into what the platform leaves after the last moment of sending. */
const limits = {
  begin: { timeoutMs: 1000, attempts: 4 },
  finish: { timeoutMs: 600, attempts: 2 },
  read: { timeoutMs: 1000, attempts: 3 },
  list: { timeoutMs: 3000, attempts: 3 },
} satisfies Readonly<Record<string, SendLimit>>;

/**
 * @example
 * const journal = createDynamoOrderJournal({ client: createDynamoClient(), tableName: 'orders', sealer });
 */
export const createDynamoOrderJournal = (options: DynamoOrderJournalOptions): OrderJournal => {
  const journal = new DynamoOrderJournal(options);
  return {
    begin: (entries, now) => orUnavailable(journal.begin(entries, now)),
    finish: (outcome) => orUnavailable(journal.finish(outcome)),
    read: (keys) => orUnavailable(journal.read(keys)),
    unsettled: (credential, limit) => orUnavailable(journal.unsettled(credential, limit)),
  };
};

async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new JournalUnavailable(asStoreError(error));
  }
}

class DynamoOrderJournal implements OrderJournal {
  readonly #options: DynamoOrderJournalOptions;

  constructor(options: DynamoOrderJournalOptions) {
    this.#options = options;
  }

  #client(operation: keyof typeof limits): DynamoSender {
    const { client, timeoutMs } = this.#options;
    return withLimit(client, {
      ...limits[operation],
      alsoPasses: isConflict,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  }

  async begin(entries: readonly JournalEntry[], now: number): Promise<'begun' | readonly JournalEntry[]> {
    const puts = await Promise.all(entries.map((entry) => this.#putOf(entry, now)));
    const inTheWay = await this.#write(puts);
    const attempts = new Map(entries.map(({ key, attempt }) => [key, attempt]));
    // An attempt whose answer was lost wrote all of them.
    const others = inTheWay.filter((item) => textOf(item, 'attempt') !== attempts.get(textOf(item, 'pk')));
    return others.length === 0 ? 'begun' : Promise.all(others.map((item) => this.#toEntry(item)));
  }

  async finish({ key, attempt, state, record }: Parameters<OrderJournal['finish']>[0]): Promise<boolean> {
    const sealed = await this.#seal(record, key);
    const isFinal = state !== 'unknown';
    const command = new UpdateItemCommand({
      TableName: this.#options.tableName,
      Key: { pk: { S: key } },
      UpdateExpression: `SET #state = :state, sealed = :sealed${isFinal ? ` REMOVE ${unsettledAttribute}` : ''}`,
      ConditionExpression: `attempt = :attempt AND ${state === 'accepted' ? '#state <> :state' : '#state IN (:pending, :unknown)'}`,
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: {
        ':state': { S: state },
        ':sealed': { B: sealed },
        ':attempt': { S: attempt },
        ...(state !== 'accepted' && { ':pending': { S: 'pending' }, ':unknown': { S: 'unknown' } }),
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      await this.#client('finish').send(command);
      return true;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      // Each seal has a nonce of its own: this one was written, and the answer to that was lost.
      return isSame(error.Item?.sealed?.B, sealed);
    }
  }

  async read(keys: readonly string[]): Promise<ReadonlyMap<string, JournalEntry>> {
    const unique = [...new Set(keys)];
    const parts = Array.from({ length: Math.ceil(unique.length / maxKeys) }, (_, index) =>
      this.#items(unique.slice(index * maxKeys, (index + 1) * maxKeys)),
    );
    const items = (await Promise.all(parts)).flat();
    const entries = await Promise.all(items.map((item) => this.#toEntry(item)));
    return new Map(entries.map((entry) => [entry.key, entry]));
  }

  /**
   * The index has keys alone, and lags behind: the entries are read as they are now. One that was sealed with another
   * identity key has an empty record, so that it does not hide the others.
   */
  async unsettled(credential: string, limit: number): Promise<readonly JournalEntry[]> {
    const found: JournalEntry[] = [];
    let start: Item | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await this.#client('list').send(
        new QueryCommand({
          TableName: this.#options.tableName,
          IndexName: unsettledIndex,
          KeyConditionExpression: `${unsettledAttribute} = :credential`,
          ExpressionAttributeValues: { ':credential': { S: credential } },
          Limit: Math.min(maxKeys, limit - found.length),
          ExclusiveStartKey: start,
        }),
      );
      const keys = Items.map((item) => textOf(item, 'pk'));
      const items = keys.length > 0 ? await this.#items(keys) : [];
      const read = await Promise.all(items.map((item) => this.#toEntry(item, '')));
      const entries = new Map(read.map((entry) => [entry.key, entry]));
      found.push(...keys.flatMap((key) => entries.get(key) ?? []).filter(isUnsettled));
      start = LastEvaluatedKey;
    } while (start && found.length < limit);
    return found;
  }

  /** All or none. @returns the items whose conditions were not met */
  async #write(puts: readonly Put[]): Promise<readonly Item[]> {
    const [first, second] = puts;
    if (!first) return [];
    const client = this.#client('begin');
    try {
      if (second) await client.send(transactionOf(puts));
      else await client.send(new PutItemCommand(first));
      return [];
    } catch (error) {
      const items = conditionFailures(error);
      if (items.length === 0) throw error;
      return items;
    }
  }

  /**
   * Where the key is absent or expired, or another attempt was refused. An entry of the same attempt stays as it is: a
   * write that arrives late must not undo its outcome.
   */
  async #putOf(entry: JournalEntry, now: number): Promise<Put> {
    const { key, attempt, hash, state, credential, at, sendBy, record, canSettle, expiresAt } = entry;
    return {
      TableName: this.#options.tableName,
      Item: {
        pk: { S: key },
        attempt: { S: attempt },
        hash: { S: hash },
        state: { S: state },
        credential: { S: credential },
        [begunAttribute]: number(at),
        send_by: number(sendBy),
        sealed: { B: await this.#seal(record, key) },
        ...(canSettle && { can_settle: { BOOL: true } }),
        ...(isUnsettled(entry) && { [unsettledAttribute]: { S: credential } }),
        // DynamoDB removes what has expired within days, so that conditions have a moment of their own.
        ...(expiresAt !== undefined && { known_until: number(expiresAt), expires_at: seconds(expiresAt) }),
      },
      ConditionExpression:
        'attribute_not_exists(pk) OR known_until <= :now OR (#state = :refused AND attempt <> :attempt)',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: {
        ':now': number(now),
        ':refused': { S: 'refused' },
        ':attempt': { S: attempt },
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
  }

  async #items(keys: readonly string[]): Promise<readonly Item[]> {
    const { tableName } = this.#options;
    const client = this.#client('read');
    const items: Item[] = [];
    let Keys: Item[] = keys.map((key) => ({ pk: { S: key } }));
    for (let left = maxReads; Keys.length > 0; left--) {
      if (left === 0) throw new Error('DynamoDB left keys unread');
      const { Responses = {}, UnprocessedKeys = {} } = await client.send(
        new BatchGetItemCommand({ RequestItems: { [tableName]: { Keys, ConsistentRead: true } } }),
      );
      items.push(...(Responses[tableName] ?? []));
      Keys = UnprocessedKeys[tableName]?.Keys ?? [];
    }
    return items;
  }

  /** @param closed the record of what does not open; default none, so that it throws */
  async #toEntry(item: Item, closed?: string): Promise<JournalEntry> {
    const key = textOf(item, 'pk');
    const { known_until: knownUntil } = item;
    return {
      key,
      attempt: textOf(item, 'attempt'),
      hash: textOf(item, 'hash'),
      state: textOf(item, 'state') as JournalEntry['state'],
      credential: textOf(item, 'credential'),
      at: numberOf(item, begunAttribute),
      sendBy: numberOf(item, 'send_by'),
      record: await this.#open(item, key, closed),
      canSettle: item.can_settle?.BOOL === true,
      ...(knownUntil && { expiresAt: numberOf(item, 'known_until') }),
    };
  }

  #seal(record: string, key: string): Promise<Uint8Array> {
    return this.#options.sealer.seal(compress(Buffer.from(record)), about(key));
  }

  /** @throws for what does not open: taken for nothing, its order would be sent again */
  async #open({ sealed }: Item, key: string, closed?: string): Promise<string> {
    const record = (await openRecord(this.#options.sealer, key, sealed?.B)) ?? closed;
    if (record === undefined) throw new Error('an entry of the journal does not open');
    return record;
  }
}

/** What an entry says, out of its item. @returns undefined for what was sealed with another key, or not at all */
export async function openRecord(
  sealer: Sealer,
  key: string,
  sealed: Uint8Array | undefined,
): Promise<string | undefined> {
  const opened = sealed && (await sealer.open(sealed, about(key)));
  return opened && decompress(opened, maxUnpackedBytes).toString();
}

/** Sealed contents open in their own place alone. */
const about = (key: string) => `order journal ${key}`;

/** Its token is the same with each attempt: one whose answer was lost is not done twice. */
const transactionOf = (puts: readonly Put[]) =>
  new TransactWriteItemsCommand({
    TransactItems: puts.map((Put) => ({ Put })),
    ClientRequestToken: crypto.randomUUID(),
  });

interface Cancelled {
  readonly name?: string;
  readonly CancellationReasons?: readonly { readonly Code?: string; readonly Item?: Item }[];
}

/** @throws TypeError for a failed condition without its item: what stands there is not known */
function conditionFailures(error: unknown): readonly Item[] {
  if (error instanceof ConditionalCheckFailedException) return [present(error.Item)];
  return reasonsOf(error)
    .filter(({ Code }) => Code === 'ConditionalCheckFailed')
    .map(({ Item }) => present(Item));
}

function present(item: Item | undefined): Item {
  if (!item) throw new TypeError('DynamoDB did not say which entry is in the way');
  return item;
}

const reasonsOf = (error: unknown) => {
  const { name, CancellationReasons = [] } = error as Cancelled;
  return name === 'TransactionCanceledException' ? CancellationReasons : [];
};

/** Codes of a cancelled transaction that may succeed a moment later. */
const passing: ReadonlySet<string | undefined> = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

/** Another transaction has an item of this one, or DynamoDB throttles one of its items; no condition has failed. */
function isConflict(error: unknown): boolean {
  const { name = '' } = error as Cancelled;
  if (/^Transaction(Conflict|InProgress)Exception$/.test(name)) return true;
  const codes = reasonsOf(error).map(({ Code }) => Code);
  return codes.some((code) => passing.has(code)) && !codes.includes('ConditionalCheckFailed');
}

const isSame = (one: Uint8Array | undefined, other: Uint8Array) =>
  one !== undefined && Buffer.compare(one, other) === 0;

/** @throws TypeError for what is no entry of the journal */
function textOf(item: Item, name: string): string {
  const text = item[name]?.S;
  if (text === undefined) throw new TypeError(`an entry of the journal without ${name}`);
  return text;
}

/** @throws TypeError for what is no entry of the journal */
function numberOf(item: Item, name: string): number {
  const value = Number(item[name]?.N ?? Number.NaN);
  if (!Number.isSafeInteger(value)) throw new TypeError(`an entry of the journal without ${name}`);
  return value;
}
