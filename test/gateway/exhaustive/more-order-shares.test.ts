/** As order-shares.test.ts: more of each load, for longer, and the loads that are shared or have limits of their own. */

import { test } from 'vitest';
import { holdShares, loads, otherLoads } from '../order-loads.ts';

for (const [kind, perSecond] of [
  ...Object.keys(loads).map((kind) => [kind, 50] as const),
  ...Object.keys(otherLoads).map((kind) => [kind, 10] as const),
])
  test(`${perSecond} ${kind} a second of one user cost another no answer`, (t) =>
    holdShares(t, kind, perSecond, 130));

test('nor do 10 market orders a second where the upstream limits all market data, but no orders', (t) =>
  holdShares(t, 'market orders', 10, 130, 'interface'));
