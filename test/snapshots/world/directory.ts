/** The market's list of symbols: pages of the upstream on the virtual clock, and the store before a network. */

import { createMemoryDirectoryStore } from '../../../lib/cache/snapshots/directory.ts';
import type { DirectoryStore, Listings, SymbolLists } from '../../../lib/cache/snapshots/index.ts';
import { normal } from '../../world/random.ts';
import type { VirtualTime } from '../../world/virtual-time.ts';
import { nameOf } from './load.ts';
import { storeLatency, type UnitMeter } from './platform.ts';

/** As many of each kind as the market has. */
export const marketSize = { US_STOCK: 8500, US_ETF: 3500 } as const;
const pageSize = 1000;

type Symbols = Readonly<Record<string, readonly string[]>>;

export const market = (): Symbols =>
  Object.fromEntries(
    Object.entries(marketSize).map(([category, size]) => [
      category,
      Array.from({ length: size }, (_, rank) => nameOf(category, rank)),
    ]),
  );

export interface VirtualListings extends Listings {
  /** Pages that were asked for. */
  readonly asked: number;
  setDown(down: boolean): void;
}

/** One list for each category, as it is when a page is asked for. */
export function createVirtualListings(
  time: VirtualTime,
  random: () => number,
  symbols: Symbols,
  size = pageSize,
): VirtualListings {
  let asked = 0;
  let down = false;
  const categories = Object.keys(symbols);
  return {
    count: categories.length,
    get asked() {
      return asked;
    },
    setDown(isDown) {
      down = isDown;
    },
    async ask(list, cursor, timeoutMs) {
      asked++;
      const totalMs = 300 * Math.exp(0.5 * normal(random));
      await time.sleep(Math.min(totalMs, timeoutMs));
      if (down || totalMs > timeoutMs) return undefined;
      const category = categories[list]!;
      const all = symbols[category]!;
      const from = Number(cursor ?? 0);
      const next = from + size;
      return {
        symbols: new Map([[category, all.slice(from, next)]]),
        ...(next < all.length && { next: String(next) }),
      };
    },
  };
}

/** Compressed, a symbol takes two bytes and a half. */
const bytesOf = (symbols: SymbolLists['symbols']): number =>
  100 + [...symbols.values()].reduce((total, { length }) => total + 2.5 * length, 0);
const copies = 4;

export interface VirtualDirectoryStore {
  /** What one instance has of it. */
  connect(): DirectoryStore;
  /** Puts a complete list there, as of an hour ago. */
  fill(symbols: Symbols): Promise<void>;
}

export function createVirtualDirectoryStore(
  time: VirtualTime,
  random: () => number,
  units: UnitMeter,
): VirtualDirectoryStore {
  const store = createMemoryDirectoryStore();
  async function trip<T>(work: () => Promise<T>): Promise<T> {
    const total = storeLatency(random);
    await time.sleep(total / 2);
    const answer = await work();
    await time.sleep(total / 2);
    return answer;
  }
  const read = (key: string, content: { readonly symbols: SymbolLists['symbols'] } | undefined) =>
    units.charge(key, { read: Math.max(1, Math.ceil((content ? bytesOf(content.symbols) : 1) / 4096)) / 2 });
  const write = (key: string, symbols: SymbolLists['symbols']) =>
    units.charge(key, { write: Math.ceil(bytesOf(symbols) / 1024) });
  return {
    async fill(symbols) {
      const hour = 3_600_000;
      await store.writeDirectory({
        completedAt: time.now() - hour,
        symbols: new Map(Object.entries(symbols)),
      });
    },
    connect: () => ({
      readDirectory: () =>
        trip(async () => {
          const found = await store.readDirectory();
          read(`directory ${Math.floor(random() * copies)}`, found);
          return found;
        }),
      writeDirectory: (directory) =>
        trip(async () => {
          for (let copy = 0; copy < copies; copy++) write(`directory ${copy}`, directory.symbols);
          await store.writeDirectory(directory);
        }),
      readDraft: () =>
        trip(async () => {
          const found = await store.readDraft();
          read('draft', found);
          return found;
        }),
      writeDraft: (draft) =>
        trip(async () => {
          write('draft', draft.symbols);
          return store.writeDraft(draft);
        }),
    }),
  };
}
