/** A log of the market stream for one process: the local run, and tests. */

import { beginMs, type StreamedBatch, type StreamedLog } from './streamed.ts';

/** Far more than any instance looks back. */
const maxBatches = 256;

export function createMemoryStreamedLog(clock: () => number = Date.now): StreamedLog {
  let batches: readonly StreamedBatch[] = [];
  const last = () => batches.at(-1)?.sequence ?? 0;
  return {
    async read(after) {
      if (after !== undefined) return batches.filter(({ sequence }) => sequence > after);
      const whole = batches.filter(({ carried }) => carried).at(-1);
      return whole && whole.at >= clock() - beginMs ? batches.slice(batches.indexOf(whole)) : [];
    },
    async write(batch) {
      if (batch.sequence <= last()) return false;
      batches = [...batches.slice(1 - maxBatches), batch];
      return true;
    },
    async last() {
      return last();
    },
  };
}
