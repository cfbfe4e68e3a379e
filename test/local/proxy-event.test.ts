import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { proxyEvent, type WireRequest } from '../../infra/local/proxy-event.ts';

const received: WireRequest = {
  method: 'GET',
  path: '/things/list',
  query: undefined,
  rawHeaders: [],
  body: new Uint8Array(),
  resource: '/things/list',
  stage: 'test',
  requestId: 'request-1',
  sourceIp: '127.0.0.1',
  apiKey: { id: 'key-1', value: 'value-1' },
  receivedAt: Date.UTC(2026, 3, 9, 12, 34, 56, 789),
};

const eventOf = (change: Partial<WireRequest>) => proxyEvent({ ...received, ...change });
const bodyOf = (body: Uint8Array, contentType?: string) => {
  const event = eventOf({ body, rawHeaders: contentType === undefined ? [] : ['Content-Type', contentType] });
  return { body: event.body, isBase64Encoded: event.isBase64Encoded };
};
const bytes = (text: string) => new TextEncoder().encode(text);

/** The values of each name, built as plainly as can be. */
function expectedMap(pairs: readonly (readonly [string, string])[]): Record<string, string[]> {
  const names = [...new Set(pairs.map(([name]) => name))];
  return Object.fromEntries(
    names.map((name) => [name, pairs.filter((pair) => pair[0] === name).map((pair) => pair[1])]),
  );
}

describe('a proxy event', () => {
  test('says where the request came in', () => {
    const event = eventOf({ rawHeaders: ['User-Agent', 'curl/8'] });
    assert.equal(event.resource, '/things/list');
    assert.equal(event.path, '/things/list');
    assert.equal(event.httpMethod, 'GET');
    assert.equal(event.pathParameters, null);
    assert.equal(event.stageVariables, null);
    const { identity, ...context } = event.requestContext;
    assert.deepEqual(context, {
      accountId: '000000000000',
      apiId: 'local',
      stage: 'test',
      requestId: 'request-1',
      extendedRequestId: 'request-1',
      path: '/things/list',
      protocol: 'HTTP/1.1',
      httpMethod: 'GET',
      resourceId: 'local',
      resourcePath: '/things/list',
      requestTime: '09/Apr/2026:12:34:56 +0000',
      requestTimeEpoch: received.receivedAt,
      authorizer: null,
    });
    const { sourceIp, userAgent, apiKey, apiKeyId, ...rest } = identity;
    assert.deepEqual(
      { sourceIp, userAgent, apiKey, apiKeyId },
      { sourceIp: '127.0.0.1', userAgent: 'curl/8', apiKey: 'value-1', apiKeyId: 'key-1' },
    );
    assert.ok(Object.values(rest).every((value) => value === null));
  });

  test('survives JSON, as Lambda carries it', () => {
    const event = eventOf({ query: '__proto__=1&a=2', rawHeaders: ['__proto__', 'x'], body: bytes('{}') });
    assert.deepEqual(JSON.parse(JSON.stringify(event)), event);
  });
});

describe('headers in the event', () => {
  test('keep the case sent; the single-value map holds the last of several', () => {
    const event = eventOf({ rawHeaders: ['X-Thing', 'a', 'accept', '*/*', 'X-Thing', 'b'] });
    assert.deepEqual(event.headers, { 'X-Thing': 'b', accept: '*/*' });
    assert.deepEqual(event.multiValueHeaders, { 'X-Thing': ['a', 'b'], accept: ['*/*'] });
  });

  test('any names and values arrive', () => {
    const name = fc.oneof(fc.constant('__proto__'), fc.stringMatching(/^[A-Za-z_-]{1,8}$/));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string())), (pairs) => {
        const event = eventOf({ rawHeaders: pairs.flat() });
        assert.deepEqual(event.multiValueHeaders, expectedMap(pairs));
      }),
    );
  });
});

describe('the query in the event', () => {
  for (const query of [undefined, '']) {
    test(`none is null, not an empty map (${query === '' ? 'a bare question mark' : 'no question mark'})`, () => {
      const event = eventOf({ query });
      assert.equal(event.queryStringParameters, null);
      assert.equal(event.multiValueQueryStringParameters, null);
    });
  }

  const decodings: readonly (readonly [what: string, query: string, values: Record<string, string[]>])[] = [
    ['a plus is a space, an escaped plus is a plus', 'a=b+c&d=e%2Bf', { a: ['b c'], d: ['e+f'] }],
    ['decoded once only', 'a=%2525', { a: ['%25'] }],
    ['as UTF-8', 'a=%E2%82%AC', { a: ['€'] }],
    ['a malformed escape stays as it is', 'a=%zz&b=100%', { a: ['%zz'], b: ['100%'] }],
    ['a name without a value', 'a&b=', { a: [''], b: [''] }],
    ['only the first equals sign separates', 'a=b=c', { a: ['b=c'] }],
    ['a question mark in the query is part of it', '?a=1', { '?a': ['1'] }],
  ];
  for (const [what, query, values] of decodings) {
    test(what, () => assert.deepEqual(eventOf({ query }).multiValueQueryStringParameters, values));
  }

  test('the pairs given to a URL come back: all of them, and the last of each name', () => {
    const text = fc.string({ unit: 'grapheme' });
    const name = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'a', 'b'), text);
    fc.assert(
      fc.property(fc.array(fc.tuple(name, text), { minLength: 1 }), (pairs) => {
        const url = new URL('http://localhost/things/list');
        for (const [key, value] of pairs) url.searchParams.append(key, value);
        const event = eventOf({ query: url.search.slice(1) });
        const all = expectedMap(pairs);
        assert.deepEqual(event.multiValueQueryStringParameters, all);
        assert.deepEqual(
          event.queryStringParameters,
          Object.fromEntries(Object.entries(all).map(([key, values]) => [key, values.at(-1)])),
        );
      }),
    );
  });
});

describe('the body in the event', () => {
  test('none is null', () => assert.deepEqual(bodyOf(bytes('')), { body: null, isBase64Encoded: false }));

  const textTypes = [
    undefined,
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/problem+json',
    'text/csv',
    'application/x-www-form-urlencoded',
    'application/xml',
  ];
  for (const contentType of textTypes) {
    test(`text when it is ${contentType ?? 'of no type'} and UTF-8`, () => {
      assert.deepEqual(bodyOf(bytes('{"a": "€"}'), contentType), {
        body: '{"a": "€"}',
        isBase64Encoded: false,
      });
    });
    test(`base64 when it is ${contentType ?? 'of no type'} and no UTF-8`, () => {
      assert.deepEqual(bodyOf(Uint8Array.of(0xff, 0x22), contentType), {
        body: '/yI=',
        isBase64Encoded: true,
      });
    });
  }

  for (const contentType of [
    'application/octet-stream',
    'image/png',
    'application/jsonish',
    'multipart/form-data',
  ]) {
    test(`base64 when it is ${contentType}`, () => {
      assert.deepEqual(bodyOf(bytes('abc'), contentType), { body: 'YWJj', isBase64Encoded: true });
    });
  }

  test('a byte order mark is kept', () => {
    assert.equal(bodyOf(Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d), 'application/json').body, '\ufeff{}');
  });

  test('any bytes come back from what the event holds', () => {
    const types = fc.constantFrom(undefined, 'application/json', 'application/octet-stream');
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.string().map(bytes)), types, (sent, contentType) => {
        const { body, isBase64Encoded } = bodyOf(sent, contentType);
        assert.deepEqual(new Uint8Array(Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')), sent);
      }),
    );
  });
});
