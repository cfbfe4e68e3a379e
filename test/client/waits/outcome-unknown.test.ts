/** A request with a side effect is sent once; when its answer is lost, no error claims that nothing happened. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { ApiFault } from '../../../infra/simulator/index.ts';
import { createClient, direct } from '../../../lib/client/index.ts';
import { notSent, refusalKinds } from '../../../lib/problem.ts';
import { createSigner } from '../../../lib/signer/index.ts';
import { until } from '../../support/until.ts';
import { useCalmTime } from '../../world/test-time.ts';
import { answering, catalogue, clientAt, directly, failure, orderOf, throughGateway } from '../support.ts';

useCalmTime();

const { findOut } = catalogue.placeOrder.sideEffect;

describe('an order whose answer is lost', { concurrent: true }, () => {
  const lost: readonly ApiFault[] = [
    { kind: 'drop-after' },
    { kind: 'hang-after' },
    { kind: 'truncate' },
    { kind: 'not-json' },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 200, body: '' },
    // It names no order, or has an error code beside one.
    { kind: 'status', status: 200, body: '{}' },
    { kind: 'status', status: 200, body: [] },
    { kind: 'status', status: 200, body: { order_id: '1', error_code: 'OPENAPI_PARAM_ERR' } },
    { kind: 'status', status: 417, body: { error_code: 'OPENAPI_SYSTEM_ERROR', message: 'later' } },
    { kind: 'status', status: 401, body: { error_code: 'DUPPLICATED_REQUEST', message: 'seen' } },
    {
      kind: 'status',
      status: 417,
      body: { error_code: 'OPENAPI_TRADE_PLACE_ORDER_REPEAT', message: 'used' },
    },
    // Only these refuse: 400, 401, 403, 404, 417, 429. With another status, an intermediary may have answered: the outcome is unknown.
    ...[402, 405, 408, 409, 410, 418, 422, 499].map((status): ApiFault => ({ kind: 'status', status })),
  ];
  for (const fault of lost)
    test(`by a signer: ${JSON.stringify(fault)}`, async (t) => {
      const { simulator, client } = await directly(
        t,
        { fault: () => fault },
        {},
        { timeoutMs: fault.kind === 'hang-after' ? 3000 : 120_000 },
      );
      const error = await failure('outcome_unknown', client.placeOrder(orderOf()));
      assert.equal(error.findOut, findOut);
      assert.ok(error.message.endsWith(`it may or may not have taken effect. ${findOut}`), error.message);
      assert.equal(simulator.received.length, 1);
    });

  for (const fault of lost.filter(({ kind }) => kind !== 'hang-after' && kind !== 'status'))
    test(`by the gateway: ${JSON.stringify(fault)}`, async (t) => {
      const { simulator, client } = await throughGateway(t, { fault: () => fault });
      const { answer, ...error } = await failure('outcome_unknown', client.placeOrder(orderOf()));
      assert.deepEqual([answer?.status, answer?.code], [502, 'outcome_unknown']);
      assert.ok(answer?.requestId);
      assert.equal(error.findOut, findOut);
      // Besides the look-ups of the gateway, which are lost, too.
      assert.equal(simulator.received.filter(({ method }) => method === 'POST').length, 1);
    });

  test('before the gateway has answered', async (t) => {
    const { simulator, client } = await throughGateway(t, { fault: () => ({ kind: 'hang-after' }) });
    const error = await failure('outcome_unknown', client.placeOrder(orderOf(), { timeoutMs: 3000 }));
    assert.match(error.message, /no answer came within 3000 ms/);
    assert.equal(simulator.orders.length, 1);
  });

  test('because the caller aborted: the reason is the cause', async (t) => {
    const { simulator, client } = await directly(t, { fault: () => ({ kind: 'hang-after' }) });
    const controller = new AbortController();
    const reason = new Error('the user left');
    const call = client.placeOrder(orderOf(), { signal: controller.signal });
    await until(() => simulator.orders.length > 0);
    controller.abort(reason);
    const { cause, message } = await failure('outcome_unknown', call);
    assert.equal(cause, reason);
    assert.match(message, /the call was aborted/);
    assert.equal(simulator.orders.length, 1);
  });

  test('and is found by the findOut of the error', async (t) => {
    let loses = true;
    const { client } = await throughGateway(t, {
      fault: () => (loses ? { kind: 'drop-after' } : undefined),
    });
    const order = orderOf();
    await failure('outcome_unknown', client.placeOrder(order));
    loses = false;
    const client_order_id = order.new_orders[0]?.client_order_id ?? '';
    const shown = await client.getOrder({ account_id: order.account_id, client_order_id });
    assert.equal(shown.orders[0]?.client_order_id, client_order_id);
  });
});

describe('an order that a connection lost', () => {
  const failing = (code: string, syscall?: string) =>
    createClient(
      { placeOrder: catalogue.placeOrder },
      direct({
        baseUrl: 'https://upstream.example',
        signer: createSigner({ appKey: 'key', appSecret: 'secret' }),
        fetch: async () => {
          throw new TypeError('fetch failed', { cause: { code, syscall } });
        },
      }),
    );

  for (const [code, syscall] of [
    ['ECONNREFUSED', 'connect'],
    ['EHOSTUNREACH', 'connect'],
    ['ENOTFOUND', 'getaddrinfo'],
  ] as const)
    test(`${code} of ${syscall} was not sent`, async () => {
      await failure('unreachable', failing(code, syscall).placeOrder(orderOf()));
    });

  for (const [code, syscall] of [
    ['EHOSTUNREACH', 'read'],
    ['ENETUNREACH', 'write'],
    ['ECONNRESET', 'read'],
    ['ETIMEDOUT', undefined],
  ] as const)
    test(`${code} of ${syscall} may have been sent`, async () => {
      await failure('outcome_unknown', failing(code, syscall).placeOrder(orderOf()));
    });
});

describe('an order that certainly had no effect is refused', () => {
  test('by the upstream', async (t) => {
    const { client } = await directly(t);
    const error = await failure('refused', client.placeOrder(orderOf({ symbol: 'NOSUCH' })));
    assert.deepEqual([error.status, error.errorCode], [417, 'INVALID_SYMBOL']);
  });

  for (const [status, code] of [
    [502, 'upstream_auth_failed'],
    [503, 'upstream_token_expired'],
    [502, 'upstream_unreachable'],
    [503, 'upstream_rate_limited'],
    [503, 'secret_not_set'],
    [504, 'gateway_timeout'],
    [429, 'throttled'],
    [404, 'upstream_path_unknown'],
  ] as const)
    test(`by the gateway: ${code}`, async (t) => {
      const url = await answering(t, (_, response) =>
        response.writeHead(status).end(JSON.stringify({ code, error_code: 'SYSTEM_ERROR' })),
      );
      assert.equal((await failure('refused', clientAt(url).placeOrder(orderOf()))).code, code);
    });

  test('by the gateway, with any code that says that nothing was sent', async (t) => {
    const codes = Object.entries(refusalKinds).filter(
      ([code, { detail }]) => detail.includes(notSent) && code !== 'orders_closed',
    );
    assert.ok(codes.length > 5, 'the sentence is in several of them');
    for (const [code, { status }] of codes) {
      const url = await answering(t, (_, response) =>
        response.writeHead(status).end(JSON.stringify({ code })),
      );
      assert.equal((await failure('refused', clientAt(url).placeOrder(orderOf()))).code, code);
    }
  });

  for (const [status, body] of [
    [504, { code: 'gateway_timeout', find_out: 'Look for it.' }],
    [500, { code: 'gateway_error', find_out: 'Look for it.' }],
    [502, { code: 'upstream_error' }],
    // It says nothing of an earlier request with the same id, whose order may be live.
    [503, { code: 'orders_closed' }],
    [502, { code: 'a_code_of_tomorrow' }],
    [502, { message: 'Internal server error' }],
    [504, '<html>'],
  ] as const)
    test(`but not where it cannot know: ${status} ${JSON.stringify(body)}`, async (t) => {
      const url = await answering(t, (_, response) => response.writeHead(status).end(JSON.stringify(body)));
      const { answer, findOut: how } = await failure('outcome_unknown', clientAt(url).placeOrder(orderOf()));
      assert.equal(answer?.status, status);
      assert.equal(how, findOut);
      // Of a read the same answer is a refusal.
      await failure('refused', clientAt(url).listAccounts());
    });
});
