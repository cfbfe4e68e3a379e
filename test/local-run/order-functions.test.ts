/** Placing, cancelling and reading orders while reads hang: each function has as many instances as Lambda gives it. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { functionOf } from '../../functions/rows.ts';
import { startApiGateway } from '../../infra/local/api-gateway.ts';
import { localEnvironment, names } from '../../infra/local/environment.ts';
import { groupRoutes } from '../../infra/local/functions.ts';
import { createMemoryPlatform } from '../../infra/local/memory-ports.ts';
import type { LocalRoute } from '../../infra/local/options.ts';
import type { LocalSettings } from '../../infra/local/settings.ts';
import { grantUsers, usersOf } from '../../infra/local/users.ts';
import { startSimulator } from '../../infra/simulator/index.ts';
import { resolveConfig } from '../../infra/stack/resolve-config.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { cancelOrder, findRoute, getOrder, operations, routesOf } from '../../lib/catalogue/index.ts';
import { sleep } from '../../lib/kernel/pauses.ts';
import { accountId, credentials, newOrder, orderPath, secretText } from '../support/core.ts';
import { each } from '../support/each.ts';
import { until } from '../support/until.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

const apiKey = 'key-of-this-test';
const settings: LocalSettings = {
  port: 0,
  apiKey,
  openGroups: ['orders'],
  credentials,
  upstream: { simulatorPort: 0 },
};

const { reservedConcurrency } = resolveConfig({
  upstream: { baseUrl: 'https://upstream.example', limits: 'interface' },
  groups: { orders: 'iam' },
}).functions;
/** What is left to a function without a reservation: as many as hang. */
const unreserved = 10;

/** Each handler with the instances of its function; what comes when none is free is refused, as Lambda refuses it. */
function bounded(routes: readonly LocalRoute[]): readonly LocalRoute[] {
  const busy = new Map<LocalRoute['handler'], number>();
  return routes.map((route) => {
    const { handler, method, path } = route;
    const match = findRoute(routesOf(operations), method, path);
    // What the run has besides, such as its audit.
    if (match.kind !== 'route') return route;
    const instances = reservedConcurrency[functionOf(match.route.operation)] ?? unreserved;
    return {
      ...route,
      async handler(event, context) {
        const before = busy.get(handler) ?? 0;
        if (before >= instances) throw new Error('Rate Exceeded.');
        busy.set(handler, before + 1);
        try {
          return await handler(event, context);
        } finally {
          busy.set(handler, (busy.get(handler) ?? 1) - 1);
        }
      },
    };
  });
}

/** Orders behind a local API Gateway, before an upstream in which reads hang while `hangs.reads`. */
async function runWith(t: TestContext, routesAs = (routes: readonly LocalRoute[]) => routes) {
  const hangs = { reads: false, count: 0 };
  const simulator = await startSimulator({
    ...credentials,
    fault({ path }) {
      if (!hangs.reads || path !== getOrder.path) return undefined;
      hangs.count++;
      return { kind: 'hang' };
    },
  });
  const issuer = 'https://issuer.example';
  const identityKey = 'identity-key-'.repeat(4);
  const platform = createMemoryPlatform({
    marketDataLimit: undefined,
    functionName: 'local',
    log: () => {},
    clock: Date.now,
    sleep,
    names,
    secrets: { [names.secret]: secretText(), [names.identityKey]: identityKey },
    onFailure: assert.ifError,
  });
  const users = usersOf(simulator.accounts.filter(({ account_id }) => account_id === accountId));
  const identity = createIdentity(async () => identityKey);
  await grantUsers(platform.access(names.access), { users, apiKeyId: 'first', issuer, identity });
  const urls = { upstreamBaseUrl: simulator.url, eventsUrl: undefined, marketStreamUrl: undefined, issuer };
  const routes = groupRoutes(settings.openGroups, {
    platform,
    portsOf: () => platform.ports,
    env: (asked, isClosed) => localEnvironment(settings, urls, asked, isClosed),
  });
  const api = await startApiGateway({
    routes: routesAs(routes),
    apiKeys: [{ id: 'first', value: apiKey }],
    plan: { ratePerSecond: 1000, burst: 1000 },
    refuse: (code) => ({ status: 502, headers: {}, body: JSON.stringify({ code }) }),
    closeGraceMs: 0,
  });
  const given = new AbortController();
  t.onTestFinished(async () => {
    given.abort();
    await Promise.all([api.close(), simulator.close()]);
  });
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const post = (path: string, body: object) =>
    fetch(api.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return {
    hangs,
    async place() {
      const order = newOrder({ order_type: 'LIMIT', limit_price: '1.10' });
      const answer = await post(orderPath, { account_id: accountId, new_orders: [order] });
      assert.equal(answer.status, 200, await answer.text());
      return order.client_order_id;
    },
    cancel: (id: string) => post(cancelOrder.path, { account_id: accountId, client_order_id: id }),
    read: (id: string) =>
      fetch(`${api.url}${getOrder.path}?account_id=${accountId}&client_order_id=${id}`, {
        headers,
        signal: given.signal,
      }),
    /** A read that hangs, and ends with the test. */
    hang(id: string) {
      this.read(id).catch(() => {});
    },
  };
}

test('ten hanging reads of orders keep neither a cancel nor an order from its answer', async (t) => {
  const run = await runWith(t, bounded);
  const id = await run.place();
  run.hangs.reads = true;
  for (let read = 0; read < unreserved; read++) run.hang(`hanging-read-${read}`);
  await until(() => run.hangs.count === unreserved);

  const another = await run.read('one-more-read');
  assert.equal(another.status, 502, 'no instance is free for an eleventh read');
  const cancelled = await run.cancel(id);
  assert.equal(cancelled.status, 200, await cancelled.text());
  await run.place();
  assert.equal(run.hangs.count, unreserved, 'all reads are still under way');
});

test('a read after a cancel does not wait for an equal one from before it', async (t) => {
  const run = await runWith(t);
  const id = await run.place();
  run.hangs.reads = true;
  run.hang(id);
  await until(() => run.hangs.count === 1);
  run.hangs.reads = false;
  assert.equal((await run.cancel(id)).status, 200);
  const { orders } = (await (await run.read(id)).json()) as { orders: readonly { status: string }[] };
  assert.deepEqual(each(orders, 'status'), ['CANCELLED']);
});
