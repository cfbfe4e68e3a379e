/**
 * The directory store of a deployed function, in the table of snapshots. The directory has a copy in each of some
 * partitions, because in a storm a thousand instances read it within a second. A function needs GetItem and PutItem.
 */

import {
  type DirectoryDraft,
  type DirectoryStore,
  emptyDraft,
  type SymbolLists,
} from '../../lib/cache/snapshots/index.ts';
import { compress, decompress } from './brotli.ts';
import { type SharedStoreOptions, withLimit } from './dynamo-client.ts';
import { isRevision, put } from './dynamo-expressions.ts';
import { isMet, seconds, toItem } from './dynamo-items.ts';

interface DirectoryStoreOptions extends SharedStoreOptions {
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Random numbers from 0 to below 1, which choose the copy to read. */
  readonly random?: () => number;
}

const copies = 4;
/** How long the directory is stored: longer than any instance uses it. */
const storedMs = 7 * 24 * 3_600_000;
const maxUnpacked = 16 * 1024 * 1024;

/** @example const store = createDynamoDirectoryStore({ client: createDynamoClient(), tableName: 'cache', partition: 'upstream' }); */
export function createDynamoDirectoryStore(options: DirectoryStoreOptions): DirectoryStore {
  const { tableName: TableName, partition, clock = Date.now, random = Math.random } = options;
  // The default is longer than other stores', because the items are larger.
  const client = withLimit(options.client, { timeoutMs: options.timeoutMs ?? 500 });
  const keyOf = (item: string) => ({ pk: `quotes#${partition}#${item}`, sk: 'directory' });

  async function read(item: string) {
    const { Item } = await client.send('GetItem', { TableName, Key: toItem(keyOf(item)) });
    return Item;
  }

  const valuesOf = (item: string, content: object) => ({
    ...keyOf(item),
    content: pack(content),
    expires_at: seconds(clock() + storedMs),
  });

  return {
    async readDirectory() {
      const item = await read(`directory#${Math.floor(random() * copies)}`);
      return item?.content?.B && unpack<SymbolLists>(item.content.B);
    },

    async writeDirectory({ completedAt, symbols }) {
      const content = { completedAt, symbols: sorted(symbols) };
      for (let copy = 0; copy < copies; copy++)
        await client.send('PutItem', put(TableName, valuesOf(`directory#${copy}`, content)));
    },

    async readDraft() {
      const item = await read('draft');
      if (!item) return undefined;
      const draft = item.content?.B && unpack<DirectoryDraft>(item.content.B);
      // A draft that cannot be read is overwritten.
      return { ...(draft ?? emptyDraft), revision: Number(item.revision?.N ?? 0) };
    },

    async writeDraft({ symbols, ...draft }) {
      const { revision } = draft;
      const values = { ...valuesOf('draft', { ...draft, symbols: sorted(symbols) }), revision };
      return isMet(client.send('PutItem', put(TableName, values, isRevision(revision - 1))));
    },
  };
}

const pack = (content: object) => compress(Buffer.from(JSON.stringify(content)));

/** Sorts symbols: compressed, they take half of the bytes in alphabetical order. */
const sorted = (symbols: SymbolLists['symbols']) =>
  Object.fromEntries([...symbols].map(([category, all]) => [category, [...all].sort()]));

/** Unpacks a content; undefined for one that another version wrote. */
function unpack<T extends { readonly symbols: unknown }>(packed: Uint8Array): T | undefined {
  try {
    const { symbols, ...rest } = JSON.parse(decompress(packed, maxUnpacked).toString()) as T & {
      readonly symbols: Readonly<Record<string, readonly string[]>>;
    };
    const all = Object.entries(symbols);
    if (!all.every(([, list]) => Array.isArray(list) && list.every((one) => typeof one === 'string')))
      return undefined;
    return { ...rest, symbols: new Map(all) } as unknown as T;
  } catch {
    return undefined;
  }
}
