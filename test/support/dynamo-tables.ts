/**
 * Tables of DynamoDB in this process: what the stores of `functions/aws` ask for, and no more. The contracts of the stores run
 * over it, too, and the emulator is what it is compared with; what it does not know throws.
 */

import type { AttributeValue, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { DynamoSender } from '../../functions/aws/dynamo-client.ts';
import { DynamoError } from '../../functions/aws/dynamo-http.ts';
import { conditionOf, type Item, pathsOf, type Terms, update } from './dynamo-expressions.ts';

interface Put extends Terms {
  readonly TableName?: string | undefined;
  readonly Item?: Item | undefined;
  readonly Key?: Item | undefined;
  readonly UpdateExpression?: string | undefined;
}

interface Reading extends Terms {
  readonly TableName?: string | undefined;
  readonly KeyConditionExpression?: string | undefined;
  readonly FilterExpression?: string | undefined;
  readonly ScanIndexForward?: boolean | undefined;
  readonly Limit?: number | undefined;
  readonly ExclusiveStartKey?: Item | undefined;
}

const keyOf = ({ pk, sk }: Item): string => JSON.stringify([pk?.S, sk?.S]);
const keysIn = ({ pk, sk }: Item): Item => ({ ...(pk && { pk }), ...(sk && { sk }) });

export class DynamoTables implements DynamoSender {
  readonly #tables = new Map<string, Map<string, Item>>();
  readonly #tokens = new Set<string>();

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
        return { Responses: this.#batch(input as { RequestItems: Record<string, { Keys: Item[] }> }) };
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

  #batch({ RequestItems }: { readonly RequestItems: Readonly<Record<string, { readonly Keys: Item[] }>> }) {
    return Object.fromEntries(
      Object.entries(RequestItems).map(([name, { Keys }]) => [
        name,
        Keys.map((key) => this.#table(name).get(keyOf(key))).filter((item) => item !== undefined),
      ]),
    );
  }

  #change(change: Put) {
    const before = this.#before(change);
    if (!conditionOf(change.ConditionExpression, change)(before ?? {}))
      throw new DynamoError(400, {
        __type: 'x#ConditionalCheckFailedException',
        ...(before && { Item: before }),
      });
    return { Attributes: this.#write(change) };
  }

  #before = ({ TableName, Item: item, Key }: Put) => this.#table(TableName).get(keyOf(item ?? Key!));

  #write(change: Put): Item | undefined {
    const { TableName, Item: item, Key, UpdateExpression } = change;
    const table = this.#table(TableName);
    const before = this.#before(change);
    const after = item ?? (UpdateExpression && update(before ?? { ...Key }, UpdateExpression, change));
    if (after) table.set(keyOf(after), after);
    else table.delete(keyOf(Key!));
    return after || undefined;
  }

  #transact(given: { readonly TransactItems: TransactWriteItem[]; readonly ClientRequestToken: string }) {
    if (this.#tokens.has(given.ClientRequestToken)) return {};
    const changes = given.TransactItems.map(({ Put: put, Update, Delete, ConditionCheck }) => ({
      change: (put ?? Update ?? Delete ?? ConditionCheck) as Put,
      isWrite: !ConditionCheck,
    }));
    const CancellationReasons = changes.map(({ change }) => {
      const before = this.#before(change);
      if (conditionOf(change.ConditionExpression, change)(before ?? {})) return { Code: 'None' };
      return {
        Code: 'ConditionalCheckFailed',
        ...(before && { Item: before as Record<string, AttributeValue> }),
      };
    });
    if (CancellationReasons.some(({ Code }) => Code !== 'None'))
      throw new DynamoError(400, { __type: 'x#TransactionCanceledException', CancellationReasons });
    this.#tokens.add(given.ClientRequestToken);
    for (const { change, isWrite } of changes) if (isWrite) this.#write(change);
    return {};
  }

  /** In the order of the second attribute that the key's condition names; of an index, too. */
  #read(reading: Reading) {
    const { TableName, KeyConditionExpression: keys, FilterExpression, ScanIndexForward, ...page } = reading;
    const by = (keys ? pathsOf(keys, reading)[1] : undefined) ?? 'sk';
    const sortOf = (item: Item) => `${item[by]?.S ?? ''}\u0000${item.pk?.S}\u0000${item.sk?.S}`;
    const isMeant = conditionOf(keys, reading);
    const all = [...this.#table(TableName).values()]
      .filter(isMeant)
      .sort((a, b) => (sortOf(a) < sortOf(b) ? -1 : 1));
    if (ScanIndexForward === false) all.reverse();
    const { ExclusiveStartKey: start, Limit = Number.POSITIVE_INFINITY } = page;
    const from = start ? all.findIndex((item) => keyOf(item) === keyOf(start)) + 1 : 0;
    const Items = all.slice(from, from + Limit);
    const isFull = from + Items.length < all.length;
    return {
      Items: Items.filter(conditionOf(FilterExpression, reading)),
      ...(isFull && { LastEvaluatedKey: keysIn(Items.at(-1)!) }),
    };
  }
}
