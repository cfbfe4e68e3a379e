/** A gateway behind Web requests and behind a server of Node: both hand it the same request, and send the same answer. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { describe, type TestContext, test } from 'vitest';
import { createNodeListener } from '../../functions/node/index.ts';
import { createFetchHandler, type ServerOptions } from '../../lib/fetch/index.ts';
import type { GatewayRequest, GatewayResponse } from '../../lib/gateway/index.ts';
import { portFor, urlFor } from '../support/listening.ts';

type Options = ServerOptions<{ readonly headers: unknown }>;
type Ask = (target: string, init?: RequestInit & { readonly duplex?: 'half' }) => Promise<Response>;

const answerWith = (more: Partial<GatewayResponse> = {}): GatewayResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'x-own': 'value' },
  body: new TextEncoder().encode('[1]'),
  ...more,
});

/** A gateway that keeps what it is asked. */
function gatewayWith(answer: GatewayResponse = answerWith(), isSingleUser = false) {
  const asked: GatewayRequest[] = [];
  return {
    asked,
    isSingleUser,
    async handle(request: GatewayRequest) {
      asked.push(request);
      return answer;
    },
  };
}

type Gateway = ReturnType<typeof gatewayWith>;

const adapters: Readonly<
  Record<string, (gateway: Gateway, options: Options, t: TestContext) => Promise<Ask>>
> = {
  async fetch(gateway, options) {
    const answer = createFetchHandler(gateway, options);
    return (target, init) => answer(new Request(`https://gateway.example${target}`, init));
  },
  async node(gateway, options, t) {
    const url = await urlFor(t, createServer(createNodeListener(gateway, options)));
    return (target, init) => fetch(`${url}${target}`, init);
  },
};

for (const [name, adapt] of Object.entries(adapters))
  describe(name, () => {
    test('the gateway gets method, path, decoded query, headers, bytes and its time', async (t) => {
      const gateway = gatewayWith();
      const ask = await adapt(gateway, { clock: () => 1000, timeoutMs: 500 }, t);
      const body = Uint8Array.of(0, 255, 128, 123);
      const response = await ask('/trade/place_order?b=1%2B+2&a=&b=%3F?x', {
        method: 'POST',
        headers: { 'X-Own': 'one', Accept: 'application/json' },
        body,
      });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('x-own'), 'value');
      assert.equal(await response.text(), '[1]');
      const [request] = gateway.asked;
      assert.deepEqual(
        [request?.method, request?.path, request?.query],
        [
          'POST',
          '/trade/place_order',
          [
            ['b', '1+ 2'],
            ['a', ''],
            ['b', '??x'],
          ],
        ],
      );
      assert.deepEqual([...(request?.body ?? [])], [...body]);
      assert.deepEqual([request?.headers['x-own'], request?.headers.accept], ['one', 'application/json']);
      assert.deepEqual([request?.deadline, request?.streamDeadline], [1500, Number.POSITIVE_INFINITY]);
      assert.match(request?.requestId ?? '', /^[\da-f-]{36}$/);
    });

    test('a request without a body has none, and each has an id of its own', async (t) => {
      const gateway = gatewayWith();
      const ask = await adapt(gateway, {}, t);
      await Promise.all([ask('/a'), ask('/a')]);
      assert.equal(gateway.asked[0] && 'body' in gateway.asked[0], false);
      assert.notEqual(gateway.asked[0]?.requestId, gateway.asked[1]?.requestId);
    });

    test('only what is below the base path reaches an operation', async (t) => {
      const gateway = gatewayWith();
      const ask = await adapt(gateway, { basePath: '/broker/' }, t);
      for (const path of ['/broker/a/b', '/broker', '/brokers/a', '/a/b', '/broker/../a', '/x/broker/a'])
        await ask(path);
      assert.deepEqual(
        gateway.asked.map(({ path }) => path),
        ['/a/b', '', '', '', '', ''],
      );
    });

    test('a larger body is refused, and the gateway not asked', async (t) => {
      const gateway = gatewayWith();
      const ask = await adapt(gateway, { maxBodyBytes: 10 }, t);
      const sized = (size: number) => ask('/a', { method: 'POST', body: 'x'.repeat(size) });
      assert.equal((await sized(10)).status, 200);
      const refused = await sized(11);
      assert.deepEqual([refused.status, gateway.asked.length], [413, 1]);
      assert.match(await refused.text(), /PAYLOAD_TOO_LARGE/);
    });

    test('the sender is whom the server names, whatever headers say', async (t) => {
      const gateway = gatewayWith();
      const sender = { caller: { unit: 'one' }, evidence: { apiKeyId: 'key-1' } };
      const ask = await adapt(gateway, { sender: async () => sender }, t);
      await ask('/a', { headers: { caller: 'other', 'x-api-key-id': 'key-2' } });
      assert.deepEqual(
        [gateway.asked[0]?.caller, gateway.asked[0]?.evidence],
        [sender.caller, sender.evidence],
      );
    });

    test('a failure outside the gateway is an answer and is reported; nothing of it is told', async (t) => {
      const gateway = gatewayWith();
      const failures: unknown[] = [];
      const failure = new Error('canary');
      const sender = () => Promise.reject(failure);
      const ask = await adapt(gateway, { sender, reportFailure: (error) => failures.push(error) }, t);
      const response = await ask('/a');
      assert.deepEqual([response.status, gateway.asked.length, failures], [500, 0, [failure]]);
      assert.doesNotMatch(await response.text(), /canary/);
    });

    test('an answer without a body has none', async (t) => {
      const ask = await adapt(gatewayWith(answerWith({ status: 304, body: new Uint8Array() })), {}, t);
      const response = await ask('/a');
      assert.deepEqual([response.status, await response.text()], [304, '']);
    });

    test('a stream comes as it is made, and ends when its client leaves', async (t) => {
      let made = 0;
      const ended = deferred();
      async function* texts() {
        try {
          for (;;) {
            await new Promise((resolve) => setImmediate(resolve));
            yield `data: ${++made}\n\n`;
          }
        } finally {
          ended.resolve();
        }
      }
      const ask = await adapt(gatewayWith(answerWith({ stream: texts() })), {}, t);
      const reader = (await ask('/a')).body!.getReader();
      const { value } = await reader.read();
      assert.match(new TextDecoder().decode(value), /^data: 1\n\n/);
      await reader.cancel();
      await ended.promise;
    });

    test('a stream that ends is a whole answer', async (t) => {
      async function* texts() {
        yield 'a';
        yield 'ü';
      }
      const ask = await adapt(gatewayWith(answerWith({ stream: texts() })), {}, t);
      assert.equal(await (await ask('/a')).text(), 'aü');
    });

    test('a base path without a slash is refused at once', async (t) => {
      await assert.rejects(adapt(gatewayWith(), { basePath: 'broker' }, t), /basePath: broker/);
    });
  });

/** From a browser or a program, each with the header Host. */
const own = { host: '127.0.0.1:8080' };
const senders: readonly [name: string, headers: Readonly<Record<string, string>>, passes: boolean][] = [
  ['a program', own, true],
  ['a program that names localhost', { host: 'LocalHost' }, true],
  ['a program in the network', { host: '192.168.1.7:8080' }, true],
  ['a program over IPv6', { host: '[::1]:8080' }, true],
  [
    'a page of the server',
    { ...own, origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' },
    true,
  ],
  ['a page of the server in an old browser', { ...own, origin: 'http://127.0.0.1:8080' }, true],
  ['a person who types the address', { ...own, 'sec-fetch-site': 'none' }, true],
  ['a name of the option', { host: 'broker.example:81' }, true],
  [
    'a page of a name of the option',
    { ...own, origin: 'https://broker.example', 'sec-fetch-site': 'cross-site' },
    true,
  ],
  [
    'a page at a port of the option',
    { ...own, origin: 'http://localhost:5173', 'sec-fetch-site': 'same-site' },
    true,
  ],
  [
    'a page at another port',
    { ...own, origin: 'http://localhost:5174', 'sec-fetch-site': 'same-site' },
    false,
  ],
  [
    'a page of another site',
    { ...own, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    false,
  ],
  ['an image of another site', { ...own, 'sec-fetch-site': 'cross-site' }, false],
  ['a page of another site in an old browser', { ...own, origin: 'https://evil.example' }, false],
  ['a file, or a frame without an origin', { ...own, origin: 'null' }, false],
  [
    'a page that is not of the web',
    { ...own, origin: 'evil://broker.example', 'sec-fetch-site': 'cross-site' },
    false,
  ],
  ['a name that was rebound', { host: 'evil.example:8080' }, false],
  [
    'a page of a name that was rebound',
    { host: 'evil.example:8080', origin: 'http://evil.example:8080', 'sec-fetch-site': 'same-origin' },
    false,
  ],
  ['a name that begins as an address', { host: '127.0.0.1.evil.example' }, false],
  ['a name that ends as one of the option', { host: 'evil-broker.example' }, false],
];

describe('a gateway with access single-user', () => {
  const hosts = ['broker.example', 'localhost:5173'];

  async function statusAt(
    name: string,
    gateway: Gateway,
    headers: Readonly<Record<string, string>>,
    t: TestContext,
  ) {
    const init = { method: 'POST', headers };
    if (name === 'fetch') {
      const answer = createFetchHandler(gateway, { hosts });
      return (await answer(new Request(`http://${headers.host}/a`, init))).status;
    }
    const port = await portFor(t, createServer(createNodeListener(gateway, { hosts })));
    const [incoming] = await once(
      httpRequest({ ...init, host: '127.0.0.1', port, path: '/a' }).end(),
      'response',
    );
    incoming.resume();
    return incoming.statusCode;
  }

  for (const adapter of Object.keys(adapters))
    for (const [sender, headers, passes] of senders)
      test(`${adapter}: ${passes ? 'answers' : 'refuses'} ${sender}`, async (t) => {
        const gateway = gatewayWith(answerWith(), true);
        const status = await statusAt(adapter, gateway, headers, t);
        assert.deepEqual([status, gateway.asked.length], passes ? [200, 1] : [403, 0]);
      });

  test('a gateway that asks for a token leaves it to the token', async (t) => {
    const gateway = gatewayWith();
    for (const [, headers] of senders) assert.equal(await statusAt('fetch', gateway, headers, t), 200);
  });
});

test('fetch: a client that takes nothing of a stream is cut off', async () => {
  const ended = deferred();
  async function* texts() {
    try {
      for (;;) yield 'text';
    } finally {
      ended.resolve();
    }
  }
  const answer = createFetchHandler(gatewayWith(answerWith({ stream: texts() })), { maxBlockedMs: 1 });
  const response = await answer(new Request('https://gateway.example/a'));
  await ended.promise;
  await assert.rejects(response.text(), /took nothing/);
});

test('node: lines of one name are one list, so that of two tokens none is taken for the sender’s', async (t) => {
  const gateway = gatewayWith();
  const port = await portFor(t, createServer(createNodeListener(gateway)));
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /a HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n');
  await once(socket, 'data');
  socket.destroy();
  assert.equal(gateway.asked[0]?.headers.authorization, 'Bearer a, Bearer b');
});

test('node: a client that leaves before its order is complete has sent none', async (t) => {
  const gateway = gatewayWith();
  const failed = deferred();
  const listener = createNodeListener(gateway, { reportFailure: () => failed.resolve() });
  const server = createServer(listener);
  const port = await portFor(t, server);
  const socket = connect(port, '127.0.0.1');
  server.once('request', () => socket.destroy());
  socket.write('POST /trade/place_order HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{"account_id":');
  await failed.promise;
  assert.equal(gateway.asked.length, 0);
});

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}
