/** With roles enforced: each function works with exactly its role, and does without what it lacks. */

import assert from 'node:assert/strict';
import {
  DeleteRolePolicyCommand,
  GetRolePolicyCommand,
  IAMClient,
  ListRolePoliciesCommand,
  ListRolesCommand,
  PutRolePolicyCommand,
} from '@aws-sdk/client-iam';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { needsEmulator } from '../support/missing-emulator.ts';
import { signedByAws } from './aws-signature.ts';
import { clientConfig } from './deployment.ts';
import { grantEverything } from './operator.ts';
import { putSecret } from './secret.ts';
import { canary, type Stage, snapshots, startStage } from './stage.ts';

const order = JSON.stringify({
  account_id: 'B1N6UY3G8W0JFS7QTC2IE9OH4M',
  new_orders: [
    {
      client_order_id: 'emulator-01',
      combo_type: 'NORMAL',
      symbol: 'AAPL',
      instrument_type: 'EQUITY',
      market: 'US',
      side: 'BUY',
      order_type: 'LIMIT',
      limit_price: '1.10',
      quantity: '10',
      entrust_type: 'QTY',
      time_in_force: 'GTC',
      support_trading_session: 'CORE',
    },
  ],
});

/** Of the order that was placed before: each is called in turn. */
const cancel = JSON.stringify({
  account_id: 'B1N6UY3G8W0JFS7QTC2IE9OH4M',
  client_order_id: 'emulator-01',
});

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
    path: '/trading/orders/open-orders/list?account_id=B1N6UY3G8W0JFS7QTC2IE9OH4M',
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
const journaled: readonly (keyof typeof calls)[] = ['orders', 'ordercancels', 'orderreads', 'watchlists'];

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
  let stage: Stage;
  let iam: IAMClient;
  let roles: readonly string[];
  beforeAll(async () => {
    // Roles are enforced over TLS only; the certificate is made by the emulator at its start.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    stage = await startStage({
      env: { AUTH: 'true', USE_SSL: '1' },
      props: { groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam' } },
    });
    await putSecret(stage);
    await grantEverything(stage);
    iam = new IAMClient(clientConfig(stage.emulator));
    const { Roles = [] } = await iam.send(new ListRolesCommand({}));
    roles = Roles.map(({ RoleName = '' }) => RoleName);
  });
  afterAll(() => stage?.stop());

  async function call(
    group: keyof typeof calls,
    of: typeof calls | typeof unknown = calls,
  ): Promise<Response> {
    const { path, ...how } = of[group];
    const body = 'body' in how ? how.body : undefined;
    const headers: Record<string, string> = body ? { 'content-type': 'application/json' } : {};
    const init = { method: body ? 'POST' : 'GET', headers, ...(body && { body }) };
    if (!('iam' in how)) return stage.call(path, init);
    return fetch(`${stage.url}${path}`, { ...init, headers: await signedByAws(stage, path, init) });
  }

  for (const group of Object.keys(calls) as (keyof typeof calls)[])
    test(`${group}: not without the permissions to read the secret and users, and with them`, async () => {
      const RoleName = roles.find((name) => name.includes(group));
      assert.ok(RoleName, `no role among ${roles.join(', ')}`);
      const { PolicyNames } = await iam.send(new ListRolePoliciesCommand({ RoleName }));
      assert.deepEqual(PolicyNames?.toSorted(), [
        ...(group === 'orders' ? ['AskToCancel'] : []),
        // Accounts and orders count under tighter limits.
        'CountRequests',
        ...(journaled.includes(group) ? ['KeepJournal'] : []),
        ...(asking.includes(group) ? ['ReadIdentityKey'] : []),
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
              ['KeepJournal', 'journal_unavailable'],
            ] as const)
          : []),
      ] as const;
      const policies = needed.map(([PolicyName]) => ({ RoleName, PolicyName }));
      const documents = await Promise.all(
        policies.map(async (policy) => (await iam.send(new GetRolePolicyCommand(policy))).PolicyDocument),
      );
      for (const policy of policies) await iam.send(new DeleteRolePolicyCommand(policy));
      const arrived = stage.simulator.received.length;
      for (const [index, [, code]] of needed.entries()) {
        const without = await call(group);
        assert.equal(without.status, 503);
        assert.equal(((await without.json()) as { code: string }).code, code);
        assert.equal(stage.simulator.received.length, arrived);
        const PolicyDocument = decodeURIComponent(documents[index] ?? '');
        await iam.send(
          new PutRolePolicyCommand({ RoleName, PolicyName: needed[index]?.[0], PolicyDocument }),
        );
      }
      const response = await call(group);
      assert.equal(response.status, 200, await response.text());
    });

  for (const group of counted)
    test(`${group}: without the permission to count it refuses in time, and goes on by itself with it`, async () => {
      const RoleName = roles.find((name) => name.includes(group));
      const policy = { RoleName, PolicyName: 'CountRequests' };
      const { PolicyDocument = '' } = await iam.send(new GetRolePolicyCommand(policy));

      await iam.send(new DeleteRolePolicyCommand(policy));
      const arrived = stage.simulator.received.length;
      for (let round = 0; round < 2; round++) {
        const without = await call(group, unknown);
        assert.equal(without.status, 429);
        assert.ok(Number(without.headers.get('retry-after')) >= 1);
        assert.equal(((await without.json()) as { code: string }).code, 'budget_used_up');
      }
      assert.equal(stage.simulator.received.length, arrived);

      await iam.send(
        new PutRolePolicyCommand({ ...policy, PolicyDocument: decodeURIComponent(PolicyDocument) }),
      );
      while ((await call(group, unknown)).status !== 200)
        await new Promise((resolve) => setTimeout(resolve, 500));
    });

  for (const group of cached)
    test(`${group}: without the permission to share it asks the upstream itself`, async () => {
      const RoleName = roles.find((name) => name.includes(group));
      const policy = { RoleName, PolicyName: 'ShareAnswers' };
      const { PolicyDocument = '' } = await iam.send(new GetRolePolicyCommand(policy));
      await iam.send(new DeleteRolePolicyCommand(policy));
      const without = await call(group);
      assert.equal(without.status, 200, await without.text());
      await iam.send(
        new PutRolePolicyCommand({ ...policy, PolicyDocument: decodeURIComponent(PolicyDocument) }),
      );
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
