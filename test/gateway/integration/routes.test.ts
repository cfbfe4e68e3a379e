import assert from 'node:assert/strict';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { exposedOperations, groups, operations, routesOf } from '../../../lib/catalogue/index.ts';
import { isSentOn } from '../../../lib/catalogue/operation.ts';
import type { Gateway } from '../../../lib/gateway/index.ts';
import { callOf, type Prepare } from '../../support/calls.ts';
import {
  accountsPath,
  ask,
  coreFor,
  orderBody,
  orderPath,
  problemOf,
  snapshotTarget,
  startCore,
} from '../../support/core.ts';

/** Those that the gateway sends on. */
const sent = operations.filter(isSentOn);

/** Without those that need an open connection to the market-data stream, which no gateway offers. */
const callable = sent.filter(({ group }) => group !== 'market-stream');

const preparing =
  (gateway: Gateway): Prepare =>
  async (path, body) => {
    const reply = await ask(gateway, path, { body: JSON.stringify(body) });
    assert.equal(reply.status, 200, reply.text);
    return JSON.parse(reply.text);
  };

describe('every path of every operation', () => {
  // One for all of them: each looks only at what it sent itself.
  let core: Awaited<ReturnType<typeof startCore>>;
  beforeAll(async () => {
    core = await startCore({ unrouted: [] });
  });
  afterAll(() => core.simulator.close());

  for (const { method, path, operation } of routesOf(callable)) {
    test(`${method} ${path} is ${operation.id}, signed and sent as called`, async () => {
      const { gateway, simulator, reports } = core;
      const { search, ...draft } = await callOf(operation.id, preparing(gateway));
      const before = simulator.received.length;
      const reply = await ask(gateway, path + search, draft);
      assert.equal(reply.status, 200, reply.text);
      assert.ok(v.is(operation.response, JSON.parse(reply.text)), 'the answer fits its schema');
      assert.equal(simulator.received.length, before + 1);
      const received = simulator.received.at(-1);
      assert.equal(received?.method, method);
      assert.equal(received?.target.split('?')[0], path);
      // The simulator's verdict on the signature, the parameters and the body.
      assert.equal(received?.outcome, 'ok');
      assert.equal(reports.at(-1)?.operation, operation.id);
    });
  }
});

describe('a base URL with a path', () => {
  for (const end of ['', '/', '//']) {
    test(`that ends in "${end}" is a prefix of what is signed and sent`, async (t) => {
      const prefix = '/v7/up~stream-1.x';
      const prefixed = operations.map((operation) => ({
        ...operation,
        path: prefix + operation.path,
        aliases: operation.aliases.map((alias) => prefix + alias),
      }));
      const { simulator } = await coreFor(t, { operations: prefixed, unrouted: [] });
      const { gateway } = await coreFor(t, {}, { upstreamBaseUrl: `${simulator.url}${prefix}${end}` });
      for (const { path, operation } of routesOf(callable)) {
        const { search, ...draft } = await callOf(operation.id, preparing(gateway));
        assert.equal((await ask(gateway, path + search, draft)).status, 200);
        const received = simulator.received.at(-1);
        assert.equal(received?.target.split('?')[0], prefix + path);
        assert.equal(received?.outcome, 'ok');
      }
    });
  }
});

describe('what is no route', () => {
  for (const path of [
    '/',
    '',
    '/trading/accounts',
    '/trading/accounts/list/',
    '//trading/accounts/list',
    '/Trading/Accounts/List',
    '/trading/accounts/%6cist',
    '/trading/./accounts/list',
    '/trading/accounts/list/../list',
    '__proto__',
    'constructor',
  ]) {
    test(`${path || 'nothing'} is answered 404`, async (t) => {
      const { gateway, simulator } = await coreFor(t);
      problemOf(await ask(gateway, path), {
        status: 404,
        code: 'unknown_operation',
        error_code: 'NOT_FOUND',
      });
      assert.equal(simulator.received.length, 0);
    });
  }

  for (const [path, nearest] of [
    ['/openapi/market-data/stock/snapshots', 'GET /openapi/market-data/stock/snapshot'],
    ['/market-data/stock/snapshot/list', 'GET /market-data/stocks/snapshots/list'],
    ['/Trading/Accounts/List', 'GET /trading/accounts/list'],
    ['/trade/place-order', 'POST /trade/place_order'],
    ['/v1/trade/place_order', 'POST /trade/place_order'],
    ['/nowhere', undefined],
    [`/${'list/'.repeat(1000)}`, undefined],
  ] as const)
    test(`${path.slice(0, 50)} is answered 404 with ${nearest ?? 'no other path'}`, async (t) => {
      const { gateway } = await coreFor(t);
      const { detail } = problemOf(await ask(gateway, path));
      assert.equal(
        detail,
        `No operation has this path, or its group is not open here.${nearest ? ` The nearest one is ${nearest}.` : ''}`,
      );
    });

  for (const { method, path } of routesOf(operations)) {
    test(`${path} with any other method is 405 and names ${method}`, async (t) => {
      const { gateway, simulator } = await coreFor(t);
      for (const other of ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'get', 'post', '']) {
        if (other === method) continue;
        const reply = await ask(gateway, path, {}, other);
        problemOf(reply, { status: 405, code: 'method_not_allowed', detail: `This path takes ${method}.` });
        assert.equal(reply.headers.allow, method);
      }
      assert.equal(simulator.received.length, 0);
    });
  }

  test('an operation that is not offered is not there, with any of its paths and methods', async (t) => {
    for (const group of Object.keys(groups) as (keyof typeof groups)[]) {
      const own = exposedOperations(operations, [group]);
      const { gateway, simulator } = await coreFor(t, {}, { operations: own });
      for (const { method, path } of routesOf(sent.filter((operation) => operation.group !== group))) {
        assert.equal(problemOf(await ask(gateway, path, {}, method)).code, 'unknown_operation');
        assert.equal(problemOf(await ask(gateway, path, {}, 'PUT')).code, 'unknown_operation');
      }
      assert.equal(simulator.received.length, 0);
    }
  });
});

test('queries reach the upstream percent-encoded, never with a plus, and verify there', async (t) => {
  const { gateway, simulator } = await coreFor(t, {
    fault: () => ({ kind: 'status', status: 200, body: '{"order_id":"1"}' }),
  });
  const text = "A B+C%20,!'()*~,é,😀,=?#/";
  const reply = await ask(gateway, orderPath, { query: [['note', text]], body: orderBody() });
  assert.equal(reply.status, 200);
  const [received] = simulator.received;
  assert.equal(received?.outcome, 'fault');
  assert.match(received?.target ?? '', /^[\w.~/?&=%-]+$/);
  assert.equal(new URLSearchParams(received?.target.split('?')[1]).get('note'), text);
});

test('a request is sent once, and only once', async (t) => {
  const { gateway, simulator } = await coreFor(t);
  await Promise.all([ask(gateway, snapshotTarget), ask(gateway, accountsPath), ask(gateway, snapshotTarget)]);
  assert.equal(simulator.received.length, 3);
  assert.equal(simulator.counts.ok, 3);
});
