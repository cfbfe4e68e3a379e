/** Each function behind the API has the steps that its operations need, and no others. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { composeResponses } from '../../functions/compose/gateway.ts';
import { composeOrders, composeOutcomes, composeUnguarded } from '../../functions/compose/orders.ts';
import { quoteOffer } from '../../functions/compose/quote-streams.ts';
import { offerOf } from '../../functions/compositions.ts';
import { apiNames, operationsIn } from '../../functions/rows.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import { isGuarded } from '../../lib/catalogue/operation.ts';

// Streams of order events have no steps of a gateway that asks.
for (const name of apiNames.filter((one) => one !== 'order-streams'))
  test(name, () => {
    const {
      operations: own,
      checks,
      orders,
      cache,
      verifier,
    } = offerOf(name) ?? quoteOffer({ perCaller: 1, processes: 1 });
    assert.deepEqual(new Set(own), new Set(operationsIn(name, [...operations, ...liveOperations])));
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
