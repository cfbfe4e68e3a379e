/** Reserved concurrency: a flood of reads takes no instance that orders need. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { type Group, getStockSnapshots, listAccounts, placeOrder } from '../../lib/catalogue/index.ts';
import { synthesise } from './synthesise.ts';

const operations = [getStockSnapshots, listAccounts, placeOrder];
const groups = { accounts: 'iam', orders: 'iam' } as const;

function reserved(reservedConcurrency: 'none' | Partial<Record<Group, number | 'none'>> = {}) {
  const { functionOf } = synthesise({ operations, groups, functions: { reservedConcurrency } });
  const of = (group: Group) => functionOf(group)[1].Properties.ReservedConcurrentExecutions;
  return [of('market-data'), of('accounts'), of('orders')];
}

test('groups with side effects have instances of their own, the others share what is left', () => {
  assert.deepEqual(reserved(), [undefined, undefined, 10]);
});

test('figures of the deployer’s, and none', () => {
  assert.deepEqual(reserved({ 'market-data': 500, accounts: 5, orders: 'none' }), [500, 5, undefined]);
});

test('one word for every group, as a new account needs it', () => {
  assert.deepEqual(reserved('none'), [undefined, undefined, undefined]);
});

test('by default, where nothing has a side effect, nothing of the account is reserved', () => {
  const { all } = synthesise();
  for (const [id, { Properties }] of all('AWS::Lambda::Function'))
    assert.equal(Properties.ReservedConcurrentExecutions, undefined, id);
});
