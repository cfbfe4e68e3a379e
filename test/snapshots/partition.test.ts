/** Each operation by symbol has a partition of its own in each account. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { snapshotPartition } from '../../lib/cache/snapshots/index.ts';
import { getStockSnapshots, operations } from '../../lib/catalogue/index.ts';

test('two operations of one account, and one operation of two accounts, share no partition', () => {
  const names = ['a1', 'a2'].flatMap((account) =>
    [getStockSnapshots, { id: 'getOtherSnapshots' }, { id: 'getMore' }].map((one) =>
      snapshotPartition(account, one),
    ),
  );
  assert.equal(new Set(names).size, names.length);
});

test('the first operation keeps the partition that it has always had', () => {
  assert.equal(snapshotPartition('a1', getStockSnapshots), 'a1');
});

test('one operation at most has the account’s own partition', () => {
  const names = operations.filter((one) => one.hasAccountPartition).map(({ id }) => id);
  assert.deepEqual(names, [getStockSnapshots.id]);
});
