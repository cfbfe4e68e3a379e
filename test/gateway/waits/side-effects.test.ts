import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { ApiFault } from '../../../infra/simulator/index.ts';
import { deleteWatchlist, getOrder } from '../../../lib/catalogue/index.ts';
import {
  createLimiter,
  createMemoryLimiterStore,
  type GatewayOptions,
  limiterLimits,
  refusalResponse,
} from '../../../lib/gateway/index.ts';
import { closedPort } from '../../support/closed-port.ts';
import {
  accountId,
  ask,
  coreFor,
  gatewayOf,
  orderBody,
  orderPath,
  problemOf,
  requestOf,
} from '../../support/core.ts';
import { each } from '../../support/each.ts';
import { senders } from '../../support/senders.ts';

const status = (code: number, body?: unknown): ApiFault => ({
  kind: 'status',
  status: code,
  // Followed, a redirect would show as a second request.
  headers: { location: '/trading/accounts/list' },
  body,
});

/** After each of these the gateway cannot know whether there is an order. */
const open: readonly (readonly [fault: ApiFault, executed: boolean])[] = [
  [{ kind: 'drop' }, false],
  [{ kind: 'drop-after' }, true],
  [{ kind: 'hang' }, false],
  [{ kind: 'hang-after' }, true],
  [{ kind: 'delay', ms: 3000 }, true],
  [{ kind: 'truncate' }, true],
  [{ kind: 'not-json' }, false],
  [{ kind: 'oversized', bytes: 5001 }, false],
  [status(200), false],
  // A 200 that names no order, or carries an error code, says nothing about the order.
  ...['null', 'true', '7', '""', '[]', '{}', '{"order_id":""}', '{"success":true}', '[{"order_id":"1"}]'].map(
    (body) => [status(200, body), false] as const,
  ),
  [status(200, { error_code: 'SYSTEM_ERROR', message: 'no' }), false],
  [status(200, { error_code: 'OPENAPI_ORDER_NOT_FOUND', order_id: '1' }), false],
  [status(201, '{}'), false],
  [status(204), false],
  [status(302), false],
  [status(307), false],
  [status(500), false],
  [status(500, { error_code: 'SYSTEM_ERROR', message: 'no' }), false],
  [status(502), false],
  [status(503, { error_code: 'SERVICE_NOT_AVAILABLE', message: 'no' }), false],
  [status(504), false],
  [status(417, { error_code: 'INTERNAL_ERROR', message: 'no' }), false],
  // The code of a refusal, with the status of a failure or of none that the upstream refuses by.
  ...(
    [
      [500, 'INVALID_TOKEN'],
      [500, 'UNAUTHORIZED'],
      [500, 'INCORRECT_SIGN'],
      [500, 'MISSING_NONCE'],
      [502, 'IP_NOT_ALLOWED'],
      [502, 'ACCOUNT_ACCESS_DENIED'],
      [503, 'TOO_MANY_REQUESTS'],
      [503, 'REQUEST_TOTAL_COUNT_EXCEEDED'],
      [504, 'UNAUTHORIZED_CATEGORY'],
      [409, 'INCORRECT_SIGN'],
      [202, 'ACCOUNT_ACCESS_DENIED'],
    ] as const
  ).map(([code, error_code]) => [status(code, { error_code, message: 'no' }), false] as const),
];

/** After each of these there certainly is none. */
const definitive: readonly (readonly [fault: ApiFault, code: string, status: number])[] = [
  [status(417, { error_code: 'OPENAPI_NO_TRADING_TIME', message: 'closed' }), 'upstream_rejected', 422],
  [status(400, { error_code: 'ILLEGAL_PARAMETER', message: 'no' }), 'upstream_rejected', 400],
  [status(404, { error_code: 'ORDER_NOT_FOUND', message: 'no' }), 'upstream_rejected', 404],
  [status(404), 'upstream_path_unknown', 404],
  [status(429), 'upstream_rate_limited', 503],
  [status(417, { error_code: 'REQUEST_TOTAL_COUNT_EXCEEDED', message: 'no' }), 'upstream_quota_used_up', 503],
  [status(401, { error_code: 'UNAUTHORIZED', message: 'no' }), 'upstream_auth_failed', 502],
  [status(401, { error_code: 'INCORRECT_SIGN', message: 'no' }), 'upstream_auth_failed', 502],
  [status(401, { error_code: 'INVALID_TOKEN', message: 'no' }), 'upstream_token_expired', 503],
  [status(403), 'upstream_auth_failed', 502],
  [status(403, { error_code: 'UNAUTHORIZED_CATEGORY', message: 'no' }), 'data_not_subscribed', 403],
  [status(403, { error_code: 'ACCOUNT_ACCESS_DENIED', message: 'no' }), 'upstream_rejected', 403],
];

const nameOf = (fault: ApiFault) =>
  fault.kind === 'status' ? `status ${fault.status} ${JSON.stringify(fault.body ?? '')}` : fault.kind;

for (const [sender, createSend] of senders) {
  describe(`an order over ${sender}`, { concurrent: true }, () => {
    for (const [fault, executed] of open) {
      test(`whose answer is ${nameOf(fault)} has an unknown outcome and is sent once`, async (t) => {
        const waits = 'hang delay hang-after'.includes(fault.kind);
        const { gateway, simulator, reports } = await coreFor(
          t,
          { fault: () => fault },
          { send: createSend(), maxAnswerBytes: 5000, upstreamTimeoutMs: waits ? 3000 : 120_000 },
        );
        const reply = await ask(gateway, orderPath, { body: orderBody() });
        const problem = problemOf(reply, { status: 502, code: 'outcome_unknown' });
        // Whatever code the upstream gave: one that means "try again" elsewhere must not stand here.
        assert.equal(problem.error_code, 'OUTCOME_UNKNOWN');
        assert.match(problem.find_out ?? '', /getOrder.*client_order_id/);
        // Nothing may invite a client to send it again.
        assert.equal(reply.headers['retry-after'], undefined);
        assert.equal(simulator.received.length, 1);
        assert.equal(simulator.orders.length, executed ? 1 : 0);
        assert.equal(reports[0]?.attempts, 1);
        assert.equal(reports[0]?.code, 'outcome_unknown');
      });
    }

    for (const [fault, code, ours] of definitive) {
      test(`whose answer is ${nameOf(fault)} has not been placed, and is sent once`, async (t) => {
        const { gateway, simulator } = await coreFor(t, { fault: () => fault }, { send: createSend() });
        problemOf(await ask(gateway, orderPath, { body: orderBody() }), {
          code,
          status: ours,
          find_out: undefined,
        });
        assert.equal(simulator.received.length, 1);
      });
    }

    test('that the simulator itself refuses is refused in its words', async (t) => {
      const { gateway, simulator } = await coreFor(t, {}, { send: createSend() });
      problemOf(await ask(gateway, orderPath, { body: orderBody({ symbol: 'NOSUCH' }) }), {
        status: 422,
        error_code: 'INVALID_SYMBOL',
        message: 'Symbol not known, NOSUCH',
      });
      assert.equal(simulator.orders.length, 0);
    });

    test('to an upstream that is not there is certainly not placed', async () => {
      for (const host of ['127.0.0.1', 'localhost']) {
        const gateway = gatewayOf({
          upstreamBaseUrl: `http://${host}:${await closedPort()}`,
          send: createSend(),
        });
        problemOf(await ask(gateway, orderPath, { body: orderBody() }), {
          code: 'upstream_unreachable',
          find_out: undefined,
        });
      }
    });

    test('after the upstream closed its kept connections is sent once, and placed', async (t) => {
      let fault: ApiFault | undefined;
      const { gateway, simulator } = await coreFor(t, { fault: () => fault }, { send: createSend() });
      for (const kind of [undefined, 'drop', undefined] as const) {
        fault = kind && { kind };
        const before = simulator.received.length;
        await ask(gateway, orderPath, { body: orderBody() });
        assert.equal(simulator.received.length, before + 1);
      }
      assert.equal(simulator.orders.length, 2);
    });
  });
}

test('what the upstream said with a 200 that leaves an order open is told beside it', async (t) => {
  const body = { error_code: 'SYSTEM_ERROR', message: 'busy' };
  const { gateway } = await coreFor(t, { fault: () => status(200, body) });
  const problem = problemOf(await ask(gateway, orderPath, { body: orderBody() }));
  const { detail, message, upstream_status, upstream_error_code, upstream_message } = problem;
  assert.deepEqual([upstream_status, upstream_error_code, upstream_message], [200, 'SYSTEM_ERROR', 'busy']);
  assert.match(detail, /does not say what became of it/);
  assert.equal(message, detail);
});

test('a watchlist that the upstream says was not changed is answered as it said it', async (t) => {
  const { path, example } = deleteWatchlist;
  for (const said of ['true', 'false', '{"success":false}']) {
    const { gateway } = await coreFor(t, { fault: () => status(200, said) });
    const reply = await ask(gateway, path, { body: JSON.stringify(example.body) });
    assert.deepEqual([reply.status, reply.text], [200, said]);
  }
  const { gateway } = await coreFor(t, { fault: () => status(200, '{}') });
  const reply = await ask(gateway, path, { body: JSON.stringify(example.body) });
  assert.equal(problemOf(reply).code, 'outcome_unknown');
});

describe('a defect of ours', () => {
  const defect = new Error('a defect');
  const failing = async (): Promise<never> => {
    throw defect;
  };

  test('after an order was signed and handed over leaves its outcome unknown', async (t) => {
    const { gateway, reports } = await coreFor(t, {}, { send: failing });
    const reply = await ask(gateway, orderPath, { body: orderBody() });
    const problem = problemOf(reply, { status: 502, code: 'outcome_unknown' });
    assert.match(problem.find_out ?? '', /getOrder.*client_order_id/);
    assert.ok(!reply.text.includes(defect.message));
    assert.equal(reports[0]?.defect, defect);
    assert.equal(reports[0]?.attempts, 1);
  });

  test('with an answer that it could not read leaves its outcome unknown, too', async (t) => {
    const answer = { kind: 'answer', status: 200, body: new Uint8Array([0x31]) } as const;
    const header = () => {
      throw defect;
    };
    const { gateway } = await coreFor(t, {}, { send: async () => ({ ...answer, header }) });
    assert.equal(problemOf(await ask(gateway, orderPath, { body: orderBody() })).code, 'outcome_unknown');
  });

  test('an order that the upstream calls a repetition may have been placed: our nonces are used once', async (t) => {
    for (const error_code of ['DUPPLICATED_REQUEST', 'OPENAPI_DUPPLICATED_REQUEST']) {
      const { gateway, simulator } = await coreFor(t, {
        fault: () => ({ kind: 'status', status: 401, body: { error_code } }),
      });
      problemOf(await ask(gateway, orderPath, { body: orderBody() }), { code: 'outcome_unknown' });
      assert.equal(simulator.received.length, 1);
    }
  });

  for (const kind of ['drop', 'drop-after'] as const)
    test(`whose answer was lost (${kind}) can be asked for, which tells what became of it`, async (t) => {
      const { gateway, simulator } = await coreFor(t, {
        fault: ({ method }) => (method === 'POST' ? { kind } : undefined),
      });
      const lost = await ask(gateway, orderPath, { body: orderBody({ client_order_id: 'order-lost' }) });
      assert.equal(problemOf(lost).code, 'outcome_unknown');
      const reply = await ask(gateway, `${getOrder.path}?account_id=${accountId}&client_order_id=order-lost`);
      if (kind === 'drop-after') assert.equal(reply.status, 200, reply.text);
      else assert.equal(problemOf(reply).error_code, 'OPENAPI_ORDER_NOT_FOUND');
      assert.equal(simulator.orders.length, kind === 'drop-after' ? 1 : 0);
    });

  test('whose answer was lost is not called refused when it is sent again: it is live', async (t) => {
    let lost = 0;
    const { gateway, simulator } = await coreFor(t, {
      fault: ({ method }) => (method === 'POST' && lost++ === 0 ? { kind: 'drop-after' } : undefined),
    });
    const body = orderBody({ client_order_id: 'order-again' });
    const codes = [];
    for (let nth = 0; nth < 3; nth++) codes.push(problemOf(await ask(gateway, orderPath, { body })));
    assert.deepEqual(each(codes, 'code'), ['outcome_unknown', 'outcome_unknown', 'outcome_unknown']);
    assert.match(codes[1]?.detail ?? '', /accepted an order with this client_order_id before.*may be live/);
    assert.match(codes[1]?.find_out ?? '', /getOrder.*client_order_id/);
    assert.equal(simulator.orders.length, 1);
  });

  test('before an order was handed over is a plain failure', async (t) => {
    const random = () => {
      throw defect;
    };
    const { gateway, simulator, reports } = await coreFor(t, {}, { nonce: random });
    problemOf(await ask(gateway, orderPath, { body: orderBody() }), {
      status: 500,
      code: 'gateway_error',
      find_out: undefined,
    });
    assert.equal(simulator.received.length, 0);
    assert.equal(reports[0]?.attempts, 0);
    assert.equal(reports[0]?.defect, defect);
  });

  test('with a read is a plain failure', async (t) => {
    const { gateway } = await coreFor(t, {}, { send: failing });
    assert.equal(problemOf(await ask(gateway, '/trading/accounts/list')).code, 'gateway_error');
  });

  test('in the log does not cost a client the answer', async (t) => {
    const report = () => {
      throw defect;
    };
    const { gateway, simulator } = await coreFor(t, {}, { report });
    assert.equal((await ask(gateway, orderPath, { body: orderBody() })).status, 200);
    assert.equal(simulator.orders.length, 1);
  });
});

describe('an order that never left says so, and that it had no effect', () => {
  const words = /The request was not sent; it had no effect\./;
  const order = { body: orderBody() };
  const now = Date.UTC(2026, 10, 17, 9, 30);
  const used = createLimiter({
    store: createMemoryLimiterStore(),
    limits: limiterLimits({ trading: { requests: 1, perSeconds: 60, for: ['orders'] } }),
    bucket: 'test',
  });

  for (const [code, options] of [
    ['secret_not_set', { secrets: { read: async () => '' } }],
    ['secret_invalid', { secrets: { read: async () => '{}x' } }],
    ['secret_unavailable', { secrets: { read: () => Promise.reject(new Error('away')) } }],
    ['upstream_unreachable', { send: async () => ({ kind: 'unreachable' }) }],
    ['gateway_error', { nonce: () => '' }],
    [
      'budget_used_up',
      { limiter: used, operationLimits: { trading: { requests: 1, perSeconds: 60, for: ['orders'] } } },
    ],
  ] as const satisfies readonly (readonly [string, Partial<GatewayOptions>])[])
    test(code, async (t) => {
      const { gateway, simulator } = await coreFor(t, {}, options);
      // The first one takes the only permit, where there is one.
      if (code === 'budget_used_up') assert.equal((await ask(gateway, orderPath, order)).status, 200);
      const problem = problemOf(await ask(gateway, orderPath, order));
      assert.equal(problem.code, code);
      assert.match(problem.detail, words);
      assert.equal(problem.find_out, undefined);
      assert.equal(simulator.received.length, code === 'budget_used_up' ? 1 : 0);
    });

  test('gateway_timeout', async (t) => {
    const { gateway, simulator } = await coreFor(t, {}, { clock: () => now });
    const { status, body } = await gateway.handle({ ...requestOf(orderPath, order), deadline: now + 999 });
    const { code, detail } = JSON.parse(new TextDecoder().decode(body));
    assert.deepEqual([status, code, simulator.received.length], [504, 'gateway_timeout', 0]);
    assert.match(detail, words);
  });

  test('what API Gateway refuses itself, in the words of the gateway', () => {
    for (const code of ['throttled', 'quota_exceeded'] as const)
      assert.match(new TextDecoder().decode(refusalResponse({ code }, 'r').body), words);
  });
});

describe('a platform that stops waiting', () => {
  const now = Date.UTC(2026, 10, 17, 9, 30);

  test('later limits the attempt', async (t) => {
    const limits: number[] = [];
    const { gateway } = await coreFor(
      t,
      {},
      {
        clock: () => now,
        upstreamTimeoutMs: 5000,
        send: async (_request, { timeoutMs }) => {
          limits.push(timeoutMs);
          // After which a read is not sent again.
          return { kind: 'too_large' };
        },
      },
    );
    const request = {
      method: 'GET',
      path: '/trading/accounts/list',
      query: [],
      headers: {},
      requestId: 'request-1',
    };
    for (const deadline of [now + 1000, now + 4999, now + 60_000])
      await gateway.handle({ ...request, deadline });
    await gateway.handle(request);
    assert.deepEqual(limits, [1000, 4999, 5000, 5000]);
  });
});
