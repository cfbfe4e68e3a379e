/** Each function behind the API has the steps that its operations need, and no others. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { composeResponses } from '../../functions/compose/gateway.ts';
import * as offers from '../../functions/compose/offers.ts';
import * as orderOffers from '../../functions/compose/order-offers.ts';
import { composeOrders, composeOutcomes, composeUnguarded } from '../../functions/compose/orders.ts';
import { quoteOffer } from '../../functions/compose/quote-streams.ts';
import { operationsIn } from '../../lib/catalogue/functions.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import { isGuarded } from '../../lib/catalogue/operation.ts';

const { marketData, offer: _, ofAccounts: __, ...facts } = offers;
const { orderCancels, orderReads, ...others } = orderOffers;
const functions = {
  ...facts,
  ...others,
  'market-data': marketData,
  'order-cancels': orderCancels,
  'order-reads': orderReads,
  'quote-streams': () => quoteOffer({ perCaller: 1, processes: 1 }),
};

for (const [name, offer] of Object.entries(functions))
  test(name, () => {
    const { operations: own, checks, orders, cache, verifier } = offer();
    assert.deepEqual(
      new Set(own),
      new Set(operationsIn(name as Parameters<typeof operationsIn>[0], [...operations, ...liveOperations])),
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
      own.some(({ follows, freshness }) => (follows?.freshness ?? freshness) === 'by-symbol'),
    );
  });
