/**
 * The log of the market stream in DynamoDB, in the table of snapshots: a partition of its own, with an item for each batch.
 * Instances read it as often as the refresh log, so that neither takes units of the other's key. The listener needs PutItem
 * and Query, instances need Query.
 */

import { beginMs, type StreamedBatch, type StreamedLog } from '../../lib/cache/snapshots/index.ts';
import { compress, decompress } from './brotli.ts';
import { type SharedStoreOptions, withLimit } from './dynamo-client.ts';
import { expression, isAbsent, put, query } from './dynamo-expressions.ts';
import { type Item, isMet, queryAll, seconds } from './dynamo-items.ts';
import { recordKey, shardKey } from './snapshot-keys.ts';

interface StreamedLogOptions extends SharedStoreOptions {
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** Version of the bytes, raised when their meaning changes; batches of another version are not read. */
const version = 1;
/** Most batches since a whole one: in a busy market two seconds are twenty batches, in a quiet one ten seconds are ten. */
const maxSinceWhole = 40;
const maxPages = 4;
const maxBytes = 16 * 1024 * 1024;
/** How long batches are kept: longer than any pause of the listener, because its sequence continues from the last one. */
const keptMs = 24 * 3_600_000;

/** @example const log = createDynamoStreamedLog({ client, tableName, partition: storePartition(upstream, partition) }); */
export function createDynamoStreamedLog({
  client,
  tableName,
  partition,
  // A client waits for the function meanwhile.
  timeoutMs = 300,
  clock = Date.now,
}: StreamedLogOptions): StreamedLog {
  const sender = withLimit(client, { timeoutMs });
  const pk = shardKey(partition, 'stream', 0);

  function latest(count: number, isConsistent: boolean): Promise<readonly Item[]> {
    const newest = { ScanIndexForward: false, Limit: count, ConsistentRead: isConsistent };
    return queryAll(sender, query(tableName, expression`pk = ${pk}`, newest), 1);
  }

  return {
    async read(after) {
      if (after !== undefined) {
        const isLater = expression`pk = ${pk} AND sk > ${recordKey(after)}`;
        const items = await queryAll(sender, query(tableName, isLater), maxPages);
        return items.flatMap((item) => toBatch(item) ?? []);
      }
      const found = (await latest(maxSinceWhole, false)).flatMap((item) => toBatch(item) ?? []);
      const whole = found.findIndex(({ carried }) => carried);
      const isYoung = whole >= 0 && found[whole]!.at >= clock() - beginMs;
      return isYoung ? found.slice(0, whole + 1).reverse() : [];
    },
    async write(batch) {
      const expires_at = seconds(clock() + keptMs);
      const values = { pk, sk: recordKey(batch.sequence), batch: packBatch(batch), expires_at };
      return isMet(sender.send('PutItem', put(tableName, values, isAbsent)));
    },
    async last() {
      const [item] = await latest(1, true);
      return Number(item?.sk?.S ?? 0);
    },
  };
}

/** Changes grouped by category and set of members, with each member's values side by side, which compresses best. */
interface Packed extends Omit<StreamedBatch, 'changes'> {
  readonly v: number;
  readonly changes: readonly (readonly [
    category: string,
    names: readonly string[],
    symbols: readonly string[],
    columns: readonly (readonly string[])[],
  ])[];
}

export function packBatch({ changes, ...batch }: StreamedBatch): Uint8Array {
  const blocks = new Map<string, StreamedBatch['changes'][number][]>();
  for (const change of changes) {
    const key = JSON.stringify([change.category, Object.keys(change.members)]);
    const block = blocks.get(key) ?? [];
    block.push(change);
    blocks.set(key, block);
  }
  const packed: Packed = {
    v: version,
    ...batch,
    changes: [...blocks].map(([key, block]) => {
      const [category, names] = JSON.parse(key) as [string, readonly string[]];
      const columns = names.map((name) => block.map(({ members }) => members[name] ?? ''));
      return [category, names, block.map(({ symbol }) => symbol), columns];
    }),
  };
  return compress(Buffer.from(JSON.stringify(packed)));
}

/** Reads a batch; undefined for one of another version. */
function toBatch({ batch }: Item): StreamedBatch | undefined {
  try {
    const text = decompress(batch?.B ?? new Uint8Array(), maxBytes).toString();
    const { v, changes, ...rest } = JSON.parse(text) as Packed;
    if (v !== version) return undefined;
    return {
      ...rest,
      changes: changes.flatMap(([category, names, symbols, columns]) =>
        symbols.map((symbol, row) => ({
          category,
          symbol,
          members: Object.fromEntries(names.map((name, column) => [name, columns[column]?.[row] ?? ''])),
        })),
      ),
    };
  } catch {
    return undefined;
  }
}
