/** With roles enforced: each function works with exactly its role, and does without what it lacks. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { accountId, orderBody } from '../support/core.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { ask, deployedStage, pause } from './deployed-stage.ts';
import { roleOf } from './roles.ts';
import { canary, snapshots } from './stage.ts';

const id = 'emulator-01';
const order = orderBody({
  client_order_id: id,
  order_type: 'LIMIT',
  limit_price: '1.10',
  quantity: '10',
  time_in_force: 'GTC',
});

/** Of the order that was placed before: each is called in turn. */
const cancel = JSON.stringify({ account_id: accountId, client_order_id: id });

/** One call to each function. The groups of one account are opened with IAM, the only way there is. */
const calls = {
  marketdata: { path: snapshots },
  instruments: { path: '/trading/instruments/stocks/profiles/list?category=US_STOCK' },
  screeners: { path: '/market-data/screeners/top-actives/list?category=US_STOCK' },
  fundamentals: { path: '/market-data/fundamentals/company-profiles/get?symbol=AAPL&category=US_STOCK' },
  watchlists: { path: '/market-data/watchlists/list', iam: true },
  accounts: { path: '/trading/accounts/list', iam: true },
  orders: { path: '/trade/place_order', iam: true, body: order },
  ordercancels: { path: '/trading/orders/cancel', iam: true, body: cancel },
  orderreads: {
    path: `/trading/orders/open-orders/list?account_id=${accountId}`,
    iam: true,
  },
} as const;

/** Calls whose answers are in no cache yet. */
const unknown = {
  ...calls,
  instruments: { path: '/trading/instruments/stocks/profiles/list?category=US_STOCK&symbols=MSFT' },
  marketdata: { path: '/openapi/market-data/stock/quotes?symbol=MSFT&category=US_STOCK' },
  screeners: { path: '/market-data/screeners/week52-high-low/list?category=US_STOCK' },
  fundamentals: { path: '/market-data/fundamentals/company-profiles/get?symbol=MSFT&category=US_STOCK' },
  watchlists: { path: '/market-data/watchlists/instruments/list?watchlist_id=40218837', iam: true },
} as const;

/** What counts against the upstream's limit. */
const counted: readonly (keyof typeof calls)[] = [
  'instruments',
  'marketdata',
  'screeners',
  'fundamentals',
  'watchlists',
];

/** What asks who calls. */
const asking: readonly (keyof typeof calls)[] = [
  'accounts',
  'orders',
  'ordercancels',
  'orderreads',
  'watchlists',
];

/** What changes something at the upstream. */
const journaled: readonly (keyof typeof calls)[] = ['orders', 'ordercancels', 'watchlists'];

/** What has answers that several clients share, here of an operation that may be called again. */
const cached: readonly (keyof typeof calls)[] = [
  'marketdata',
  'instruments',
  'screeners',
  'fundamentals',
  'accounts',
  'orderreads',
  'watchlists',
];

describe('with roles enforced', needsEmulator(), () => {
  const stage = deployedStage({
    enforced: true,
    granted: true,
    props: { groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam' } },
  });

  async function call(
    group: keyof typeof calls,
    of: typeof calls | typeof unknown = calls,
  ): Promise<Response> {
    const { path, ...how } = of[group];
    return 'iam' in how ? ask(stage, path, 'body' in how ? how.body : undefined) : stage.call(path);
  }

  for (const group of Object.keys(calls) as (keyof typeof calls)[])
    test(`${group}: not without the permissions to read the secret and users, and with them`, async () => {
      const role = await roleOf(stage, group);
      assert.deepEqual(await role.policies(), [
        ...(group === 'orders' ? ['AskToCancel'] : []),
        // Accounts and orders count under tighter limits.
        'CountRequests',
        ...(journaled.includes(group) ? ['KeepJournal'] : []),
        ...(asking.includes(group) ? ['ReadIdentityKey'] : []),
        // It tells what became of orders, and begins nothing.
        ...(group === 'orderreads' ? ['ReadJournal'] : []),
        ...(group === 'orders' ? ['ReadQuotes'] : []),
        'ReadSecret',
        ...(group === 'orders' ? ['ReadTradingControls'] : []),
        ...(asking.includes(group) ? ['ReadUsers'] : []),
        'ShareAnswers',
        'WriteLog',
      ]);
      // Each is given back in turn: what was read once is kept.
      const needed = [
        ...(asking.includes(group)
          ? ([
              ['ReadIdentityKey', 'access_unavailable'],
              ['ReadUsers', 'access_unavailable'],
            ] as const)
          : []),
        ['ReadSecret', 'secret_unavailable'],
        // A cancel is sent without it.
        ...(group === 'orders'
          ? ([
              ['ReadTradingControls', 'trading_limits_unavailable'],
              // The journal's checkpoint is read with the limits.
              ['KeepJournal', 'trading_limits_unavailable'],
            ] as const)
          : []),
      ] as const;
      const giveBack = await Promise.all(needed.map(([policy]) => role.take(policy)));
      const arrived = stage.simulator.received.length;
      for (const [index, [, code]] of needed.entries()) {
        const without = await call(group);
        assert.equal(without.status, 503);
        assert.equal(((await without.json()) as { code: string }).code, code);
        assert.equal(stage.simulator.received.length, arrived);
        await giveBack[index]?.();
      }
      const response = await call(group);
      assert.equal(response.status, 200, await response.text());
    });

  for (const group of counted)
    test(`${group}: without the permission to count it refuses in time, and goes on by itself with it`, async () => {
      const role = await roleOf(stage, group);
      await role.without('CountRequests', async () => {
        const arrived = stage.simulator.received.length;
        for (let round = 0; round < 2; round++) {
          const without = await call(group, unknown);
          assert.equal(without.status, 429);
          assert.ok(Number(without.headers.get('retry-after')) >= 1);
          assert.equal(((await without.json()) as { code: string }).code, 'budget_used_up');
        }
        assert.equal(stage.simulator.received.length, arrived);
      });
      while ((await call(group, unknown)).status !== 200) await pause(500);
    });

  for (const group of cached)
    test(`${group}: without the permission to share it asks the upstream itself`, async () => {
      const role = await roleOf(stage, group);
      await role.without('ShareAnswers', async () => {
        const without = await call(group);
        assert.equal(without.status, 200, await without.text());
      });
      assert.equal((await call(group)).status, 200);
    });

  test('the order arrived once, and as it was written', () => {
    assert.equal(stage.simulator.orders.length, 1);
    const received = stage.simulator.received.find(({ target }) => target === '/trade/place_order');
    assert.match(received?.body ?? '', /"limit_price":"1\.10"/);
  });

  // The emulator looks whether there is an AWS signature, not whether it is right: that is for AWS to do.
  test('a group that is opened with IAM takes no API key', async () => {
    assert.equal((await stage.call(calls.accounts.path)).status, 403);
  });

  test('nothing secret is in any log', () => {
    for (const secret of Object.values(canary)) assert.ok(!stage.emulator.output().includes(secret));
  });
});
