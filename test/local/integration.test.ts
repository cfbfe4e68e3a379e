import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { describe, type TestContext, test } from 'vitest';
import type { ProxyHandler } from '../../infra/local/api-gateway.ts';
import { fine, gatewayFor, key, raw, refusalOf, signal, withKey } from './gateway.ts';

describe('a request with everything right', () => {
  test('reaches the handler as a proxy event, and the answer reaches the client', async (t) => {
    const calls: { event: APIGatewayProxyEvent; context: Context }[] = [];
    const { url, logged } = await gatewayFor(
      t,
      async (event, context) => {
        calls.push({ event, context });
        return { statusCode: 201, headers: { 'Content-Type': 'text/plain', 'X-Number': 7 }, body: 'größer' };
      },
      { stage: 'v9', timeoutMs: 5000 },
    );
    const response = await fetch(`${url}/thing?a=1&a=2&b=x+y`, {
      method: 'POST',
      headers: { ...withKey, 'content-type': 'application/json' },
      body: '{"n": 1.10}',
    });
    assert.equal(response.status, 201);
    assert.equal(response.headers.get('content-type'), 'text/plain');
    assert.equal(response.headers.get('x-number'), '7');
    assert.equal(await response.text(), 'größer');

    const [{ event, context } = assert.fail('the handler was not called')] = calls;
    assert.equal(event.httpMethod, 'POST');
    assert.equal(event.path, '/thing');
    assert.equal(event.resource, '/thing');
    assert.equal(event.body, '{"n": 1.10}');
    assert.deepEqual(event.multiValueQueryStringParameters, { a: ['1', '2'], b: ['x y'] });
    assert.deepEqual([event.requestContext.stage, event.requestContext.path], ['v9', '/thing']);
    assert.equal(event.requestContext.identity.apiKeyId, 'mine');
    assert.equal(event.requestContext.identity.apiKey, key);
    assert.equal(event.requestContext.identity.sourceIp, '127.0.0.1');
    assert.equal(event.requestContext.requestId, response.headers.get('x-amzn-requestid'));

    const left = context.getRemainingTimeInMillis();
    assert.ok(left >= 0 && left <= 5000);
    assert.match(context.awsRequestId, /^[0-9a-f-]{36}$/);
    assert.equal(logged.length, 1);
  });

  test('header names reach the event in the case sent', async (t) => {
    let names: string[] = [];
    const { port } = await gatewayFor(t, async (event) => {
      names = Object.keys(event.headers);
      return fine;
    });
    await raw(
      port,
      `GET /thing HTTP/1.1\r\nHost: localhost:${port}\r\nX-API-Key: ${key}\r\n__proto__: 1\r\nConnection: close\r\n\r\n`,
    );
    assert.deepEqual(names, ['Host', 'X-API-Key', '__proto__', 'Connection']);
  });

  test('a target that is a whole URL means its path', async (t) => {
    const { port } = await gatewayFor(t, async (event) => ({ statusCode: 200, body: event.path }));
    const head = `Host: localhost:${port}\r\nx-api-key: ${key}\r\nConnection: close\r\n\r\n`;
    assert.match(await raw(port, `GET http://x:1/thing?a=/b HTTP/1.1\r\n${head}`), /\r\n\r\n\/thing$/);
  });

  test('bytes that are no text pass in both directions', async (t) => {
    const bytes = Uint8Array.of(0, 0xff, 0xfe, 0x80);
    const { url } = await gatewayFor(t, async ({ body, isBase64Encoded }) => ({
      statusCode: 200,
      body: body ?? '',
      isBase64Encoded,
    }));
    const response = await fetch(`${url}/thing`, { method: 'POST', headers: withKey, body: bytes });
    assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes);
  });
});

describe('the handler’s headers', () => {
  const answerTo = async (t: TestContext, result: Partial<APIGatewayProxyResult>) => {
    const { url } = await gatewayFor(t, async () => ({ ...fine, ...result }));
    return fetch(`${url}/thing`, { headers: withKey });
  };

  test('of both maps are merged without regard to case, and a pair in both is sent once', async (t) => {
    const { headers } = await answerTo(t, {
      headers: { 'set-cookie': 'a=1', 'X-One': 'only', 'X-Both': 'b' },
      multiValueHeaders: { 'Set-Cookie': ['a=1', 'c=2'], 'x-both': ['a'] },
    });
    assert.deepEqual(headers.getSetCookie(), ['a=1', 'c=2']);
    assert.equal(headers.get('x-one'), 'only');
    assert.equal(headers.get('x-both'), 'a, b');
  });

  test('that belong to the connection come back renamed, and break nothing', async (t) => {
    const response = await answerTo(t, {
      headers: {
        'Content-Length': 1,
        'Transfer-Encoding': 'chunked',
        Trailer: 'x',
        'WWW-Authenticate': 'Basic',
      },
    });
    assert.equal(await response.text(), '"fine"');
    assert.equal(response.headers.get('x-amzn-remapped-content-length'), '1');
    assert.equal(response.headers.get('x-amzn-remapped-www-authenticate'), 'Basic');
    assert.equal(response.headers.get('www-authenticate'), null);
  });

  test('that are undefined are none: Lambda carries the answer as JSON', async (t) => {
    const headers = { 'x-absent': undefined, 'x-there': 'yes' } as unknown as Record<string, string>;
    const response = await answerTo(t, { headers });
    assert.deepEqual([response.status, response.headers.has('x-absent')], [200, false]);
    assert.equal(response.headers.get('x-there'), 'yes');
  });

  test('without a content type mean JSON', async (t) => {
    assert.equal((await answerTo(t, {})).headers.get('content-type'), 'application/json');
  });

  test('cannot replace the request id', async (t) => {
    const { headers } = await answerTo(t, { headers: { 'x-amzn-RequestId': 'mine' } });
    assert.match(headers.get('x-amzn-requestid') ?? '', /^[0-9a-f-]{36}$/);
  });
});

describe('a handler that fails', () => {
  /** What JavaScript lets a handler answer, whatever its type says. */
  const malformed: readonly (readonly [what: string, result: unknown])[] = [
    ['nothing', undefined],
    ['null', null],
    ['a text', '{"statusCode":200,"body":""}'],
    ['a list', []],
    ['no status', { body: '' }],
    ['a status in a text', { statusCode: '200', body: '' }],
    ['a broken status', { statusCode: 200.5, body: '' }],
    ['a status below the range', { statusCode: 99, body: '' }],
    ['a status above the range', { statusCode: 600, body: '' }],
    ['an informational status', { statusCode: 100, body: '' }],
    ['no body', { statusCode: 200 }],
    ['a body that is no text', { statusCode: 200, body: { a: 1 } }],
    ['a header that is an object', { ...fine, headers: { a: {} } }],
    ['a multi-value header that is no list', { ...fine, multiValueHeaders: { a: 'b' } }],
    ['a line break in a header value', { ...fine, headers: { a: 'b\r\nc: d' } }],
    ['a line break in a multi-value header', { ...fine, multiValueHeaders: { a: ['b', 'c\nd'] } }],
    ['a header name that is none', { ...fine, headers: { 'a b': 'c' } }],
    ['a header value beyond Latin-1', { ...fine, headers: { a: '€' } }],
    ['a number that JSON cannot carry', { ...fine, body: 1n }],
  ];
  for (const [what, result] of malformed) {
    test(`by answering ${what} is 502, and the server goes on`, async (t) => {
      let answer = result;
      const { url, errors } = await gatewayFor(t, async () => answer as APIGatewayProxyResult);
      const { status, code } = await refusalOf(await fetch(`${url}/thing`, { headers: withKey }));
      assert.deepEqual([status, code, errors.length], [502, 'gateway_error', 1]);
      answer = fine;
      assert.equal((await fetch(`${url}/thing`, { headers: withKey })).status, 200);
    });
  }

  const failure = new Error('secret words');
  const failing: readonly (readonly [what: string, handler: ProxyHandler])[] = [
    ['by rejecting', async () => Promise.reject(failure)],
    [
      'by throwing at once',
      () => {
        throw failure;
      },
    ],
  ];
  for (const [what, handler] of failing) {
    test(`${what} is 502; the client learns nothing, the caller of the gateway everything`, async (t) => {
      const { url, errors, logged } = await gatewayFor(t, handler);
      const response = await fetch(`${url}/thing`, { headers: withKey });
      assert.doesNotMatch(JSON.stringify([...response.headers]), /secret/);
      const text = await response.text();
      assert.equal(response.status, 502);
      assert.doesNotMatch(text + JSON.stringify(logged), /secret/);
      assert.deepEqual(errors, [failure]);
    });
  }

  test('by taking too long is 504; a rejection that comes later reaches no client', async (t) => {
    const gate = signal();
    const { url, errors } = await gatewayFor(
      t,
      async () => {
        await gate.promise;
        throw new Error('too late');
      },
      { timeoutMs: 20 },
    );
    const { status, code } = await refusalOf(await fetch(`${url}/thing`, { headers: withKey }));
    assert.deepEqual([status, code], [504, 'gateway_timeout']);
    gate.settle();
    // An unhandled rejection would be reported by now, and fail the test.
    await nextTurn();
    assert.deepEqual(errors, []);
  });
});
