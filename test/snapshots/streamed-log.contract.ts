/** What every log of the market stream must do. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { StreamedBatch, StreamedLog } from '../../lib/cache/snapshots/index.ts';

const start = 1_795_239_000_000;

const batch = (sequence: number, more: Partial<StreamedBatch> = {}): StreamedBatch => ({
  sequence,
  at: start + sequence,
  signs: [start + sequence - 1],
  changes: [
    { category: 'US_STOCK', symbol: 'A"', members: { price: '1.10', volume: '1E3' } },
    { category: 'US_ETF', symbol: 'B', members: { price: `${sequence}`, last_trade_time: '5' } },
    { category: 'US_STOCK', symbol: 'C', members: { price: '2', volume: '' } },
  ],
  ...more,
});
const whole = { carried: [{ category: 'US_STOCK', symbols: ['A"', 'C'] }] };

/** In no order of their changes: a log may sort them. */
const sorted = (batches: readonly StreamedBatch[]) =>
  batches.map((one) => ({
    ...one,
    changes: [...one.changes].sort((a, b) => (a.symbol < b.symbol ? -1 : 1)),
  }));

export function streamedLogContract(name: string, create: (clock: () => number) => StreamedLog): void {
  describe(name, () => {
    test('every batch after a number comes back as it was written, in order', async () => {
      const log = create(() => start);
      const batches = [batch(1, whole), batch(2), batch(3, { changes: [] }), batch(4, whole)];
      for (const one of batches) assert.equal(await log.write(one), true);
      assert.deepEqual(sorted(await log.read(0)), sorted(batches));
      assert.deepEqual(sorted(await log.read(2)), sorted(batches.slice(2)));
      assert.deepEqual(await log.read(4), []);
      assert.equal(await log.last(), 4);
    });

    test('a reader that begins has the last whole batch and what follows, if it is young enough', async () => {
      const time = { now: start };
      const log = create(() => time.now);
      assert.deepEqual(await log.read(), []);
      assert.equal(await log.last(), 0);
      await log.write(batch(1));
      assert.deepEqual(await log.read(), []);
      for (const one of [batch(2, whole), batch(3), batch(4, whole), batch(5), batch(6)])
        await log.write(one);
      assert.deepEqual(
        (await log.read()).map(({ sequence }) => sequence),
        [4, 5, 6],
      );
      time.now += 60_000;
      assert.deepEqual(await log.read(), []);
      assert.equal(await log.last(), 6);
    });

    test('a number that is taken is not written over', async () => {
      const log = create(() => start);
      assert.equal(await log.write(batch(1, whole)), true);
      assert.equal(await log.write(batch(1, { changes: [] })), false);
      assert.equal((await log.read(0))[0]?.changes.length, 3);
    });
  });
}
