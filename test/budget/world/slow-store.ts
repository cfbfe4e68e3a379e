/** The budget's own store in memory, as far away as a real one, and with what can go wrong in between. */

import { type BudgetStore, createMemoryBudgetStore } from '../../../lib/gateway/budget/index.ts';
import type { Random } from './random.ts';
import type { VirtualClock } from './virtual-clock.ts';

export const worldKey = 'world';

export type StoreFault =
  /** Rejects at once and changes nothing. */
  | 'throttled'
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

export interface SlowStore {
  /** One instance's connection: what comes back is handed over by `gate`. */
  connect(gate: (run: () => void) => void, always?: StoreFault): BudgetStore;
  readonly operations: Operations;
  /** Puts in the item's place one that is no plan. */
  spoil(): Promise<void>;
  fault: (now: number) => StoreFault | undefined;
}

export function createSlowStore(clock: VirtualClock, random: Random): SlowStore {
  const inner = createMemoryBudgetStore();
  const operations: Operations = { reads: 0, writes: 0, refused: 0, failed: 0 };
  const store: SlowStore = {
    operations,
    fault: () => undefined,
    async spoil() {
      const item = await inner.read(worldKey);
      await inner.replace(worldKey, item, { ...item!, revision: 'spoilt', text: '{"version":0}' }, 0);
    },
    connect(gate, always) {
      const call = <T>(operation: () => Promise<T>, count: (answer: T) => void): Promise<T> =>
        new Promise((resolve, reject) => {
          const way = 2 + random() * 2;
          clock.after(way, () => {
            const fault = always ?? store.fault(clock.now);
            if (fault === 'silent' || fault === 'throttled') operations.failed++;
            if (fault === 'silent') return;
            const back = fault === 'slow' ? 2000 : way;
            const answer = (deliver: () => void) => clock.after(back, () => gate(deliver));
            if (fault === 'throttled') return void answer(() => reject(new Error('throttled')));
            void operation().then((said) => {
              count(said);
              answer(() => resolve(fault === 'nonsense' ? (nonsense(said) as T) : said));
            });
          });
        });
      const countWrite = ({ written }: { readonly written: boolean }) => {
        operations.writes++;
        if (!written) operations.refused++;
      };
      return {
        read: (key) =>
          call(
            () => inner.read(key),
            () => operations.reads++,
          ),
        add: (...args) => call(() => inner.add(...args), countWrite),
        replace: (...args) => call(() => inner.replace(...args), countWrite),
      };
    },
  };
  return store;
}

function nonsense(said: unknown): unknown {
  const item = { revision: 'x', counters: { 'market-data': Number.NaN }, text: '[]', writtenAt: Number.NaN };
  return said && typeof said === 'object' && 'written' in said ? { written: true, item } : item;
}
