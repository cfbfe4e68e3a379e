/** What a call ends with when it does not end well. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { createClient, direct, viaGateway } from '../../lib/client/index.ts';
import { createSigner } from '../../lib/signer/index.ts';
import { closedPort } from '../support/closed-port.ts';
import { credentials } from '../support/core.ts';
import {
  accountId,
  answering,
  apple,
  catalogue,
  clientAt,
  directly,
  failure,
  orderOf,
  throughGateway,
} from './support.ts';

describe('a wrong call is not sent, and all that is wrong is named', () => {
  const requests: (string | undefined)[] = [];
  const client = createClient(
    catalogue,
    viaGateway({
      baseUrl: 'https://example.com',
      fetch: async (url) => {
        requests.push(`${url}`);
        return new Response('{"order_id":"1"}');
      },
    }),
  );
  // What the compiler refuses, a program in JavaScript may still do.
  type Loose = Record<string, (input?: unknown, options?: object) => Promise<unknown>>;
  const loose = client as unknown as Loose;
  const faultsOf = async (name: string, input?: unknown, options?: object) => {
    const { faults, operation } = await failure('invalid_request', loose[name]!(input, options));
    assert.equal(operation, name);
    assert.equal(requests.length, 0);
    return faults.map(({ in: where, name, received }) => [where, name, received]);
  };

  test('parameters', async () => {
    assert.deepEqual(
      await faultsOf('getStockSnapshots', {
        symbols: ['A', 'B&C'],
        category: 'US',
        simbols: 1,
        overnight_required: 2,
      }),
      [
        ['query', 'symbols', '["A","B&C"]'],
        ['query', 'category', 'US'],
        ['query', 'simbols', '1'],
        ['query', 'overnight_required', '2'],
      ],
    );
    assert.deepEqual(await faultsOf('getStockSnapshots', { symbols: null }), [
      ['query', 'symbols', undefined],
      ['query', 'category', undefined],
    ]);
    assert.deepEqual(await faultsOf('getStockSnapshots', 'AAPL'), [
      ['query', 'query', 'AAPL'],
      ['query', 'symbols', undefined],
      ['query', 'category', undefined],
    ]);
    assert.deepEqual(await faultsOf('listAccounts', { toString: 'x' }), [['query', 'toString', 'x']]);
  });

  test('in one sentence with the allowed and the received value, shortened', async () => {
    const { message, faults } = await failure(
      'invalid_request',
      loose.getStockSnapshots!({ symbols: ['A'], category: 'US'.repeat(100) }),
    );
    assert.equal(
      message,
      `getStockSnapshots: not sent; category is not an allowed value (allowed: one of US_STOCK, US_ETF, received: ${'US'.repeat(50)}…)`,
    );
    assert.deepEqual(faults[0], {
      in: 'query',
      name: 'category',
      detail: 'is not an allowed value',
      allowed: 'one of US_STOCK, US_ETF',
      received: `${'US'.repeat(50)}…`,
    });
  });

  test('bodies', async () => {
    const body = orderOf({ side: 'HOLD', limit_price: 1.1 });
    const { faults } = await failure('invalid_request', client.placeOrder({ ...body, account_id: '' }));
    assert.deepEqual(faults.map(({ name, received }) => [name, received]).sort(), [
      ['/account_id', ''],
      ['/new_orders/0/limit_price', '1.1'],
      ['/new_orders/0/side', 'HOLD'],
    ]);
    for (const { allowed } of faults) assert.ok(allowed);
    assert.deepEqual(await faultsOf('checkToken'), [['body', '/token', undefined]]);
    assert.deepEqual(await faultsOf('checkToken', 'text'), [['body', '/', 'text']]);
    assert.deepEqual(await faultsOf('checkToken', { token: 'a', more: 1n }), [['body', '/', undefined]]);
  });

  test('open queries and headers', async () => {
    const query = { 'a&b': 1, c: 'x&y', d: { e: 1 }, f: '\ud800', ok: [1, 'a'] };
    assert.deepEqual(
      await faultsOf('placeOrder', orderOf(), { query, headers: { category: 'é', host: 'x' } }),
      [
        ['query', 'a&b', '1'],
        ['query', 'c', 'x&y'],
        ['query', 'd', '{"e":1}'],
        ['query', 'f', '\ud800'],
        ['header', 'category', 'é'],
        ['header', 'host', 'x'],
      ],
    );
    await client.placeOrder(orderOf(), { query: { ok: [1, 'a'], none: null } });
    assert.deepEqual(requests, ['https://example.com/trade/place_order?ok=1%2Ca']);
  });
});

describe('a refusing answer', () => {
  test('of the gateway: its code, the upstream’s error, request id, retry-after', async (t) => {
    const { client } = await throughGateway(t, {
      fault: ({ path }) =>
        path === '/trading/accounts/list'
          ? { kind: 'status', status: 429, headers: { 'retry-after': '7' } }
          : undefined,
    });
    const limited = await failure('refused', client.listAccounts());
    assert.deepEqual(
      [limited.status, limited.code, limited.retryAfterSeconds],
      [503, 'upstream_rate_limited', 7],
    );
    assert.ok(limited.requestId);

    const call = client.getOrder({ account_id: accountId, client_order_id: 'none' });
    const { status, code, errorCode, detail, upstream, message } = await failure('refused', call);
    assert.deepEqual([status, code, errorCode], [422, 'upstream_rejected', 'OPENAPI_ORDER_NOT_FOUND']);
    assert.ok(detail);
    assert.deepEqual([upstream?.status, upstream?.errorCode], [417, 'OPENAPI_ORDER_NOT_FOUND']);
    assert.equal(message, `getOrder: 422 upstream_rejected OPENAPI_ORDER_NOT_FOUND: ${detail}`);
  });

  test('of something in between: a wait in seconds, in a fraction, or until a date', async () => {
    const waitOf = async (header: string) => {
      const fetch = async () => new Response('{}', { status: 503, headers: { 'retry-after': header } });
      const client = createClient(catalogue, viaGateway({ baseUrl: 'https://example.com', fetch }));
      return (await failure('refused', client.listAccounts())).retryAfterSeconds;
    };
    assert.equal(await waitOf('7'), 7);
    assert.equal(await waitOf('1.5'), 1.5);
    assert.equal(await waitOf('Fri, 31 Dec 1999 23:59:59 GMT'), 0);
    const inAnHour = (await waitOf(new Date(Date.now() + 3_600_000).toUTCString())) ?? 0;
    assert.ok(inAnHour > 3000 && inAnHour <= 3600);
    for (const odd of ['soon', '-1', '1e9', '2026-01-01', 'Fri, 31 Foo 1999 GMT'])
      assert.equal(await waitOf(odd), undefined);
  });

  test('of the gateway about parameters: the same faults as before sending', async (t) => {
    const { url } = await throughGateway(t);
    const unknownKey = createClient(
      { listAccounts: catalogue.listAccounts },
      viaGateway({ baseUrl: url, apiKey: 'unknown-key' }),
    );
    assert.equal((await failure('refused', unknownKey.listAccounts())).code, 'unknown_api_key');
    // An entry that allows more than the gateway's.
    const { query } = catalogue.getStockSnapshots;
    const lax = { ...catalogue.getStockSnapshots, query: { ...query, category: query.symbols } };
    const laxClient = createClient({ lax }, viaGateway({ baseUrl: url, apiKey: 'key-of-this-test' }));
    const refused = await failure('refused', laxClient.lax({ symbols: 'A', category: 'US' }));
    assert.equal(refused.code, 'invalid_parameter');
    assert.deepEqual(
      refused.faults.map(({ in: where, name, allowed, received }) => [where, name, allowed, received]),
      [['query', 'category', 'one of US_STOCK, US_ETF', 'US']],
    );
  });

  const flat = {
    title: 'Unprocessable Content',
    status: 422,
    detail: 'The upstream refused the request: no such symbol',
    code: 'upstream_rejected',
    request_id: 'request-1',
    error_code: 'INVALID_SYMBOL',
    message: 'no such symbol',
    upstream_status: 417,
    upstream_error_code: 'INVALID_SYMBOL',
    upstream_message: 'no such symbol',
    upstream_request_id: 'upstream-1',
  };

  for (const [form, body] of [
    ['flat', flat],
    ['nested', { ...flat, errors: [] }],
  ] as const)
    test(`of a gateway in its ${form} form`, async (t) => {
      const url = await answering(t, (_, response) => response.writeHead(422).end(JSON.stringify(body)));
      const { upstream, faults, code, errorCode, detail, requestId } = await failure(
        'refused',
        clientAt(url).listAccounts(),
      );
      assert.deepEqual(
        { upstream, faults, code, errorCode, detail, requestId },
        {
          upstream: {
            status: 417,
            errorCode: 'INVALID_SYMBOL',
            message: 'no such symbol',
            requestId: 'upstream-1',
          },
          faults: [],
          code: 'upstream_rejected',
          errorCode: 'INVALID_SYMBOL',
          detail: 'no such symbol',
          requestId: 'request-1',
        },
      );
    });

  test('is asked of a gateway with its lists, in a header that a browser sends without a preflight', async (t) => {
    const seen: unknown[] = [];
    const url = await answering(t, ({ headers }, response) => {
      seen.push(headers.accept);
      response.end('[]');
    });
    await clientAt(url).listAccounts();
    const own = viaGateway({ baseUrl: url, headers: { accept: 'application/json' } });
    await createClient({ listAccounts: catalogue.listAccounts }, own).listAccounts();
    const signer = createSigner(credentials);
    await createClient(
      { listAccounts: catalogue.listAccounts },
      direct({ baseUrl: url, signer }),
    ).listAccounts();
    // The last is the runtime's own: the interface has one form.
    assert.deepEqual(seen, ['application/problem+json, application/json', 'application/json', '*/*']);
  });

  for (const [shape, body, errorCode, detail] of [
    ['of trading', { error_code: 'ORDER_NOT_FOUND', message: 'no order' }, 'ORDER_NOT_FOUND', 'no order'],
    [
      'of market data',
      { error_code: 'UNSUPPORTED_CATEGORY', message: 'no data', status: 417 },
      'UNSUPPORTED_CATEGORY',
      'no data',
    ],
    ['of its router', { error_msg: 'Route Not Found' }, undefined, 'Route Not Found'],
    [
      'of its servers',
      { timestamp: '2026-11-20T10:00:00.000+0000', status: 417, error: 'Error', message: 'no', path: '/x' },
      undefined,
      'no',
    ],
    [
      'of its servers without words',
      { timestamp: 1763632800000, status: 417, error: 'Expectation Failed', message: '', path: '/x' },
      undefined,
      'Expectation Failed',
    ],
  ] as const)
    test(`of the upstream itself, in the shape ${shape}`, async (t) => {
      const { client } = await directly(t, { fault: () => ({ kind: 'status', status: 417, body }) });
      const error = await failure('refused', client.listAccounts());
      assert.deepEqual(
        [error.status, error.code, error.errorCode, error.detail],
        [417, 'refused', errorCode, detail],
      );
      assert.deepEqual([error.faults, error.upstream], [[], undefined]);
    });

  test('of the upstream itself', async (t) => {
    const { client } = await directly(t);
    const call = client.getOrder({ account_id: accountId, client_order_id: 'none' });
    const { status, code, errorCode, detail, requestId, text } = await failure('refused', call);
    assert.deepEqual([status, code, errorCode], [417, 'refused', 'OPENAPI_ORDER_NOT_FOUND']);
    assert.deepEqual(JSON.parse(text), { error_code: errorCode, message: detail });
    assert.match(requestId ?? '', /^sim-/);
  });

  for (const [body, detail] of [
    ['', undefined],
    ['<html>', undefined],
    ['null', undefined],
    ['{"error_msg":"no route and no API found"}', 'no route and no API found'],
    ['{"error_code":1,"errors":"no","upstream_status":"3","message":{}}', undefined],
  ] as const)
    test(`whatever its body is: ${body || 'nothing'}`, async (t) => {
      const url = await answering(t, (_, response) => response.writeHead(404).end(body));
      const error = await failure('refused', clientAt(url).listAccounts());
      assert.deepEqual([error.status, error.detail, error.text], [404, detail, body]);
      assert.deepEqual([error.code, error.errorCode, error.faults], ['refused', undefined, []]);
    });
});

describe('no answer to a read', () => {
  test('no server there', async () => {
    const client = clientAt(`http://127.0.0.1:${await closedPort()}`);
    const error = await failure('unreachable', client.listAccounts());
    assert.ok(error.cause instanceof TypeError);
    // Nothing was sent, so that there is nothing to find out.
    await failure('unreachable', client.placeOrder(orderOf()));
  });

  for (const kind of ['drop', 'drop-after', 'truncate'] as const)
    test(`the connection ends: ${kind}`, async (t) => {
      const { client } = await directly(t, { fault: () => ({ kind }) });
      await failure('unreachable', client.listAccounts());
    });

  test('it is not JSON', async (t) => {
    const { client } = await directly(t, { fault: () => ({ kind: 'not-json' }) });
    assert.match((await failure('broken_answer', client.listAccounts())).text, /^<!doctype/);
  });

  test('it is late: by the time-out of the call, of the client, and to the last byte', async (t) => {
    const { client } = await directly(t, { fault: () => ({ kind: 'hang' }) }, {}, { timeoutMs: 30 });
    assert.equal((await failure('timed_out', client.listAccounts())).timeoutMs, 30);
    assert.equal((await failure('timed_out', client.listAccounts({}, { timeoutMs: 20 }))).timeoutMs, 20);
    const url = await answering(t, (_, response) => void response.write('['));
    await failure('timed_out', clientAt(url, { timeoutMs: 30 }).listAccounts());
    // A fetch that ignores its signal delays no caller.
    const deaf = viaGateway({ baseUrl: url, fetch: () => new Promise(() => {}) });
    await failure('timed_out', createClient(catalogue, deaf, { timeoutMs: 20 }).listAccounts());
    // Nor does a token that never resolves; an order that was not sent has no outcome to find out.
    const noToken = viaGateway({ baseUrl: url, token: () => new Promise(() => {}) });
    await failure('timed_out', createClient(catalogue, noToken, { timeoutMs: 20 }).placeOrder(orderOf()));
  });

  test('without a time-out, and with one that no timer counts, it is waited for', async (t) => {
    const { client } = await directly(t, { fault: () => ({ kind: 'delay', ms: 50 }) });
    await client.listAccounts({}, { timeoutMs: Number.POSITIVE_INFINITY });
    await client.listAccounts({}, { timeoutMs: 1e12 });
  });
});

describe('an abort', () => {
  test('before: nothing is sent', async (t) => {
    const { simulator, client } = await directly(t);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await assert.rejects(client.getStockSnapshots(apple, { signal }), (error) => error === reason);
    await assert.rejects(client.placeOrder(orderOf(), { signal }), (error) => error === reason);
    assert.equal(simulator.received.length, 0);
  });

  test('meanwhile: a read rejects with the reason', async (t) => {
    const { client } = await directly(t, { fault: () => ({ kind: 'hang' }) });
    const controller = new AbortController();
    const call = client.listAccounts({}, { signal: controller.signal });
    const reason = new Error('enough');
    setTimeout(() => controller.abort(reason), 20);
    await assert.rejects(call, (error) => error === reason);
    const timeout = client.listAccounts({}, { signal: AbortSignal.timeout(20) });
    await assert.rejects(timeout, { name: 'TimeoutError' });
  });

  test('afterwards: nothing, and the signal is let go of', async (t) => {
    const { client } = await directly(t);
    const controller = new AbortController();
    let listeners = 0;
    const signal = new Proxy(controller.signal, {
      get(target, name) {
        if (name === 'addEventListener') listeners++;
        if (name === 'removeEventListener') listeners--;
        const value = Reflect.get(target, name, target) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await client.listAccounts({}, { signal });
    assert.equal(listeners, 0);
    controller.abort();
  });
});
