/** A limiter's store that counts its operations. */

import type { LimiterStore, WriteAnswer } from '../../lib/limiter/index.ts';

export interface Operations {
  reads: number;
  writes: number;
  /** Of the writes. */
  refused: number;
}

export function counting(store: LimiterStore): {
  readonly store: LimiterStore;
  readonly operations: Operations;
} {
  const operations: Operations = { reads: 0, writes: 0, refused: 0 };
  const write = async (answer: Promise<WriteAnswer>) => {
    operations.writes++;
    const result = await answer;
    if (!result.written) operations.refused++;
    return result;
  };
  return {
    operations,
    store: {
      read: (key) => {
        operations.reads++;
        return store.read(key);
      },
      add: (...args) => write(store.add(...args)),
      replace: (...args) => write(store.replace(...args)),
    },
  };
}
