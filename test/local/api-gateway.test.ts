import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { startApiGateway } from '../../infra/local/api-gateway.ts';
import { fine, gatewayFor, key, raw, refusalOf, refuse, withKey } from './gateway.ts';

describe('routes', () => {
  test('health needs no key and no handler', async (t) => {
    const { url } = await gatewayFor(t, async () => fine);
    const response = await fetch(`${url}/health`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.ok(response.headers.get('x-amzn-requestid'));
    assert.equal(await response.text(), '{"status":"ok"}');
    const head = await fetch(`${url}/health`, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
  });

  for (const path of ['/', '/nothing', '/thing/', '/THING', '/thin%67', '/__proto__', '/health/x']) {
    test(`an unknown path is 404 before any key is asked for: ${path}`, async (t) => {
      const { url } = await gatewayFor(t, async () => fine);
      const { status, code, detail } = await refusalOf(await fetch(`${url}${path}?q=1`));
      assert.deepEqual([status, code], [404, 'unknown_operation']);
      assert.deepEqual(detail, { requestId: detail.requestId, path, method: 'GET' });
    });
  }

  for (const method of ['PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
    test(`${method} on a known path is 405 and says what is allowed`, async (t) => {
      const { url } = await gatewayFor(t, async () => fine);
      const response = await fetch(`${url}/thing`, { method });
      assert.equal(response.status, 405);
      assert.equal(response.headers.get('allow'), 'GET, POST');
      if (method === 'HEAD') return;
      const { code, detail } = await refusalOf(response);
      assert.equal(code, 'method_not_allowed');
      assert.deepEqual(detail.allow, ['GET', 'POST']);
    });
  }

  test('another method on the health path is 405 too', async (t) => {
    const { url } = await gatewayFor(t, async () => fine);
    const response = await fetch(`${url}/health`, { method: 'POST' });
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, HEAD']);
  });

  test('a route that is there twice is refused at the start', async () => {
    const route = { method: 'GET', path: '/thing', handler: async () => fine };
    const plan = { ratePerSecond: 1, burst: 1 };
    await assert.rejects(
      startApiGateway({ routes: [route, route], apiKeys: [], plan, refuse }),
      /GET \/thing is there twice/,
    );
  });
});

describe('the host that a request names', () => {
  const ask = async (port: number, host: string, version = '1.1') =>
    raw(port, `GET /thing HTTP/${version}\r\n${host}x-api-key: ${key}\r\nConnection: close\r\n\r\n`);

  // A page whose name was rebound is called by that name; to a proxy on another port, the run has another port.
  test('is localhost or an address, in any case and with any port', async (t) => {
    const { port } = await gatewayFor(t, async () => fine);
    for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]', '10.0.2.2'])
      for (const host of [name, `${name}:${port}`, `${name}:80`])
        assert.match(await ask(port, `Host: ${host}\r\n`), /^HTTP\/1\.1 200 /, host);
  });

  test('and otherwise nothing is answered but 403: neither a handler nor a page, with or without a key', async (t) => {
    const { port, logged } = await gatewayFor(t, async () => assert.fail('called'), {
      pages: new Map([['/page', () => assert.fail('called')]]),
    });
    const others = ['evil.example', `evil.example:${port}`, `localhost.evil.example:${port}`];
    others.push(`127.0.0.1.evil.example:${port}`, `::1:${port}`, '');
    for (const host of others)
      assert.match(await ask(port, `Host: ${host}\r\n`), /^HTTP\/1\.1 403 .*"forbidden".*Host/s, host);
    assert.match(await ask(port, '', '1.0'), /^HTTP\/1\.1 403 .*"forbidden"/s);
    for (const path of ['/page', '/health', '/nowhere'])
      assert.match(
        await raw(port, `GET ${path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`),
        /^HTTP\/1\.1 403 .*"forbidden"/s,
      );
    assert.ok(logged.every(({ status, apiKeyId }) => status === 403 && apiKeyId === null));
  });
});

describe('keys and plans', () => {
  for (const [what, headers, query, expected] of [
    ['no key', {}, '', 'missing_api_key: The header x-api-key is missing.'],
    ['an empty key', { 'x-api-key': '' }, '', 'missing_api_key: The header x-api-key is missing.'],
    [
      'a key as a token',
      { authorization: `Bearer ${key}` },
      '',
      /^missing_api_key: .* the header authorization:/,
    ],
    ['a key in a header of another name', { 'api-key': key }, '', /^missing_api_key: .* the header api-key:/],
    ['a key in the query', {}, `?api_key=${key}`, /^missing_api_key: .* the query, as api_key:/],
    ['an unknown key', { 'x-api-key': 'unknown' }, '', /^unknown_api_key: /],
    ['the beginning of a key', { 'x-api-key': key.slice(0, -1) }, '', /^unknown_api_key: /],
    ['a key with more after it', { 'x-api-key': `${key}x` }, '', /^unknown_api_key: /],
  ] as const) {
    test(`${what} is 403, says what is wrong, and no handler is called`, async (t) => {
      const { url } = await gatewayFor(t, async () => assert.fail('called'));
      const { status, code, detail } = await refusalOf(await fetch(`${url}/thing${query}`, { headers }));
      assert.equal(status, 403);
      const said = `${code}: ${(detail as { readonly detail?: string }).detail}`;
      if (typeof expected === 'string') assert.equal(said, expected);
      else assert.match(said, expected);
      assert.ok(!said.includes(key));
    });
  }

  test('a key sent twice is none', async (t) => {
    const { port } = await gatewayFor(t, async () => fine);
    const line = `x-api-key: ${key}\r\n`;
    assert.match(
      await raw(
        port,
        `GET /thing HTTP/1.1\r\nHost: localhost:${port}\r\n${line}${line}Connection: close\r\n\r\n`,
      ),
      /^HTTP\/1\.1 403 .*"unknown_api_key"/s,
    );
  });

  test('an empty key cannot be configured: a client that sends none would have it', async () => {
    const plan = { ratePerSecond: 1, burst: 1 };
    await assert.rejects(
      startApiGateway({ routes: [], apiKeys: [{ id: 'a', value: '' }], plan, refuse }),
      RangeError,
    );
  });

  test('a key that is over its plan is 429 with the time to wait; other keys are not', async (t) => {
    let now = 5000;
    const { url } = await gatewayFor(t, async () => fine, {
      plan: { ratePerSecond: 0.4, burst: 2 },
      clock: () => now,
    });
    const call = (headers: Record<string, string>) => fetch(`${url}/thing`, { headers });
    assert.equal((await call(withKey)).status, 200);
    assert.equal((await call(withKey)).status, 200);
    const throttled = await call(withKey);
    assert.equal(throttled.headers.get('retry-after'), '3');
    const { status, code, detail } = await refusalOf(throttled);
    assert.deepEqual([status, code, detail.retryAfterSeconds], [429, 'throttled', 3]);
    assert.equal((await call({ 'x-api-key': 'another-key-of-this-test-run' })).status, 200);
    now += 2499;
    assert.equal((await call(withKey)).headers.get('retry-after'), '1');
    now += 1;
    assert.equal((await call(withKey)).status, 200);
  });

  test('requests without a key or route take nothing from the plan', async (t) => {
    const { url } = await gatewayFor(t, async () => fine, { plan: { ratePerSecond: 0.001, burst: 1 } });
    await fetch(`${url}/thing`);
    await fetch(`${url}/nothing`, { headers: withKey });
    await fetch(`${url}/thing`, { method: 'PUT', headers: withKey });
    assert.equal((await fetch(`${url}/thing`, { headers: withKey })).status, 200);
  });
});

describe('payloads', () => {
  const post = (url: string, size: number) =>
    fetch(`${url}/thing`, { method: 'POST', headers: withKey, body: 'x'.repeat(size) });

  test('at the limit pass, one byte more is 413, with and without a declared length', async (t) => {
    const { url, port } = await gatewayFor(t, async () => fine, { maxPayloadBytes: 1000 });
    assert.equal((await post(url, 1000)).status, 200);
    const { status, code } = await refusalOf(await post(url, 1001));
    assert.deepEqual([status, code], [413, 'payload_too_large']);

    const chunk = `1f5\r\n${'x'.repeat(0x1f5)}\r\n`;
    const head = `POST /thing HTTP/1.1\r\nHost: localhost:${port}\r\nx-api-key: ${key}\r\nTransfer-Encoding: chunked\r\nConnection: close`;
    assert.match(await raw(port, `${head}\r\n\r\n${chunk}${chunk}0\r\n\r\n`), /^HTTP\/1\.1 413 /);
  });

  test('of 10 MB pass by default, and no more', async (t) => {
    const { url } = await gatewayFor(t, async ({ body }) => ({ ...fine, body: String(body?.length) }));
    assert.equal(await (await post(url, 10 * 1024 * 1024)).text(), '10485760');
    assert.equal((await post(url, 10 * 1024 * 1024 + 1)).status, 413);
  });

  test('that a handler answers are limited too, counted in bytes', async (t) => {
    let body = 'ü'.repeat(500);
    const { url, errors } = await gatewayFor(t, async () => ({ statusCode: 200, body }), {
      maxPayloadBytes: 1000,
    });
    assert.equal((await fetch(`${url}/thing`, { headers: withKey })).status, 200);
    body += 'x';
    const { status, code } = await refusalOf(await fetch(`${url}/thing`, { headers: withKey }));
    assert.deepEqual([status, code, errors.length], [502, 'gateway_error', 1]);
  });
});

describe('the access log', () => {
  test('has one line for each answer: the key’s id, no key, no query', async (t) => {
    let now = 1000;
    const { url, logged } = await gatewayFor(
      t,
      async () => {
        now += 40;
        return fine;
      },
      { clock: () => now },
    );
    const ids: (string | null)[] = [];
    for (const [path, headers] of [
      ['/thing?account=secret-1', withKey],
      ['/thing?account=secret-1', { 'x-api-key': 'secret-2' }],
      ['/nothing?account=secret-1', withKey],
      ['/health', {}],
    ] as const) {
      ids.push((await fetch(url + path, { headers })).headers.get('x-amzn-requestid'));
    }
    assert.deepEqual(logged, [
      { requestId: ids[0], method: 'GET', path: '/thing', status: 200, milliseconds: 40, apiKeyId: 'mine' },
      { requestId: ids[1], method: 'GET', path: '/thing', status: 403, milliseconds: 0, apiKeyId: null },
      { requestId: ids[2], method: 'GET', path: '/nothing', status: 404, milliseconds: 0, apiKeyId: null },
      { requestId: ids[3], method: 'GET', path: '/health', status: 200, milliseconds: 0, apiKeyId: null },
    ]);
  });
});
