/**
 * The snapshot store of a deployed function: one table on demand with the keys `pk` and `sk` (texts) and
 * `expires_at` as its time to live. The control item and the refresh log share a partition, so that one query
 * returns what is new of both. What a storm of instances reads and writes is spread over partitions of its own,
 * because DynamoDB gives one partition 3,000 read and 1,000 write units a second, in a table of any size. A function
 * needs Query, BatchGetItem, PutItem and UpdateItem on it.
 *
 * No instance reads an item after its time, but it stays until DynamoDB removes it.
 */

import {
  type LeaseAnswer,
  missMs,
  noControl,
  type RefreshControl,
  type RefreshLogUpdate,
  type RefreshRecord,
  type SnapshotCheckpoint,
  type SnapshotStore,
} from '../../lib/cache/snapshots/index.ts';
import { type DynamoSender, type SharedStoreOptions, withLimit } from './dynamo-client.ts';
import { expression, put, query, set, tellsItem, update } from './dynamo-expressions.ts';
import { type Item, isUnmet, queryAll, readOnce, seconds, type Values } from './dynamo-items.ts';
import {
  joinCheckpoint,
  packCheckpoint,
  packFlights,
  packRecord,
  unpackCheckpoint,
  unpackFlights,
  unpackRecord,
} from './snapshot-items.ts';
import { controlKey, logKey, partKey, recordKey, shardKey } from './snapshot-keys.ts';

interface SnapshotStoreOptions extends SharedStoreOptions {
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Random numbers from 0 to below 1, which choose partitions. */
  readonly random?: () => number;
}

const maxPages = 4;

/** How long records are stored; no instance looks back further than the hard bound. */
const recordMs = 300_000;
/** Number of partitions for instances' starts and misses: a thousand of either in a second are 125 in each. */
const shards = 8;
/** Most latest items that are read from a partition of misses; in a storm the others contain the same symbols. */
const maxMissItems = 40;
/** Largest part of a checkpoint: a DynamoDB item holds 400 kB, including its keys. */
const maxCheckpointBytes = 380 * 1024;
/** How long starts and misses are stored; they are useful for one and two seconds. */
const shortMs = 60_000;

/** @example const store = createDynamoSnapshotStore({ client: createDynamoClient(), tableName: 'cache', partition: 'upstream' }); */
export const createDynamoSnapshotStore = (options: SnapshotStoreOptions): SnapshotStore =>
  new DynamoSnapshotStore(options);

class DynamoSnapshotStore implements SnapshotStore {
  readonly #client: DynamoSender;
  readonly #tableName: string;
  readonly #partition: string;
  readonly #clock: () => number;
  readonly #random: () => number;

  constructor(options: SnapshotStoreOptions) {
    // A client waits for the function meanwhile.
    const { client, timeoutMs = 300, clock = Date.now, random = Math.random } = options;
    this.#client = withLimit(client, { timeoutMs });
    this.#tableName = options.tableName;
    this.#partition = options.partition;
    this.#clock = clock;
    this.#random = random;
  }

  async read(after: number | undefined, missing: readonly number[]): Promise<RefreshLogUpdate> {
    // Nothing sorts between the last record and the control item.
    const [items, others] = await Promise.all([
      this.#query(this.#pk, after === undefined ? '~' : recordKey(after)),
      this.#late(missing),
    ]);
    const control = items.find(({ sk }) => sk?.S === controlKey);
    return {
      control: control ? toControl(control) : noControl,
      records: [...others, ...items].flatMap((item) => toRecord(item) ?? []),
    };
  }

  async acquire(next: RefreshControl, after: number): Promise<LeaseAnswer> {
    const { sequence, flights, ...plan } = next;
    try {
      await this.#client.send('UpdateItem', {
        ...update(
          this.#tableName,
          { pk: this.#pk, sk: controlKey },
          set({ turn: sequence, plan_text: JSON.stringify(plan), flights: packFlights(flights) }),
          after === 0 ? expression`attribute_not_exists(turn)` : expression`turn = ${after}`,
        ),
        ...tellsItem,
      });
      return { acquired: true };
    } catch (error) {
      if (!isUnmet(error)) throw error;
      return { acquired: false, control: error.Item ? toControl(error.Item) : noControl };
    }
  }

  async write(record: RefreshRecord): Promise<void> {
    await this.#put(this.#pk, recordKey(record.sequence), { entry: packRecord(record) }, recordMs);
  }

  async countStart(): Promise<number> {
    const second = Math.floor(this.#clock() / 1000);
    const key = { pk: this.#shardKey('starts', this.#anyShard()), sk: timeKey(second) };
    const start = expression`SET expires_at = ${seconds(this.#clock() + shortMs)} ADD starts ${1}`;
    const { Attributes } = await this.#client.send('UpdateItem', {
      ...update(this.#tableName, key, start),
      ReturnValues: 'UPDATED_NEW',
    });
    // The first start in a partition says little about the other partitions.
    return 1 + (Number(Attributes?.starts?.N ?? 1) - 1) * shards;
  }

  async readCheckpoint(copy: number): Promise<SnapshotCheckpoint | undefined> {
    // A page is a megabyte, and the parts may have more, so the query reads several.
    const items = await this.#query(this.#shardKey('checkpoint', copy), '!');
    return joinCheckpoint(items.flatMap(({ part }) => (part?.B && unpackCheckpoint(part.B)) ?? []));
  }

  async writeCheckpoint(copy: number, checkpoint: SnapshotCheckpoint): Promise<void> {
    const pk = this.#shardKey('checkpoint', copy);
    const parts = packCheckpoint(checkpoint, maxCheckpointBytes);
    await Promise.all(parts.map((part, index) => this.#put(pk, partKey(index), { part }, recordMs)));
  }

  async writeMisses(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const pk = this.#shardKey('misses', this.#anyShard());
    const sk = `${timeKey(this.#clock())}#${this.#random().toString(36).slice(2, 10)}`;
    await this.#put(pk, sk, { keys: { SS: [...new Set(keys)] } }, shortMs);
  }

  async readMisses(): Promise<readonly string[]> {
    const found = await Promise.all(Array.from({ length: shards }, (_, shard) => this.#missesOf(shard)));
    return [...new Set(found.flat())];
  }

  get #pk(): string {
    return logKey(this.#partition);
  }

  #shardKey(what: string, shard: number): string {
    return shardKey(this.#partition, what, shard);
  }

  #anyShard(): number {
    return Math.floor(this.#random() * shards);
  }

  async #put(pk: string, sk: string, content: Values, forMs: number): Promise<void> {
    const values = { pk, sk, ...content, expires_at: seconds(this.#clock() + forMs) };
    await this.#client.send('PutItem', put(this.#tableName, values));
  }

  /** Reads at most `maxPages` pages of a megabyte; further items come with the next poll. */
  #query(pk: string, after: string): Promise<readonly Item[]> {
    const isLater = expression`pk = ${pk} AND sk > ${after}`;
    return queryAll(this.#client, query(this.#tableName, isLater), maxPages);
  }

  async #late(sequences: readonly number[]): Promise<readonly Item[]> {
    if (sequences.length === 0) return [];
    const keys = sequences.map((sequence) => ({ pk: this.#pk, sk: recordKey(sequence) }));
    // Items that the service left out are read again with the next poll.
    return (await readOnce(this.#client, this.#tableName, keys)).items;
  }

  async #missesOf(shard: number): Promise<readonly string[]> {
    const now = this.#clock();
    const [pk, since, until] = [
      this.#shardKey('misses', shard),
      timeKey(now - missMs),
      timeKey(now + missMs),
    ];
    // The upper bound excludes items of a clock that is ahead, which would otherwise stay the latest for a while.
    const isRecent = expression`pk = ${pk} AND sk BETWEEN ${since} AND ${until}`;
    const newest = { ScanIndexForward: false, Limit: maxMissItems };
    const items = await queryAll(this.#client, query(this.#tableName, isRecent, newest), 1);
    return items.flatMap(({ keys }) => keys?.SS ?? []);
  }
}

/** Sort key for a time or a number of seconds, padded so that texts sort like numbers. */
const timeKey = (time: number) => String(time).padStart(15, '0');

/**
 * Reads a control item. From another version's item only the number is read, so that the next lease overwrites it: the
 * item does not expire.
 *
 * @throws for an item that is no control item of any version
 */
function toControl({ turn, plan_text: plan, flights }: Item): RefreshControl {
  const sequence = Number(turn?.N);
  if (!Number.isSafeInteger(sequence)) throw new TypeError('not the control item of snapshots');
  try {
    const { due, probes, checkpoint } = JSON.parse(plan?.S ?? '') as Omit<
      RefreshControl,
      'sequence' | 'flights'
    >;
    if (!due || !probes || !checkpoint || !flights?.B) return { ...noControl, sequence };
    return { sequence, due, probes, checkpoint, flights: unpackFlights(flights.B) };
  } catch {
    return { ...noControl, sequence };
  }
}

/** Reads a record; undefined for the control item, and for an item of another version. */
const toRecord = ({ entry }: Item): RefreshRecord | undefined =>
  entry?.B ? unpackRecord(entry.B) : undefined;
