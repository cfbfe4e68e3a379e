/** A limit that can be set is checked, and told: one that nothing looks at would compile, and let every order pass. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { checkNames, limitNames, type TradingLimits } from '../../lib/guard-rails/limits.ts';
import { firstColumn } from '../docs/pages.ts';
import { limited, outcomeOf, startGuarded } from './guarded.ts';

/** For each check limits that the second of two equal orders fails, and that check alone. */
const failing: Readonly<Record<(typeof checkNames)[number], TradingLimits>> = {
  restricted_symbols: { restricted_symbols: ['AAPL'] },
  allowed_symbols: { allowed_symbols: ['MSFT'] },
  allowed_sides: { allowed_sides: ['SELL'] },
  allowed_order_types: { allowed_order_types: ['MARKET'] },
  allowed_sessions: { allowed_sessions: ['NIGHT'] },
  max_order_quantity: { max_order_quantity: '0.5' },
  price_collar: { price_collar: '1' },
  max_order_notional: { max_order_notional: '0.01' },
  max_orders_per_minute: { max_orders_per_minute: 1 },
  max_duplicative_orders: { max_duplicative_orders: { orders: 1, seconds: 60 } },
  max_open_notional: { max_open_notional: '0.01' },
};

describe('each limit blocks', () => {
  for (const check of checkNames)
    test(check, async (t) => {
      const { place } = await startGuarded(t, { limits: failing[check] });
      await place(limited('first-of-two-orders', '1', '1'));
      assert.match(
        outcomeOf(await place(limited('second-of-two-orders', '1', '1'))),
        new RegExp(`^blocked: ${check} `),
      );
    });
});

test('docs/orders.md says what each limit bounds', () => {
  const page = firstColumn('docs/orders.md', 'Guard rails');
  for (const name of checkNames) assert.ok(page.includes(name), name);
  assert.ok(limitNames.length > checkNames.length);
});
