import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, type TestContext, test } from 'vitest';
import { type ProxyEvent, toGatewayRequest, toProxyResult } from '../../../functions/events/rest-proxy.ts';
import { type ApiFault, startSimulator } from '../../../infra/simulator/index.ts';
import { operations } from '../../../lib/catalogue/index.ts';
import {
  type CacheOptions,
  callerOf,
  createMemoryResponseStore,
  createMemorySnapshotStore,
  type GatewayOptions,
} from '../../../lib/gateway/index.ts';
import {
  accountsPath,
  credentials,
  orderBody,
  orderPath,
  secretText,
  snapshotPath,
} from '../../support/core.ts';
import { createGroupHandler } from '../../support/group-handler.ts';

const event = (change: Partial<ProxyEvent> = {}): ProxyEvent => ({
  resource: accountsPath,
  httpMethod: 'GET',
  headers: null as unknown as ProxyEvent['headers'],
  multiValueHeaders: null as unknown as ProxyEvent['multiValueHeaders'],
  queryStringParameters: null,
  multiValueQueryStringParameters: null,
  body: null,
  isBase64Encoded: false,
  requestContext: { requestId: 'of-api-gateway' },
  ...change,
});

const order = (change: Partial<ProxyEvent> = {}) =>
  event({
    resource: orderPath,
    httpMethod: 'POST',
    body: orderBody(),
    ...change,
    ...(!change.multiValueHeaders && { headers: { 'Content-Type': 'application/json', ...change.headers } }),
  });

async function handlerFor(t: TestContext, fault?: ApiFault, options: Partial<GatewayOptions> = {}) {
  const simulator = await startSimulator({ ...credentials, fault: () => fault });
  t.onTestFinished(() => simulator.close());
  const handler = createGroupHandler({
    access: 'single-user',
    operations,
    upstreamBaseUrl: simulator.url,
    secrets: { read: async () => secretText() },
    ...options,
  });
  return {
    simulator,
    handle: (given: ProxyEvent, remaining = 30_000) =>
      handler(given, { getRemainingTimeInMillis: () => remaining }),
    arrived: () => [...new URLSearchParams(simulator.received.at(-1)?.target.split('?')[1])],
  };
}

describe('an event', () => {
  test('without headers, query and body is a request, and its answer a result', async (t) => {
    const { handle, simulator } = await handlerFor(t);
    const { body, headers, ...result } = await handle(event());
    assert.deepEqual(result, { statusCode: 200, isBase64Encoded: false });
    assert.deepEqual(JSON.parse(body), simulator.accounts);
    assert.equal(headers?.['x-request-id'], 'of-api-gateway');
    assert.equal(headers?.['content-type'], 'application/json');
  });

  test('of a greedy resource has its path in a parameter', async (t) => {
    const { handle, simulator } = await handlerFor(t);
    for (const [resource, proxy] of [
      ['/{proxy+}', accountsPath.slice(1)],
      [accountsPath.replace(/\w+$/, '{rest+}'), accountsPath.replace(/.*\//, '')],
    ] as const) {
      const name = /\{(\w+)/.exec(resource)?.[1] ?? '';
      const { statusCode } = await handle(event({ resource, pathParameters: { [name]: proxy } }));
      assert.equal(statusCode, 200);
      assert.equal(simulator.received.at(-1)?.target, accountsPath);
    }
    assert.equal(
      (await handle(event({ resource: '/{proxy+}', pathParameters: { proxy: 'nothing' } }))).statusCode,
      404,
    );
  });

  test('of another kind is refused with a sentence', async (t) => {
    const { handle, simulator } = await handlerFor(t);
    const http = { version: '2.0', rawPath: accountsPath, requestContext: { http: { method: 'GET' } } };
    const fault = (given: unknown, words: RegExp) =>
      assert.rejects(handle(given as ProxyEvent), { name: 'TypeError', message: words });
    await fault(
      http,
      /takes proxy events of API Gateway with payload version 1\.0, .* version 2\.0, from an HTTP API/,
    );
    for (const warmUp of [{}, { source: 'aws.events' }, null, undefined, 'warm', { resource: '/' }])
      await fault(warmUp, /such as a warm-up/);
    assert.equal(simulator.received.length, 0);
  });

  /** The forms in which API Gateway shows one request, by the URL that the client has called. */
  const forms = {
    'a stage': {
      path: accountsPath,
      context: {
        path: `/v1${accountsPath}`,
        domainName: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
      },
    },
    'a domain': {
      path: accountsPath,
      context: { path: accountsPath, domainName: 'api.example.com', domainPrefix: 'api' },
    },
    'a domain that is mapped without a stage': {
      path: `/v1${accountsPath}`,
      context: { path: `/v1${accountsPath}`, domainName: 'api.example.com' },
    },
    'a base path of a domain': {
      path: `/broker${accountsPath}`,
      context: { path: `/broker${accountsPath}`, domainName: 'api.example.com' },
    },
  };
  for (const [where, { path, context }] of Object.entries(forms))
    test(`means its route, called through ${where}`, async (t) => {
      const { handle, simulator } = await handlerFor(t);
      const { statusCode, headers, body } = await handle({
        ...event({ headers: { Host: context.domainName, 'X-Api-Key': 'k' } }),
        path,
        requestContext: { requestId: 'r', stage: 'v1', resourcePath: accountsPath, ...context },
      } as unknown as ProxyEvent);
      assert.deepEqual([statusCode, headers?.['x-request-id']], [200, 'r']);
      assert.deepEqual(JSON.parse(body), simulator.accounts);
      assert.equal(simulator.received[0]?.target, accountsPath);
      // The upstream's own, which is signed; the client's would be refused.
      assert.equal(simulator.received[0]?.headers.host, new URL(simulator.url).host);
    });

  test('means its route, whatever stands in its path, stage and domain', async () => {
    const text = fc.string({ unit: 'binary' });
    const elsewhere = fc.record({ path: text, stage: text, domainName: text, contextPath: text });
    const plain = await toGatewayRequest(event());
    await fc.assert(
      fc.asyncProperty(elsewhere, async ({ path, contextPath, ...context }) => {
        const requestContext = { ...event().requestContext, ...context, path: contextPath };
        assert.deepEqual(
          await toGatewayRequest({ ...event(), path, requestContext } as unknown as ProxyEvent),
          plain,
        );
      }),
    );
  });

  test('identifies the caller by what API Gateway knows of it: each has its own share', async (t) => {
    const accountsOf = async (identity: ProxyEvent['requestContext']['identity']) => {
      const answers = createMemoryResponseStore();
      const counted: string[] = [];
      const countUse: typeof answers.countUse = (account, ...rest) => {
        // Each app key has counters of its own.
        assert.match(account, /^misses\/account#[0-9a-f]{32}\//);
        counted.push(account.replace(/account#[0-9a-f]{32}\//, ''));
        return answers.countUse(account, ...rest);
      };
      const cache = { responses: { ...answers, countUse }, snapshots: () => createMemorySnapshotStore() };
      const { handle } = await handlerFor(t, undefined, { cache });
      const query = { symbol: 'AAPL', category: 'US_STOCK' };
      const resource = '/openapi/market-data/stock/quotes';
      const requestContext = { requestId: 'r', ...(identity && { identity }) };
      const headers = { 'x-api-key': 'value-of-the-key' };
      assert.equal(
        (await handle(event({ resource, queryStringParameters: query, headers, requestContext }))).statusCode,
        200,
      );
      return counted;
    };
    const key = await callerOf({ key: 'key-1' });
    const user = await callerOf({ key: 'arn:aws:iam::1:user/a' });
    const phone = await callerOf({ key: 'key-1', address: '198.51.100.7' });
    assert.deepEqual(await accountsOf({ apiKeyId: 'key-1' }), [`misses/${key.unit}`]);
    assert.deepEqual(await accountsOf({ apiKeyId: null, userArn: 'arn:aws:iam::1:user/a' }), [
      `misses/${user.unit}`,
    ]);
    // The caller who assumes a role names the session: all sessions are one caller.
    const role = await callerOf({ key: 'arn:aws:iam::123456789012:role/traders' });
    for (const session of ['i-0abc', 'another'])
      assert.deepEqual(
        await accountsOf({ userArn: `arn:aws:sts::123456789012:assumed-role/traders/${session}` }),
        [`misses/${role.unit}`],
      );
    assert.deepEqual(await accountsOf({ apiKeyId: 'key-1', sourceIp: '198.51.100.7' }), [
      `misses/${phone.unit}/${phone.member}`,
      `misses/${phone.unit}`,
    ]);
    assert.deepEqual(await accountsOf({ apiKeyId: 'key-1', sourceIp: 'malformed' }), [`misses/${key.unit}`]);
    assert.deepEqual(await accountsOf(undefined), ['misses/anybody']);
  });

  test('leaves nothing of the client’s address in stores, reports or requests to the upstream', async (t) => {
    // Parts of every form that an address has. A group of four digits alone also stands in random nonces by chance.
    const ipv6Parts = [
      '2001:db8',
      '2001:0db8',
      '20010db8',
      'db8:cafe',
      'db8cafe',
      'cafe:be',
      'cafebe',
      ':beef',
      'beef:',
    ];
    for (const [sourceIp, parts] of [
      ['203.0.113.77', ['203.0', '0.113', '113.77', 'cb0071']],
      ['2001:db8:cafe:beef::77', [...ipv6Parts, '32.1.13.184', '202.254']],
      ['::ffff:203.0.113.77', ['203.0', '0.113', '113.77', 'cb0071']],
    ] as const) {
      const said: unknown[] = [];
      const overheard = <T extends object>(store: T): T =>
        new Proxy(store, {
          get: (of, name: keyof T & string) => {
            const method = of[name] as (...given: unknown[]) => unknown;
            return (...given: unknown[]) => {
              said.push([name, given]);
              return method.apply(of, given);
            };
          },
        });
      const [quotes, answers] = [createMemorySnapshotStore(), createMemoryResponseStore()].map(overheard);
      const cache = { snapshots: () => quotes, responses: answers } as CacheOptions;
      const log = (entry: object) => said.push(entry);
      const { handle, simulator } = await handlerFor(t, undefined, {
        cache,
        report: log,
        reportRefresh: log,
      });
      const requestContext = { requestId: 'r', identity: { apiKeyId: 'key-1', sourceIp } };
      const headers = { 'cache-control': 'no-cache' };
      const category = 'US_STOCK';
      for (const [resource, query] of [
        ['/openapi/market-data/stock/quotes', { symbol: 'AAPL', category }],
        [snapshotPath, { symbols: 'AAPL,MSFT', category }],
        [snapshotPath, { symbols: 'ZZQ1,ZZQ2', category }],
        ['/unknown', {}],
      ] as const)
        said.push(await handle(event({ resource, queryStringParameters: query, headers, requestContext })));
      said.push(simulator.received);
      const { unit, member } = await callerOf({ key: 'key-1', address: sourceIp });
      const text = inspect(said, { depth: Infinity, maxStringLength: Infinity, maxArrayLength: Infinity });
      for (const name of [unit, `${unit}/${member}`])
        assert.match(text, new RegExp(`misses/account#[0-9a-f]{32}/${name}'`));
      assert.ok(text.includes(`caller: '${unit}'`), 'the refresh log has the whole name');
      for (const part of parts) assert.ok(!text.includes(part), `${part} of ${sourceIp} shows`);
    }
  });

  test('with several lines of Accept is refused in the form that one of them names', async (t) => {
    const { handle } = await handlerFor(t);
    for (const [accept, type] of [
      [['application/problem+json', 'application/json'], 'application/problem+json'],
      [['*/*', 'application/json'], 'application/json'],
    ] as const) {
      const headers = { headers: { Accept: accept[1] }, multiValueHeaders: { Accept: [...accept] } };
      const answer = await handle(event({ resource: '/unknown', ...headers }));
      assert.deepEqual([answer.statusCode, answer.headers?.['content-type']], [404, type]);
      assert.equal(JSON.parse(answer.body).request_id, 'of-api-gateway');
    }
  });

  test('has all values of a query parameter, decoded', async (t) => {
    const { handle, arrived } = await handlerFor(t, {
      kind: 'status',
      status: 200,
      body: '{"order_id":"1"}',
    });
    const values = { a: ['2', '1', '2'], 'b c': ['ü+%'], empty: [''], none: undefined };
    const { statusCode } = await handle(
      order({ queryStringParameters: { a: '2', 'b c': 'ü+%' }, multiValueQueryStringParameters: values }),
    );
    assert.equal(statusCode, 200);
    assert.deepEqual(arrived(), [
      ['a', '2'],
      ['a', '1'],
      ['a', '2'],
      ['b c', 'ü+%'],
      ['empty', ''],
    ]);
  });

  test('with a repeated parameter is refused for it, though the single-value map hides it', async (t) => {
    const { handle, simulator } = await handlerFor(t);
    const { statusCode, body } = await handle(
      event({
        resource: snapshotPath,
        queryStringParameters: { symbols: 'A', category: 'US_STOCK' },
        multiValueQueryStringParameters: { symbols: ['A'], category: ['US_STOCK', 'US_STOCK'] },
        headers: { Accept: 'application/problem+json' },
      }),
    );
    assert.equal(statusCode, 400);
    assert.equal(JSON.parse(body).errors[0].detail, 'given more than once');
    assert.equal(simulator.received.length, 0);
  });

  test('with a list as several parameters is the list that is sent', async (t) => {
    const { handle, simulator } = await handlerFor(t);
    const { statusCode } = await handle(
      event({
        resource: snapshotPath,
        queryStringParameters: { symbols: 'MSFT', category: 'US_STOCK' },
        multiValueQueryStringParameters: { symbols: ['AAPL', 'MSFT'], category: ['US_STOCK'] },
      }),
    );
    assert.equal(statusCode, 200);
    assert.equal(
      decodeURIComponent(simulator.received[0]?.target ?? ''),
      `${snapshotPath}?symbols=AAPL,MSFT&category=US_STOCK`,
    );
  });

  test('may have single values alone', async (t) => {
    const { handle, arrived } = await handlerFor(t, { kind: 'status', status: 200, body: '{}' });
    await handle(order({ queryStringParameters: { a: '1', none: undefined, b: '' } }));
    assert.deepEqual(arrived(), [
      ['a', '1'],
      ['b', ''],
    ]);
  });

  const type = 'application/json';
  for (const [name, given, expected] of [
    ['single values', { headers: { Category: 'A', none: undefined } }, 'A'],
    [
      'single values beside several',
      { headers: { CATEGORY: 'B', 'content-type': type }, multiValueHeaders: { CATEGORY: ['A', 'B'] } },
      'B',
    ],
    [
      'several values alone',
      { multiValueHeaders: { Category: ['A', 'B'], none: undefined, 'content-type': [type] } },
      'B',
    ],
    ['no header of the name', { headers: { Categories: 'A' } }, undefined],
  ] as const) {
    test(`has its headers read without regard to case: ${name}`, async (t) => {
      const { handle, simulator } = await handlerFor(t);
      const { statusCode } = await handle(order(given as unknown as Partial<ProxyEvent>));
      assert.equal(statusCode, 200);
      assert.equal(simulator.received[0]?.headers.category, expected);
    });
  }

  test('has its body decoded when API Gateway encoded it, and taken as it is otherwise', async (t) => {
    const { handle, simulator } = await handlerFor(t);
    for (const isBase64Encoded of [true, false]) {
      const body = orderBody({ position_id: 'größer 😀' });
      const given = isBase64Encoded ? Buffer.from(body).toString('base64') : body;
      assert.equal((await handle(order({ body: given, isBase64Encoded }))).statusCode, 200);
      assert.equal(simulator.received.at(-1)?.body, body);
    }
  });

  test('that leaves no time for an attempt is answered so, and nothing is sent', async (t) => {
    const { handle, simulator } = await handlerFor(t);
    const { statusCode, body } = await handle(order(), 1400);
    assert.equal(statusCode, 504);
    assert.equal(JSON.parse(body).code, 'gateway_timeout');
    assert.equal(simulator.received.length, 0);
  });

  test('is answered before the function’s time is over, though the upstream is not', async (t) => {
    const now = Date.now();
    const { handle, simulator } = await handlerFor(t, { kind: 'hang' }, { clock: () => now });
    const { statusCode, body } = await handle(order(), 1500);
    assert.equal(statusCode, 502);
    assert.equal(JSON.parse(body).code, 'outcome_unknown');
    assert.equal(simulator.received.length, 1);
  });
});

describe('a result', () => {
  const decoded = ({ body, isBase64Encoded }: { body: string; isBase64Encoded?: boolean | undefined }) =>
    Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');

  test('carries any bytes unchanged', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.string({ unit: 'binary' }).map((text) => new TextEncoder().encode(text)),
      // Nearly text: what a decoder would mend.
      fc
        .tuple(
          fc.string({ unit: 'binary' }),
          fc.constantFrom([0xff], [0xc3], [0xed, 0xa0, 0x80], [0xef, 0xbb, 0xbf], [0xc0, 0x80]),
        )
        .map(([text, end]) => Uint8Array.from([...end, ...new TextEncoder().encode(text), ...end])),
    );
    fc.assert(
      fc.property(bytes, fc.nat(8), (body, offset) => {
        // A view into something larger, as buffers of a pool are.
        const pool = new Uint8Array(body.length + 16).fill(0x78);
        pool.set(body, offset);
        const view = pool.subarray(offset, offset + body.length);
        const result = toProxyResult({ status: 200, headers: {}, body: view });
        // Lambda carries it as JSON.
        const carried = JSON.parse(JSON.stringify(result));
        assert.ok(decoded(carried).equals(Buffer.from(body)));
      }),
      { numRuns: 1000 },
    );
  });

  test('is text whenever the bytes are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (body) => {
        const result = toProxyResult({ status: 200, headers: {}, body: new TextEncoder().encode(body) });
        assert.equal(result.isBase64Encoded, false);
        assert.equal(result.body, body);
      }),
    );
  });

  test('keeps status and headers', () => {
    const headers = { 'content-type': 'application/json', 'retry-after': '7' };
    const result = toProxyResult({ status: 503, headers, body: new Uint8Array() });
    assert.deepEqual(result, { statusCode: 503, headers, body: '', isBase64Encoded: false });
  });
});
