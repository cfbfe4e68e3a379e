/** A budget store for one process: the local run, and tests. */

import type { LimiterItem, LimiterStore, WriteAnswer } from './store.ts';

export function createMemoryLimiterStore(): LimiterStore {
  const items = new Map<string, LimiterItem>();
  const written = (key: string, item: LimiterItem): WriteAnswer => {
    items.set(key, item);
    return { written: true, item };
  };
  return {
    async read(key) {
      return items.get(key);
    },
    async add(key, revision, additions, writtenAt) {
      const item = items.get(key);
      if (item?.revision !== revision) return { written: false, item };
      const counters = { ...item.counters };
      for (const { counter, by, min, max } of additions) {
        const value = counters[counter];
        if (value === undefined || value < min || value > max) return { written: false, item };
        counters[counter] = value + by;
      }
      return written(key, { ...item, counters, writtenAt });
    },
    async replace(key, expected, next) {
      const item = items.get(key);
      return isSame(item, expected) ? written(key, next) : { written: false, item };
    },
  };
}

function isSame(item: LimiterItem | undefined, expected: LimiterItem | undefined): boolean {
  if (!item || !expected) return item === expected;
  return (
    item.revision === expected.revision &&
    Object.entries(expected.counters).every(([name, value]) => item.counters[name] === value)
  );
}
