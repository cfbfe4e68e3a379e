/** The users of a local run, through everything: whom key and token stand for, and what each of them reaches. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import { isRequest, type LogEntry, type RequestEntry } from '../../functions/log/log.ts';
import type { AccessLogEntry } from '../../infra/local/api-gateway.ts';
import { startLocalRun } from '../../infra/local/local-run.ts';
import type { LocalSettings } from '../../infra/local/settings.ts';
import { startSimulator } from '../../infra/simulator/index.ts';
import { listAccounts, openable, placeOrder } from '../../lib/catalogue/index.ts';
import { createClient, type TokenSource, viaGateway } from '../../lib/client/index.ts';
import {
  accountId,
  accountsPath,
  credentials,
  newOrder,
  type Problem,
  snapshotTarget,
} from '../support/core.ts';
import { each } from '../support/each.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

const adas = accountId;
const bens = 'B1N6UY3G8W0JFS7QTC2IE9OH4M';
const apiKey = 'key-of-this-test';
const otherKey = 'another-key-of-this-test';

const settings: LocalSettings = {
  port: 0,
  apiKey,
  otherApiKeys: [otherKey],
  openGroups: openable,
  credentials,
  upstream: { simulatorPort: 0 },
  // No price is read before an order.
  tradingLimits: {},
};

async function runFor(t: TestContext, change: Partial<LocalSettings> = {}) {
  const lines: (AccessLogEntry | LogEntry)[] = [];
  const reports: RequestEntry[] = [];
  const defects: unknown[] = [];
  const run = await startLocalRun(
    { ...settings, ...change },
    {
      access: (entry) => lines.push(entry),
      log(entry) {
        lines.push(entry);
        if (isRequest(entry)) reports.push(entry);
      },
      defect: (error) => defects.push(error),
    },
  );
  t.onTestFinished(async () => {
    await run.close();
    assert.deepEqual(defects, []);
  });
  const tokenOf = async (username: string, more = {}) => {
    const body = new URLSearchParams({ grant_type: 'password', username, ...more });
    const response = await fetch(`${run.issuer}/token`, { method: 'POST', body });
    return ((await response.json()) as { access_token: string }).access_token;
  };
  /** With the run's key, unless another is given, and with a token or any other authorization. */
  const ask = (target: string, { token, key = apiKey, ...more }: Sender = {}, body?: unknown) =>
    fetch(run.url + target, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'x-api-key': key,
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...more,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return { ...run, lines, reports, tokenOf, ask, received: () => run.simulator?.received ?? [] };
}

interface Sender {
  readonly token?: string;
  readonly key?: string;
  readonly authorization?: string;
}

type Ask = Awaited<ReturnType<typeof runFor>>['ask'];

async function accountsSeen(ask: Ask, sender?: Sender): Promise<readonly string[]> {
  const response = await ask(accountsPath, sender);
  assert.equal(response.status, 200, await response.clone().text());
  const accounts = (await response.json()) as { account_id: string }[];
  return accounts.map(({ account_id }) => account_id);
}

async function refusalOf(response: Response): Promise<Problem> {
  const problem = (await response.json()) as Problem;
  assert.equal(problem.status, response.status);
  return problem;
}

const balanceOf = (account: string) => `/trading/assets/balances/get?account_id=${account}`;
const orderOn = (account: string) => ({ account_id: account, new_orders: [newOrder()] });
const watchlistsPath = '/market-data/watchlists/list';

describe('two users', () => {
  test('see their own account in the list, and no other; the token overrides the key', async (t) => {
    const { ask, tokenOf } = await runFor(t);
    assert.deepEqual(await accountsSeen(ask), [adas]);
    assert.deepEqual(await accountsSeen(ask, { token: await tokenOf('ben') }), [bens]);
    assert.deepEqual(await accountsSeen(ask, { token: await tokenOf('ada') }), [adas]);
    assert.deepEqual(await accountsSeen(ask), [adas]);
  });

  test('read and trade on their own account; for the other’s nothing is sent', async (t) => {
    const { ask, tokenOf, received, simulator } = await runFor(t);
    const ben = { token: await tokenOf('ben') };
    for (const [sender, own, foreign] of [
      [{}, adas, bens],
      [ben, bens, adas],
    ] as const) {
      assert.equal((await ask(balanceOf(own), sender)).status, 200);
      assert.equal((await ask(placeOrder.path, sender, orderOn(own))).status, 200);
      const sent = received().length;
      for (const refused of [
        await ask(balanceOf(foreign), sender),
        await ask(placeOrder.path, sender, orderOn(foreign)),
      ]) {
        const { status, code, detail } = await refusalOf(refused);
        assert.deepEqual([status, code], [403, 'account_not_granted']);
        assert.match(detail, /account.*not sent/);
      }
      assert.equal(received().length, sent);
    }
    assert.deepEqual(
      simulator?.orders.slice(-2).map((order) => order.accountId),
      [adas, bens],
    );
  });

  test('the watchlists, which belong to no account, are the first one’s', async (t) => {
    const { ask, tokenOf, received } = await runFor(t);
    assert.equal((await ask(watchlistsPath)).status, 200);
    const sent = received().length;
    const { status } = await refusalOf(await ask(watchlistsPath, { token: await tokenOf('ben') }));
    assert.equal(status, 403);
    assert.equal(received().length, sent);
  });

  test('a token can have fewer scopes than its user', async (t) => {
    const { ask, tokenOf, received } = await runFor(t);
    const reader = { token: await tokenOf('ben', { scope: 'read' }) };
    assert.equal((await ask(balanceOf(bens), reader)).status, 200);
    const sent = received().length;
    const { status, code, detail } = await refusalOf(await ask(placeOrder.path, reader, orderOn(bens)));
    assert.deepEqual([status, code], [403, 'insufficient_scope']);
    assert.match(detail, /trade/);
    assert.equal(received().length, sent);
  });
});

describe('a token that is wrong', () => {
  const tokens: Readonly<
    Record<string, (run: Awaited<ReturnType<typeof runFor>>, t: TestContext) => Promise<Sender>>
  > = {
    'has expired': async ({ tokenOf }) => ({ token: await tokenOf('ben', { expires_in: '-120' }) }),
    'is cut off': async ({ tokenOf }) => ({ token: (await tokenOf('ben')).slice(0, -10) }),
    'is of another run': async (_, t) => ({ token: await (await runFor(t)).tokenOf('ben') }),
    'is no token': async () => ({ token: 'ben' }),
    'is empty': async () => ({ authorization: 'Bearer ' }),
    'stands without Bearer': async ({ tokenOf }) => ({ authorization: await tokenOf('ben') }),
    'stands behind another scheme': async ({ tokenOf }) => ({
      authorization: `Basic ${await tokenOf('ben')}`,
    }),
  };
  for (const [name, senderOf] of Object.entries(tokens))
    test(`because it ${name}, is 401 with the reason, and the key does not count in its place`, async (t) => {
      const run = await runFor(t);
      const sender = await senderOf(run, t);
      for (const response of [
        await run.ask(accountsPath, sender),
        await run.ask(placeOrder.path, sender, orderOn(adas)),
      ]) {
        const { status, code, error_code, detail } = await refusalOf(response);
        assert.equal(status, 401);
        assert.match(code, /^(invalid|missing)_token$/);
        assert.equal(error_code, 'UNAUTHORIZED');
        assert.match(response.headers.get('x-amzn-remapped-www-authenticate') ?? '', /^Bearer/);
        assert.ok(detail.length > 20, detail);
      }
      assert.equal(run.received().length, 0);
      // What belongs to no account asks for no user.
      assert.equal((await run.ask(snapshotTarget, sender)).status, 200);
    });
});

describe('an API key', () => {
  test('is needed besides a token, and a further one stands for no user', async (t) => {
    const { ask, tokenOf, received } = await runFor(t);
    const token = await tokenOf('ben');
    const without = await refusalOf(await ask(accountsPath, { token, key: '' }));
    assert.deepEqual([without.status, without.code], [403, 'missing_api_key']);
    const unbound = await refusalOf(await ask(accountsPath, { key: otherKey }));
    assert.ok([401, 403].includes(unbound.status));
    assert.match(unbound.detail, /key.*token|token.*key/i);
    assert.equal(received().length, 0);
    assert.deepEqual(await accountsSeen(ask, { token, key: otherKey }), [bens]);
  });
});

describe('in front of another upstream', () => {
  const upstreamFor = async (t: TestContext) => {
    const simulator = await startSimulator(credentials);
    t.onTestFinished(() => simulator.close());
    return { upstream: { baseUrl: simulator.url } };
  };

  test('the key has all accounts of the app key, which are its holder’s own', async (t) => {
    const { ask, users } = await runFor(t, await upstreamFor(t));
    assert.deepEqual(await accountsSeen(ask), [adas, bens]);
    assert.deepEqual(users, [{ name: 'ada', accounts: ['*'] }]);
  });

  test('unless a setting says who has which', async (t) => {
    const users = [
      { name: 'cleo', accounts: [] },
      { name: 'dora', accounts: [adas, bens] },
    ];
    const { ask, tokenOf } = await runFor(t, { ...(await upstreamFor(t)), users });
    const { status } = await refusalOf(await ask(accountsPath));
    assert.equal(status, 403);
    assert.deepEqual(await accountsSeen(ask, { token: await tokenOf('dora') }), [adas, bens]);
  });
});

test('no line of the log has a user, an account or a token; it has names of them', async (t) => {
  const users = [
    { name: 'canary-of-one', accounts: [adas] },
    { name: 'canary-of-two', accounts: [bens] },
  ];
  const { ask, tokenOf, lines, reports } = await runFor(t, { users });
  const token = await tokenOf('canary-of-two', { client_id: 'canary-of-app' });
  for (const sender of [{}, { token }, { token: `${token}x` }])
    for (const account of [adas, bens]) {
      await ask(balanceOf(account), sender);
      await ask(placeOrder.path, sender, orderOn(account));
      await ask(accountsPath, sender);
    }
  const text = JSON.stringify(lines);
  for (const canary of [adas, bens, 'canary-', token, token.split('.')[1] ?? token])
    assert.ok(!text.includes(canary), canary);
  const namesIn = (member: 'user' | 'account') => new Set(reports.flatMap((report) => report[member] ?? []));
  assert.deepEqual([namesIn('user').size, namesIn('account').size], [2, 2]);
});

test('an app with the typed client renews an expired token without noticing, its order neither', async (t) => {
  const { url, tokenOf, received, simulator } = await runFor(t);
  let renewals = 0;
  let kept = await tokenOf('ben', { expires_in: '-120' });
  const token: TokenSource = async ({ renew }) => {
    if (renew) {
      renewals++;
      kept = await tokenOf('ben');
    }
    return kept;
  };
  const client = createClient({ listAccounts, placeOrder }, viaGateway({ baseUrl: url, apiKey, token }));
  const before = simulator?.orders.length ?? 0;
  const order = orderOn(bens) as unknown as Parameters<typeof client.placeOrder>[0];
  assert.ok((await client.placeOrder(order)).order_id);
  assert.deepEqual([renewals, received().length, simulator?.orders.length], [1, 1, before + 1]);
  assert.deepEqual(each(await client.listAccounts(), 'account_id'), [bens]);
  assert.equal(renewals, 1);
});

test('the audit of orders says who ordered what, to the key alone', async (t) => {
  const { ask, tokenOf, url } = await runFor(t);
  const token = await tokenOf('ada');
  const order = newOrder();
  const placed = await ask(placeOrder.path, { token }, { account_id: adas, new_orders: [order] });
  assert.equal(placed.status, 200, await placed.text());
  const lines = (await (await ask('/_orders/audit')).text()).trim().split('\n');
  assert.equal(lines.length, 1);
  const line = JSON.parse(lines[0] ?? '');
  assert.deepEqual(
    [line.account_id, line.client_order_id, line.operation, line.state, line.evidence],
    [adas, order.client_order_id, 'placeOrder', 'accepted', 'answer'],
  );
  assert.ok(line.user);
  assert.equal((await fetch(`${url}/_orders/audit`)).status, 403);
});
