/** Requests and answers over both connections. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { type Answer, createClient, viaGateway } from '../../lib/client/index.ts';
import { each } from '../support/each.ts';
import {
  accountId,
  answering,
  catalogue,
  clientAt,
  directly,
  failure,
  orderOf,
  throughGateway,
} from './support.ts';

/** Any method, for a test that goes through all of them. */
type AnyMethod = { answer(input?: unknown, options?: object): Promise<Answer<unknown>> };

describe('a method for each operation', () => {
  test('whose request is the entry’s, and signed as the upstream wants it', async (t) => {
    const { simulator, client } = await directly(t, {
      limits: { 'market-data': { requests: 500, perSeconds: 60 } },
      unrouted: [],
    });
    const methods = client as unknown as Readonly<Record<string, AnyMethod>>;
    const current = catalogue.operations.filter(({ legacyOf }) => !legacyOf);
    assert.deepEqual(Object.keys(client).sort(), current.map(({ id }) => id).sort());
    // The interface has no operation of a gateway's own.
    const sent = current.filter(({ answeredBy }) => !answeredBy);
    for (const { id, method, path, example } of sent) {
      // Whether the upstream accepts its content is not tested here.
      await methods[id]?.answer(example.body ?? example.query).catch((error: unknown) => {
        assert.match(
          `${error}`,
          /^(RefusedError: \w+: 417 |OutcomeUnknownError: \w+Watchlist: .* says that it failed)/,
        );
      });
      const received = simulator.received.at(-1);
      const url = new URL(received?.target ?? '', simulator.url);
      assert.deepEqual([received?.method, url.pathname], [method, path]);
      assert.deepEqual(Object.fromEntries(url.searchParams), example.query ?? {}, id);
      assert.equal(received?.body, example.body === undefined ? '' : JSON.stringify(example.body));
    }
    assert.equal(simulator.received.length, sent.length);
  });

  for (const [name, through] of [
    ['a gateway', throughGateway],
    ['a signer', directly],
  ] as const)
    test(`through ${name}: typed values become the interface’s text, the answer typed data`, async (t) => {
      const { simulator, client } = await through(t);
      const snapshots = await client.getStockSnapshots({
        symbols: ['AAPL', 'MSFT'],
        category: 'US_STOCK',
        extend_hour_required: true,
        overnight_required: undefined,
      });
      assert.deepEqual(each(snapshots, 'symbol'), ['AAPL', 'MSFT']);
      assert.match(
        simulator.received.at(-1)?.target ?? '',
        /\?symbols=AAPL%2CMSFT&category=US_STOCK&extend_hour_required=true$/,
      );
      const [account] = await client.listAccounts();
      assert.equal(account?.account_id, accountId);
    });

  test('places an order and reads it back', async (t) => {
    const { simulator, client } = await throughGateway(t);
    const order = orderOf();
    const placed = await client.placeOrder(order, {
      headers: { category: 'US_STOCK' },
      query: { note: 'x1' },
    });
    assert.ok(placed.order_id);
    const sent = simulator.received.at(-1);
    assert.equal(sent?.headers.category, 'US_STOCK');
    assert.match(sent?.target ?? '', /\?note=x1$/);
    assert.equal(sent?.body, JSON.stringify(order));
    const client_order_id = order.new_orders[0]?.client_order_id ?? '';
    const shown = await client.getOrder({ account_id: accountId, client_order_id });
    assert.equal(shown.orders[0]?.order_id, placed.order_id);
  });

  test('an answer with its text, status, headers, request id', async (t) => {
    const body = '[ {"account_id":"1", "account_type": "CASH", "n": 12345678901234567890} ]';
    const { client } = await throughGateway(t, { fault: () => ({ kind: 'status', status: 200, body }) });
    const answer = await client.listAccounts.answer();
    assert.equal(answer.text, body);
    assert.equal(answer.data[0]?.account_id, '1');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/json');
    assert.equal(answer.requestId, answer.headers.get('x-request-id'));
    assert.ok(answer.requestId);
  });

  test('at another path, when one is named', async (t) => {
    const { simulator, client } = await directly(
      t,
      {},
      {},
      { paths: { listAccounts: '/openapi/account/list' } },
    );
    await client.listAccounts();
    assert.equal(simulator.received.at(-1)?.target, '/openapi/account/list');
  });

  test('of a made-up entry, under the name that it is given', async (t) => {
    const url = await answering(t, (request, response) => response.end(JSON.stringify(request.url)));
    const madeUp = { ...catalogue.getCapitalFlow, id: 'madeUp', path: '/made/up' } as const;
    const client = createClient(
      { flow: madeUp, other: 1, nothing: null },
      viaGateway({ baseUrl: `${url}/v1/` }),
    );
    assert.deepEqual(Object.keys(client), ['flow']);
    assert.deepEqual(
      await client.flow({ symbol: "A'(B)", category: 'US_ETF', count: 3 }),
      // The URL parser escapes the apostrophe.
      '/v1/made/up?symbol=A%27(B)&category=US_ETF&count=3',
    );
  });
});

describe('tokens', () => {
  test('are made and checked without one, and everything else is sent with it', async (t) => {
    let now = Date.now();
    const token = '5d0c9be27af14836b1d2e07745c6a98f';
    const { simulator, client } = await directly(
      t,
      { accessToken: token, clock: () => now },
      { accessToken: async () => token },
    );
    const created = await client.createToken();
    assert.equal(created.status, 'PENDING');
    // Its owner approves it some time later.
    let { status } = await client.checkToken({ token: created.token });
    for (let minutes = 1; status !== 'NORMAL' && minutes < 10_000; minutes *= 2) {
      now += minutes * 60_000;
      ({ status } = await client.checkToken({ token: created.token }));
    }
    for (const { headers } of simulator.received) assert.equal(headers['x-access-token'], undefined);
    await client.listAccounts();
    assert.equal(simulator.received.at(-1)?.headers['x-access-token'], token);
    assert.equal(status, 'NORMAL');
  });
});

describe('a connection to a gateway', () => {
  test('carries key, token and headers, and calls the token function each time', async (t) => {
    const seen: (string | undefined)[][] = [];
    const url = await answering(t, ({ headers }, response) => {
      seen.push([headers['x-api-key'] as string, headers.authorization, headers['x-app'] as string]);
      response.end('[]');
    });
    let count = 0;
    const connection = viaGateway({
      baseUrl: url,
      apiKey: 'key',
      token: async () => `token-${++count}`,
      headers: { 'x-app': 'a' },
    });
    const client = createClient({ listAccounts: catalogue.listAccounts }, connection);
    await client.listAccounts();
    await client.listAccounts();
    assert.deepEqual(seen, [
      ['key', 'Bearer token-1', 'a'],
      ['key', 'Bearer token-2', 'a'],
    ]);
  });

  test('passes on what a token function throws; nothing is sent, an order neither', async (t) => {
    let requests = 0;
    const url = await answering(t, (_, response) => response.end(`${++requests}`));
    const expired = new Error('log in again');
    const token = () => Promise.reject(expired);
    const client = createClient(catalogue, viaGateway({ baseUrl: url, token }));
    await assert.rejects(client.listAccounts(), (error) => error === expired);
    await assert.rejects(client.placeOrder(orderOf()), (error) => error === expired);
    const bad = createClient(catalogue, viaGateway({ baseUrl: url, token: () => 'a\nb' }));
    await assert.rejects(bad.listAccounts(), { name: 'TypeError', message: /^token: / });
    assert.equal(requests, 0);
  });

  test('is followed nowhere else', async (t) => {
    const elsewhere = await answering(t, () => assert.fail('the redirect was followed'));
    const url = await answering(t, (_, response) => {
      response.writeHead(302, { location: elsewhere }).end();
    });
    const { status, detail } = await failure('refused', clientAt(url).listAccounts());
    assert.deepEqual([status, detail], [302, 'a redirect, which is not followed']);
    await failure('outcome_unknown', clientAt(url).placeOrder(orderOf()));
  });
});

describe('options that are wrong', () => {
  test('key, time-out and paths', () => {
    const baseUrl = 'https://example.com';
    assert.throws(() => viaGateway({ baseUrl, apiKey: 'a b' }), /^TypeError: apiKey: /);
    assert.throws(() => viaGateway({ baseUrl, headers: { 'a b': 'c' } }), TypeError);
    const connection = viaGateway({ baseUrl });
    for (const timeoutMs of [0, -1, Number.NaN])
      assert.throws(() => createClient(catalogue, connection, { timeoutMs }), /^TypeError: timeoutMs: /);
    for (const path of ['a', '', '/a?b', '/a/../b', '//a', '/a b', '/é'])
      assert.throws(
        () => createClient(catalogue, connection, { paths: { getOrder: path } }),
        /^TypeError: paths: getOrder /,
      );
    assert.throws(
      () => createClient(catalogue, connection, { paths: { notThere: '/a' } as object }),
      /^TypeError: paths: notThere /,
    );
  });
});
