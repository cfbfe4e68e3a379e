/** A cancel waits for no permit that another operation takes, under each choice of limits. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { operations } from '../../lib/catalogue/index.ts';
import { limitPresets } from '../../lib/catalogue/limits.ts';
import { limitsOf } from '../../lib/gateway/limits/operation-limits.ts';
import { each } from '../support/each.ts';

const cancels = operations.filter(({ sideEffect }) => sideEffect?.cancels);

test('there is a cancel', () => {
  assert.deepEqual(each(cancels, 'id'), ['cancelOrder']);
});

for (const upstreamLimits of Object.keys(limitPresets) as (keyof typeof limitPresets)[])
  test(`under ${upstreamLimits} a cancel counts against nothing, or against a counter of its own`, () => {
    const countersOf = (operation: (typeof operations)[number]) =>
      limitsOf(operation, { operationLimits: {}, upstreamLimits }) ?? [];
    const others = new Set(operations.filter((one) => !cancels.includes(one)).flatMap(countersOf));
    for (const cancel of cancels) {
      assert.equal(countersOf(cancel).length, upstreamLimits === 'interface' ? 0 : 1);
      for (const counter of countersOf(cancel)) assert.ok(!others.has(counter), counter);
    }
  });
