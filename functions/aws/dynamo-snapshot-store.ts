/**
 * The quote store of a deployed function: one table on demand with the keys `pk` and `sk` (texts) and
 * `expires_at` as its time to live. The control item and the journal share a partition, so that one query
 * brings what is new of both. What a storm of instances reads and writes is spread over partitions of its own,
 * because DynamoDB gives one of them 3,000 read and 1,000 write units a second, whatever the table has. A function
 * needs Query, BatchGetItem, PutItem and UpdateItem on it.
 *
 * What entries take after their time is not read by anybody, but stays until DynamoDB removes it.
 */

import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  type Control,
  missMs,
  noControl,
  type RefreshRecord,
  type SnapshotStore,
} from '../../lib/cache/snapshots/index.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';
import {
  joinCheckpoint,
  packCheckpoint,
  packFlights,
  packRecord,
  unpackCheckpoint,
  unpackFlights,
  unpackRecord,
} from './snapshot-items.ts';
import { asStoreError } from './throttling.ts';

export interface DynamoSnapshotStoreOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  /** For one operation, in milliseconds. Default 300: a client waits for the function meanwhile. */
  readonly timeoutMs?: number;
  /** Names what shares quotes: an upstream account, whose subscriptions decide what is in them. */
  readonly partition: string;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** From 0 to below 1. */
  readonly random?: () => number;
}

type Item = Record<string, AttributeValue>;

/** Sorts after every turn. */
const controlKey = '~control';
const turnKey = (turn: number) => String(turn).padStart(15, '0');

const mostPages = 4;

/** No instance looks back further than the bound of an answer. */
const entryMs = 300_000;
/** Partitions that instances count their starts in, and tell what they miss. A thousand of either in a second are 125 in each. */
const shards = 8;
/** Of each of them, the latest items that are read; in a storm the others tell the same. */
const mostMissItems = 40;
/** An item holds 400 kB, with its keys. */
const mostCheckpointBytes = 380 * 1024;
/** A count of starts is of use for its second, and a miss for two. */
const shortMs = 60_000;

export function createDynamoSnapshotStore(options: DynamoSnapshotStoreOptions): SnapshotStore {
  const { tableName: TableName, partition, clock = Date.now, random = Math.random } = options;
  const client = withLimit(options.client, { timeoutMs: options.timeoutMs ?? 300 });
  const pk = { S: `quotes#${partition}` };
  const controlItem = { TableName, Key: { pk, sk: { S: controlKey } } };

  async function query(after: string, of = pk): Promise<Item[]> {
    const items: Item[] = [];
    let start: Item | undefined;
    let pages = 0;
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :pk AND sk > :after',
          ExpressionAttributeValues: { ':pk': of, ':after': { S: after } },
          ...(start && { ExclusiveStartKey: start }),
        }),
      );
      items.push(...Items);
      start = LastEvaluatedKey;
      // What is further back comes with the next look; a page is a megabyte.
    } while (start && ++pages < mostPages);
    return items;
  }

  async function late(turns: readonly number[]): Promise<Item[]> {
    if (turns.length === 0) return [];
    const Keys = turns.map((turn) => ({ pk, sk: { S: turnKey(turn) } }));
    const { Responses } = await client.send(
      new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys } } }),
    );
    // What the service left out this time is asked for again with the next look.
    return Responses?.[TableName] ?? [];
  }

  const shardKey = (what: string, shard: number) => ({ S: `quotes#${partition}#${what}#${shard}` });
  const anyShard = () => Math.floor(random() * shards);
  // In whole seconds, as the time to live has it.
  const expiresIn = (ms: number) => ({ N: String(Math.ceil((clock() + ms) / 1000)) });

  async function missesOf(shard: number): Promise<readonly string[]> {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName,
        // Those of a clock that is ahead would be the latest until it is their time.
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :since AND :until',
        ExpressionAttributeValues: {
          ':pk': shardKey('misses', shard),
          ':since': { S: timeKey(clock() - missMs) },
          ':until': { S: timeKey(clock() + missMs) },
        },
        ScanIndexForward: false,
        Limit: mostMissItems,
      }),
    );
    return Items.flatMap(({ keys }) => keys?.SS ?? []);
  }

  return storeErrors({
    async read(after, missing) {
      // Nothing sorts between the last turn and the control item.
      const [items, others] = await Promise.all([
        query(after === undefined ? '~' : turnKey(after)),
        late(missing),
      ]);
      const control = items.find(({ sk }) => sk?.S === controlKey);
      return {
        control: control ? toControl(control) : noControl,
        entries: [...others, ...items].flatMap((item) => toEntry(item) ?? []),
      };
    },

    async take({ turn, flights, ...plan }, after) {
      try {
        await client.send(
          new UpdateItemCommand({
            ...controlItem,
            UpdateExpression: 'SET turn = :turn, plan_text = :plan, flights = :flights',
            ConditionExpression: after === 0 ? 'attribute_not_exists(turn)' : 'turn = :last',
            ExpressionAttributeValues: {
              ':turn': { N: String(turn) },
              ':plan': { S: JSON.stringify(plan) },
              ':flights': { B: packFlights(flights) },
              ...(after > 0 && { ':last': { N: String(after) } }),
            },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return { taken: true };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return { taken: false, control: error.Item ? toControl(error.Item) : noControl };
      }
    },

    async write(entry) {
      await client.send(
        new PutItemCommand({
          TableName,
          Item: {
            pk,
            sk: { S: turnKey(entry.turn) },
            entry: { B: packRecord(entry) },
            expires_at: expiresIn(entryMs),
          },
        }),
      );
    },

    async countStart() {
      const { Attributes } = await client.send(
        new UpdateItemCommand({
          TableName,
          Key: { pk: shardKey('starts', anyShard()), sk: { S: timeKey(Math.floor(clock() / 1000)) } },
          UpdateExpression: 'SET expires_at = :expires ADD starts :one',
          ExpressionAttributeValues: { ':one': { N: '1' }, ':expires': expiresIn(shortMs) },
          ReturnValues: 'UPDATED_NEW',
        }),
      );
      // The first of a partition says little of the others.
      return 1 + (Number(Attributes?.starts?.N ?? 1) - 1) * shards;
    },

    async readCheckpoint(copy) {
      // A page is a megabyte, which may be less than its parts.
      const items = await query('!', shardKey('checkpoint', copy));
      return joinCheckpoint(items.flatMap(({ part }) => (part?.B && unpackCheckpoint(part.B)) ?? []));
    },

    async writeCheckpoint(copy, checkpoint) {
      await Promise.all(
        packCheckpoint(checkpoint, mostCheckpointBytes).map((part, index) =>
          client.send(
            new PutItemCommand({
              TableName,
              Item: {
                pk: shardKey('checkpoint', copy),
                sk: { S: String(index).padStart(3, '0') },
                part: { B: part },
                expires_at: expiresIn(entryMs),
              },
            }),
          ),
        ),
      );
    },

    async tellMisses(keys) {
      if (keys.length === 0) return;
      await client.send(
        new PutItemCommand({
          TableName,
          Item: {
            pk: shardKey('misses', anyShard()),
            sk: { S: `${timeKey(clock())}#${random().toString(36).slice(2, 10)}` },
            keys: { SS: [...new Set(keys)] },
            expires_at: expiresIn(shortMs),
          },
        }),
      );
    },

    async readMisses() {
      const found = await Promise.all(Array.from({ length: shards }, (_, shard) => missesOf(shard)));
      return [...new Set(found.flat())];
    },
  });
}

/** Times and counts of seconds, in the order of texts. */
const timeKey = (time: number) => String(time).padStart(15, '0');

/** Throttling is told from everything else. */
function storeErrors(store: SnapshotStore): SnapshotStore {
  const told =
    <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
    (...args: A): Promise<T> =>
      work(...args).catch((error: unknown) => {
        throw asStoreError(error);
      });
  return {
    read: told(store.read),
    take: told(store.take),
    write: told(store.write),
    countStart: told(store.countStart),
    readCheckpoint: told(store.readCheckpoint),
    writeCheckpoint: told(store.writeCheckpoint),
    tellMisses: told(store.tellMisses),
    readMisses: told(store.readMisses),
  };
}

type Plan = Omit<Control, 'turn' | 'flights'>;

/** @throws TypeError for an item that is not of this form */
function toControl({ turn, plan_text: plan, flights }: Item): Control {
  const said = plan?.S === undefined ? undefined : (JSON.parse(plan.S) as Partial<Plan>);
  const number = Number(turn?.N ?? 0);
  if (!Number.isSafeInteger(number)) throw new TypeError('not the control item of quotes');
  // What an older version wrote has neither flights of this form nor a checkpoint.
  const { due, tests, checkpoint } = { ...noControl, ...said };
  return { turn: number, due, tests, checkpoint, flights: flights?.B ? unpackFlights(flights.B) : [] };
}

/** Undefined for the control item, and for what another version wrote. */
function toEntry({ sk, entry }: Item): RefreshRecord | undefined {
  const turn = Number(sk?.S);
  return Number.isSafeInteger(turn) && entry?.B ? unpackRecord(turn, entry.B) : undefined;
}
