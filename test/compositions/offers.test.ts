/** Each function behind the API has the steps that its operations need, and no others. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { composeResponses } from '../../functions/compose/gateway.ts';
import * as offers from '../../functions/compose/offers.ts';
import { composeOrders, composeOutcomes, composeUnguarded } from '../../functions/compose/orders.ts';
import { operationsIn } from '../../lib/catalogue/functions.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { isGuarded } from '../../lib/catalogue/operation.ts';

const named = {
  ...offers,
  'market-data': offers.marketData,
  'order-cancels': offers.orderCancels,
  'order-reads': offers.orderReads,
};
const { marketData: _, orderCancels: __, orderReads: ___, ...functions } = named;

for (const [name, offer] of Object.entries(functions))
  test(name, () => {
    const { operations: own, checks, orders, cache, verifier } = offer();
    assert.deepEqual(
      new Set(own),
      new Set(operationsIn(name as Parameters<typeof operationsIn>[0], operations)),
    );
    const guarded = own.some(isGuarded);
    const journaled = own.some(({ sideEffect }) => sideEffect?.journal);
    const told = own.some(({ answeredBy }) => answeredBy === 'journal');
    const needed = guarded
      ? composeOrders
      : journaled
        ? composeUnguarded
        : told
          ? composeOutcomes
          : undefined;
    assert.equal(orders, needed);
    assert.equal(checks !== undefined, guarded);
    assert.equal(
      verifier !== undefined,
      own.some(({ group }) => isAccountData(group)),
    );
    assert.equal(
      cache !== composeResponses,
      own.some(({ freshness }) => freshness === 'by-symbol'),
    );
  });
