/**
 * Tables of DynamoDB in this process: what the stores of `functions/aws` ask for, and no more; what it does not know throws.
 * The contracts of the stores run over it, and over the emulator.
 */

import type { AttributeValue, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { DynamoSender } from '../../functions/aws/dynamo-client.ts';
import { DynamoError } from '../../functions/aws/dynamo-http.ts';
import { bytesOf } from './dynamo.ts';
import { conditionOf, type Item, pathsOf, type Terms, update } from './dynamo-expressions.ts';

interface Put extends Terms {
  readonly TableName?: string | undefined;
  readonly Item?: Item | undefined;
  readonly Key?: Item | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ReturnValues?: string | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: string | undefined;
}

interface Reading extends Terms {
  readonly TableName?: string | undefined;
  readonly IndexName?: string | undefined;
  readonly KeyConditionExpression?: string | undefined;
  readonly FilterExpression?: string | undefined;
  readonly ScanIndexForward?: boolean | undefined;
  readonly Limit?: number | undefined;
  readonly ExclusiveStartKey?: Item | undefined;
}

type Keys = Readonly<Record<string, { readonly Keys: Item[] }>>;

/** DynamoDB's quotas: of an item, of a page before its filter, of what one BatchGetItem answers, and of items in a request. */
const [maxItemBytes, maxPageBytes, maxBatchBytes, maxItems] = [400 * 1024, 2 ** 20, 16 * 2 ** 20, 100];

const invalid = (message: string) => new DynamoError(400, { __type: 'x#ValidationException', message });

const keyOf = ({ pk, sk }: Item): string => JSON.stringify([pk?.S, sk?.S]);
const keysIn = ({ pk, sk }: Item): Item => ({ ...(pk && { pk }), ...(sk && { sk }) });

/** No request may have an item twice. */
function checkItems(keys: readonly string[]): void {
  if (new Set(keys).size < keys.length || keys.length > maxItems) throw invalid('an item twice, or too many');
}

/** What stands there, where the request asks for it. */
const told = ({ ReturnValuesOnConditionCheckFailure: asked }: Put, before: Item | undefined) =>
  asked === 'ALL_OLD' && before ? { Item: before as Record<string, AttributeValue> } : {};

/** How many of them, from the first on, have no more bytes together. */
function fitting(items: readonly Item[], maxBytes: number): number {
  let left = maxBytes;
  const beyond = items.findIndex((item) => {
    left -= bytesOf(item);
    return left < 0;
  });
  return beyond < 0 ? items.length : beyond;
}

export class DynamoTables implements DynamoSender {
  readonly #tables = new Map<string, Map<string, Item>>();
  readonly #tokens = new Set<string>();
  /** Indexes that have keys alone; others have all of an item. */
  readonly keysOnly = new Set<string>();

  /** All items, for tests to look at. */
  items(tableName: string): readonly Item[] {
    return [...this.#table(tableName).values()];
  }

  async send(operation: string, input: unknown): Promise<never> {
    // Never within the call: another one may have come first.
    await undefined;
    return structuredClone(this.#answer(operation, structuredClone(input))) as never;
  }

  #answer(operation: string, input: unknown): unknown {
    const one = input as Put;
    switch (operation) {
      case 'GetItem':
        return { Item: this.#table(one.TableName).get(keyOf(one.Key!)) };
      case 'BatchGetItem':
        return this.#batch((input as { RequestItems: Keys }).RequestItems);
      case 'PutItem':
      case 'UpdateItem':
      case 'DeleteItem':
        return this.#change(one);
      case 'TransactWriteItems':
        return this.#transact(input as { TransactItems: TransactWriteItem[]; ClientRequestToken: string });
      case 'Query':
      case 'Scan':
        return this.#read(input as Reading);
      default:
        throw new TypeError(`${operation} is not known here`);
    }
  }

  #table(name: string | undefined): Map<string, Item> {
    const table = this.#tables.get(name!) ?? new Map<string, Item>();
    this.#tables.set(name!, table);
    return table;
  }

  /** What is beyond the quota of bytes stays unread. */
  #batch(wanted: Keys) {
    const keys = Object.entries(wanted).flatMap(([name, { Keys }]) =>
      Keys.map((key) => [name, key] as const),
    );
    checkItems(keys.map(([name, key]) => `${name} ${keyOf(key)}`));
    const found = keys.map(([name, key]) => this.#table(name).get(keyOf(key)));
    const read = fitting(
      found.map((item) => item ?? {}),
      maxBatchBytes,
    );
    const Responses: Record<string, Item[]> = {};
    const UnprocessedKeys: Record<string, { Keys: Item[] }> = {};
    for (const [index, [name, key]] of keys.entries()) {
      const item = found[index];
      Responses[name] ??= [];
      if (index < read) Responses[name].push(...(item ? [item] : []));
      else UnprocessedKeys[name] = { Keys: [...(UnprocessedKeys[name]?.Keys ?? []), key] };
    }
    return { Responses, UnprocessedKeys };
  }

  #change(change: Put) {
    const before = this.#before(change);
    if (!conditionOf(change.ConditionExpression, change)(before ?? {}))
      throw new DynamoError(400, {
        __type: 'x#ConditionalCheckFailedException',
        ...told(change, before),
      });
    const Attributes = this.#write(change);
    return change.ReturnValues ? { Attributes } : {};
  }

  #before = ({ TableName, Item: item, Key }: Put) => this.#table(TableName).get(keyOf(item ?? Key!));

  #after(change: Put): Item | undefined {
    const { Item: item, Key, UpdateExpression: expression } = change;
    const after = item ?? (expression ? update(this.#before(change) ?? Key!, expression, change) : undefined);
    if (bytesOf(after ?? {}) > maxItemBytes) throw invalid('an item is too large');
    return after;
  }

  #write(change: Put): Item | undefined {
    const table = this.#table(change.TableName);
    const after = this.#after(change);
    if (after) table.set(keyOf(after), after);
    else table.delete(keyOf(change.Key!));
    return after;
  }

  #transact(given: { readonly TransactItems: TransactWriteItem[]; readonly ClientRequestToken: string }) {
    if (this.#tokens.has(given.ClientRequestToken)) return {};
    const changes = given.TransactItems.map(({ Put: put, Update, Delete, ConditionCheck }) => ({
      change: (put ?? Update ?? Delete ?? ConditionCheck) as Put,
      isWrite: !ConditionCheck,
    }));
    checkItems(
      changes.map(({ change: { TableName, Item: item, Key } }) => `${TableName} ${keyOf(item ?? Key!)}`),
    );
    const CancellationReasons = changes.map(({ change }) => {
      const before = this.#before(change);
      if (conditionOf(change.ConditionExpression, change)(before ?? {})) return { Code: 'None' };
      return { Code: 'ConditionalCheckFailed', ...told(change, before) };
    });
    if (CancellationReasons.some(({ Code }) => Code !== 'None'))
      throw new DynamoError(400, { __type: 'x#TransactionCanceledException', CancellationReasons });
    const writes = changes.filter(({ isWrite }) => isWrite);
    for (const { change } of writes) this.#after(change);
    this.#tokens.add(given.ClientRequestToken);
    for (const { change } of writes) this.#write(change);
    return {};
  }

  /** In the order of the second attribute that the key's condition names; of an index, too. */
  #read(reading: Reading) {
    const { TableName, IndexName = '', KeyConditionExpression: keys, FilterExpression } = reading;
    const [partition = '', by = 'sk'] = keys ? pathsOf(keys, reading) : [];
    const sortOf = (item: Item) => `${item[by]?.S ?? ''}\u0000${item.pk?.S}\u0000${item.sk?.S}`;
    const isMeant = conditionOf(keys, reading);
    const all = [...this.#table(TableName).values()]
      .filter(isMeant)
      .sort((a, b) => (sortOf(a) < sortOf(b) ? -1 : 1));
    if (reading.ScanIndexForward === false) all.reverse();
    const { ExclusiveStartKey: start, Limit = Number.POSITIVE_INFINITY } = reading;
    const from = start ? all.findIndex((item) => keyOf(item) === keyOf(start)) + 1 : 0;
    const wanted = all.slice(from, from + Limit);
    const Items = wanted.slice(0, fitting(wanted, maxPageBytes));
    const isFull = from + Items.length < all.length;
    return {
      Items: Items.filter(conditionOf(FilterExpression, reading)).map((item) =>
        this.keysOnly.has(IndexName) ? { ...keysIn(item), [partition]: item[partition] } : item,
      ),
      ...(isFull && { LastEvaluatedKey: keysIn(Items.at(-1)!) }),
    };
  }
}
