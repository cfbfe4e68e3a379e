/** What clients in the field begin with, and what they call of older versions, through the gateway. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { getConfig, operations } from '../../lib/catalogue/index.ts';
import { createClient, direct, viaGateway } from '../../lib/client/index.ts';
import { createLimiter, createMemoryLimiterStore, limiterLimits } from '../../lib/gateway/index.ts';
import { createSigner } from '../../lib/signer/index.ts';
import {
  accountId,
  ask,
  coreFor,
  credentials,
  newOrder,
  orderPath,
  problemOf,
  startCore,
} from '../support/core.ts';
import { each } from '../support/each.ts';

const older = operations.filter(({ legacyOf }) => legacyOf);

/** As a client of an earlier version sends them with every request, by whatever SDK. */
const olderHeaders = {
  'x-app-key': 'key-of-the-client',
  'x-version': 'v2',
  'x-timestamp': '2026-01-01T00:00:00Z',
  'x-signature': 'signature-of-the-client',
  'x-signature-algorithm': 'HMAC-SHA1',
  'x-signature-version': '0.9',
  'x-signature-nonce': 'nonce-of-the-client',
  'x-access-token': 'token-of-the-client',
  'user-agent': 'older-sdk/2.1.0',
};

describe('the configuration', () => {
  test('is the gateway’s own: it needs no secret, no upstream and no permit', async (t) => {
    let reads = 0;
    const operationLimits = { narrow: { for: ['getConfig'], requests: 1, perSeconds: 60 } };
    const { gateway, simulator, reports } = await coreFor(
      t,
      { accessToken: 'token', fault: () => ({ kind: 'drop' }) },
      {
        secrets: {
          read: async () => {
            reads++;
            return undefined;
          },
        },
        // Has one permit, for three requests.
        limiter: createLimiter({
          store: createMemoryLimiterStore(),
          limits: limiterLimits(operationLimits),
          bucket: 'test',
          margins: { clockOffsetMs: 0, networkMs: 0, heldBack: 0 },
        }),
        operationLimits,
      },
    );
    for (const headers of [{}, olderHeaders, { 'x-api-key': 'k', 'content-type': 'text/plain' }]) {
      const reply = await ask(gateway, getConfig.path, { headers });
      assert.deepEqual([reply.status, reply.text], [200, '{"token_check_enabled":false}']);
      assert.equal(reply.headers['content-type'], 'application/json');
      assert.equal(reply.headers['cache-control'], 'no-store');
      assert.equal(reply.headers['x-request-id'], 'request-1');
    }
    assert.deepEqual([reads, simulator.received.length], [0, 0]);
    assert.deepEqual(each(reports, 'operation', 'attempts', 'status'), Array(3).fill(['getConfig', 0, 200]));
    assert.equal(problemOf(await ask(gateway, `${getConfig.path}?a=1`)).code, 'invalid_parameter');
  });

  test('a client of the library reads it from either end, and without the token that it is about', async (t) => {
    const { gateway, simulator } = await coreFor(t, { accessToken: 'token' });
    const asked: string[] = [];
    const own = createClient(
      { getConfig },
      direct({
        baseUrl: simulator.url,
        signer: createSigner(credentials),
        accessToken: () => assert.fail('there is no token yet'),
      }),
    );
    assert.deepEqual(await own.getConfig(), { token_check_enabled: true });
    const through = createClient(
      { getConfig },
      viaGateway({
        baseUrl: 'https://gateway.test',
        fetch: async (url) => {
          asked.push(String(url));
          const { body, ...reply } = await ask(gateway, new URL(String(url)).pathname);
          return new Response(body as Uint8Array<ArrayBuffer>, reply);
        },
      }),
    );
    const { token_check_enabled: needed }: { token_check_enabled: boolean } = await through.getConfig();
    assert.equal(needed, false);
    assert.deepEqual(asked, ['https://gateway.test/openapi/config']);
  });
});

describe('an older path', () => {
  let core: Awaited<ReturnType<typeof startCore>>;
  beforeAll(async () => {
    core = await startCore();
  });
  afterAll(() => core.simulator.close());

  for (const operation of older)
    test(`${operation.path} is sent as called, with v3 and our own signature, whatever the client’s headers say`, async () => {
      const { gateway, simulator } = core;
      const query = Object.entries(operation.example.query ?? {});
      const reply = await ask(gateway, operation.path, { query, headers: olderHeaders });
      assert.equal(reply.status, 200, reply.text);
      assert.ok(v.is(operation.response, JSON.parse(reply.text)));
      const received = simulator.received.at(-1);
      const [path, search] = received!.target.split('?');
      assert.equal(path, operation.path);
      assert.deepEqual([...new URLSearchParams(search)], query);
      assert.equal(received!.outcome, 'ok');
      assert.equal(received!.headers['x-version'], 'v3');
      assert.equal(received!.headers['x-app-key'], credentials.appKey);
      for (const [name, value] of Object.entries(olderHeaders))
        assert.notEqual(received!.headers[name], value, name);
    });

  test('takes flags and numbers as old clients write them', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    const target =
      '/openapi/instrument/option/contracts?category=US_OPTION&underlying_symbols=AAPL&ppind=TRUE&page_size=010';
    assert.notEqual((await ask(gateway, target)).status, 400);
    assert.match(simulator.received[0]!.target, /&ppind=true&page_size=10$/);
  });

  test('refuses what the upstream was seen to refuse, before anything is sent', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    for (const size of ['9', '101']) {
      const reply = await ask(gateway, `/openapi/trade/order/open?account_id=${accountId}&page_size=${size}`);
      assert.deepEqual(
        problemOf(reply).errors?.map(({ name, received }) => [name, received]),
        [['page_size', size]],
      );
    }
    assert.equal(simulator.received.length, 0);
  });

  test('pages through open orders as old clients do', async (t) => {
    const { gateway } = await coreFor(t);
    const placed: string[] = [];
    for (let count = 0; count < 24; count++) {
      const order = newOrder({ order_type: 'LIMIT', limit_price: '1.00', time_in_force: 'GTC' });
      const body = JSON.stringify({ account_id: accountId, new_orders: [order] });
      assert.equal((await ask(gateway, orderPath, { body })).status, 200);
      placed.unshift(order.client_order_id);
    }
    const seen: string[] = [];
    for (let pages = 1; ; pages++) {
      assert.ok(pages < 10, 'pages without end');
      const last = seen.at(-1);
      const reply = await ask(
        gateway,
        `/openapi/trade/order/open?account_id=${accountId}&page_size=10${last ? `&last_client_order_id=${last}` : ''}`,
      );
      assert.equal(reply.status, 200, reply.text);
      const page = JSON.parse(reply.text) as readonly { readonly client_order_id: string }[];
      if (page.length === 0) break;
      seen.push(...page.map(({ client_order_id }) => client_order_id));
    }
    assert.deepEqual(seen.slice(0, placed.length), placed);
    assert.equal(new Set(seen).size, seen.length);
  });
});
