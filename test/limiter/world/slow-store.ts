/** The budget's own store in memory, as far away as a real one, and with what can go wrong in between. */

import {
  createMemoryLimiterStore,
  type LimiterItem,
  type LimiterStore,
  StoreThrottled,
} from '../../../lib/limiter/index.ts';
import { bytesOf, KeyUnits, readUnits, type UnitKind, type Units, writeUnits } from './key-units.ts';
import type { Random } from './random.ts';
import type { VirtualClock } from './virtual-clock.ts';

export const worldKey = 'world';

export type StoreFault =
  /** Rejects at once as throttled, and changes nothing. */
  | 'throttled'
  /** Rejects at once with something else, and changes nothing. */
  | 'unavailable'
  /** Never answers; nothing is written. */
  | 'silent'
  /** Written, but the answer takes two seconds. */
  | 'slow'
  /** Answers what is none. */
  | 'nonsense';

export interface Operations {
  reads: number;
  writes: number;
  refused: number;
  failed: number;
}

/** One instance's way to the store. */
export interface Connection {
  /** Hands over what comes back. */
  readonly gate: (run: () => void) => void;
  /** By which `fault` tells instances apart. */
  readonly instance: number;
  readonly always?: StoreFault | undefined;
}

export interface SlowStoreOptions {
  /** Default none. */
  readonly unitCap?: Units | undefined;
  /** One operation in a hundred takes ten times as long, one in a thousand a hundred times. */
  readonly tail?: boolean | undefined;
}

export interface SlowStore {
  connect(connection: Connection): LimiterStore;
  readonly operations: Operations;
  readonly units: KeyUnits;
  /** Puts in the item's place one that is no plan. */
  spoil(): Promise<void>;
  bytes(): Promise<number>;
  fault: (now: number, instance: number) => StoreFault | undefined;
}

export function createSlowStore(
  clock: VirtualClock,
  random: Random,
  options: SlowStoreOptions = {},
): SlowStore {
  const inner = createMemoryLimiterStore();
  const operations: Operations = { reads: 0, writes: 0, refused: 0, failed: 0 };
  const units = new KeyUnits(clock, options.unitCap);
  // The size of each item as it was last written, known without a promise in between.
  const sizes = new Map<string, number>();

  function wayMs(): number {
    const way = 2 + random() * 2;
    if (!options.tail) return way;
    const luck = random();
    return luck < 0.001 ? way * 100 : luck < 0.01 ? way * 10 : way;
  }

  function take(kind: UnitKind, bytes: number): boolean {
    return units.take(kind, kind === 'read' ? readUnits(bytes) : writeUnits(bytes));
  }

  const store: SlowStore = {
    operations,
    units,
    fault: () => undefined,
    bytes: async () => bytesOf(await inner.read(worldKey)),
    async spoil() {
      const item = await inner.read(worldKey);
      await inner.replace(worldKey, item, { ...item!, revision: 'spoilt', text: '{"version":0}' }, 0);
    },
    connect({ gate, instance, always }) {
      const call = <T>(
        charge: () => boolean,
        operation: () => Promise<T>,
        count: (answer: T) => void,
      ): Promise<T> =>
        new Promise((resolve, reject) => {
          const way = wayMs();
          clock.after(way, () => {
            const fault = always ?? store.fault(clock.now, instance);
            const lost = fault === 'silent' || fault === 'throttled' || fault === 'unavailable';
            if (lost) operations.failed++;
            if (fault === 'silent') return;
            const back = fault === 'slow' ? 2000 : way;
            const answer = (deliver: () => void) => clock.after(back, () => gate(deliver));
            if (fault === 'unavailable') return void answer(() => reject(new Error('unavailable')));
            if (fault === 'throttled' || !charge()) return void answer(() => reject(new StoreThrottled()));
            void operation().then((said) => {
              count(said);
              answer(() => resolve(fault === 'nonsense' ? (nonsense(said) as T) : said));
            });
          });
        });
      const written =
        (key: string) => (answer: { readonly written: boolean; readonly item: LimiterItem | undefined }) => {
          operations.writes++;
          if (!answer.written) operations.refused++;
          sizes.set(key, bytesOf(answer.item));
        };
      const sizeOf = (key: string) => sizes.get(key) ?? 0;
      return {
        read: (key) =>
          call(
            () => take('read', sizeOf(key)),
            () => inner.read(key),
            () => operations.reads++,
          ),
        add: (...args) =>
          call(
            () => take('write', sizeOf(args[0])),
            () => inner.add(...args),
            written(args[0]),
          ),
        replace: (...args) =>
          call(
            () => take('write', Math.max(sizeOf(args[0]), bytesOf(args[2]))),
            () => inner.replace(...args),
            written(args[0]),
          ),
      };
    },
  };
  return store;
}

function nonsense(said: unknown): unknown {
  const item = { revision: 'x', counters: { 'market-data': Number.NaN }, text: '[]', writtenAt: Number.NaN };
  return said && typeof said === 'object' && 'written' in said ? { written: true, item } : item;
}
