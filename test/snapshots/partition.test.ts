/** Each operation by symbol has a partition of its own in each account. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { snapshotPartition } from '../../lib/cache/snapshots/index.ts';
import { getStockSnapshots } from '../../lib/catalogue/market-data/snapshots.ts';

test('two operations of one account, and one operation of two accounts, share no partition', () => {
  const names = ['a1', 'a2'].flatMap((account) =>
    [getStockSnapshots.id, 'getOtherSnapshots', 'getMore'].map((id) => snapshotPartition(account, id)),
  );
  assert.equal(new Set(names).size, names.length);
});

test('the first operation keeps the partition that it has always had', () => {
  assert.equal(snapshotPartition('a1', getStockSnapshots.id), 'a1');
});
