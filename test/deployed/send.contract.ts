/** What every `Send` must do, whatever it sends over. */

import assert from 'node:assert/strict';
import { createServer as createTlsServer } from 'node:tls';
import { deflateSync, gzipSync } from 'node:zlib';
import { type TestContext, test } from 'vitest';
import { type ApiFault, startSimulator } from '../../infra/simulator/index.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { type Attempt, createGateway, type Send } from '../../lib/gateway/index.ts';
import { closedPort } from '../support/closed-port.ts';
import { newOrder } from '../support/orders.ts';
import { selfSigned } from './self-signed.ts';
import { headerOf, listening, rawUpstreamFor, upstreamFor } from './upstreams.ts';

const limits = { timeoutMs: 120_000, maxBytes: 1_000_000 };
const get = (url: string) => ({ method: 'GET', url, headers: {} }) as const;

export const textOf = (result: Attempt) =>
  result.kind === 'answer' ? Buffer.from(result.body).toString('utf8') : result.kind;

type Check = (what: string, run: (t: TestContext) => Promise<void>) => void;

export function sendContract(name: string, create: () => Send): void {
  const check: Check = (what, run) => test.concurrent(`${name}: ${what}`, run);
  exchanges(check, create);
  bodies(check, create);
  release(check, create);
  connections(check, create);
  simulatedFaults(check, create);
}

/** What arrives and what comes back. */
function exchanges(check: Check, create: () => Send): void {
  check('an answer comes whole, with status and headers', async (t) => {
    const { url } = await upstreamFor(t, (response) =>
      response.writeHead(418, { 'X-Request-Id': 'abc', 'retry-after': '7' }).end('{"a":"é"}'),
    );
    const sent = await create()(get(`${url}/`), limits);
    assert(sent.kind === 'answer');
    assert.equal(sent.status, 418);
    assert.equal(sent.header('x-request-id'), 'abc');
    assert.equal(sent.header('Retry-After'), '7');
    assert.equal(sent.header('absent'), undefined);
    assert.equal(textOf(sent), '{"a":"é"}');
  });

  check('what was signed is what arrives', async (t) => {
    const { url, port, arrivals } = await upstreamFor(t, (response) => response.end('{}'));
    const headers = { 'x-signature': 'a+b/c==', 'x-app-key': "k!'()*~", 'content-type': 'application/json' };
    const target = '/trade/place_order?a=%20%2B%2A~&b=';
    const body = '{"name":"Zoë","n":1.10}';
    await create()({ method: 'POST', url: `${url}${target}`, headers, body }, limits);
    await create()({ method: 'POST', url: `${url}${target}`, headers }, limits);
    const [first, second] = arrivals;
    assert(first && second);
    assert.equal(first.method, 'POST');
    assert.equal(first.target, target);
    assert.equal(first.body, body);
    for (const [header, value] of Object.entries(headers)) assert.equal(headerOf(first, header), value);
    assert.equal(headerOf(first, 'host'), `127.0.0.1:${port}`);
    assert.equal(headerOf(first, 'content-length'), String(Buffer.byteLength(body)));
    assert.equal(second.body, '');
  });

  check('a redirect is an answer and is not followed', async (t) => {
    const { url, arrivals } = await upstreamFor(t, (response) =>
      response.writeHead(307, { location: '/elsewhere' }).end(),
    );
    const sent = await create()(get(`${url}/`), limits);
    assert(sent.kind === 'answer');
    assert.equal(sent.status, 307);
    assert.equal(arrivals.length, 1);
  });
}

/** How far a body is read. */
function bodies(check: Check, create: () => Send): void {
  check('compressed answers are decompressed', async (t) => {
    const { url } = await upstreamFor(t, (response, { target }) => {
      const gzip = target === '/gzip';
      const bytes = gzip ? gzipSync('{"a":1}') : deflateSync('{"a":1}');
      response.writeHead(200, { 'content-encoding': gzip ? 'gzip' : 'deflate' }).end(bytes);
    });
    assert.equal(textOf(await create()(get(`${url}/gzip`), limits)), '{"a":1}');
    assert.equal(textOf(await create()(get(`${url}/deflate`), limits)), '{"a":1}');
  });

  check('the size limit counts decompressed bytes and lets the last one through', async (t) => {
    const { url } = await upstreamFor(t, (response, { target }) => {
      const [, size = '0', packed] = target.split('/');
      const text = 'x'.repeat(Number(size));
      if (packed) response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
      else response.end(text);
    });
    const kind = async (path: string) => (await create()(get(`${url}${path}`), limits)).kind;
    assert.equal(await kind('/1000000'), 'answer');
    assert.equal(await kind('/1000001'), 'too_large');
    assert.equal(await kind('/1000000/gzip'), 'answer');
    assert.equal(await kind('/1000001/gzip'), 'too_large');
    // A few dozen kilobytes on the wire.
    assert.equal(await kind('/50000000/gzip'), 'too_large');
  });

  check('the time limit runs to the last byte', async (t) => {
    const { url } = await upstreamFor(t, (response, { target }) => {
      if (target === '/head') response.writeHead(200, { 'content-length': '10' }).write('12345');
      if (target === '/drip') {
        response.writeHead(200);
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      }
    });
    for (const path of ['/nothing', '/head', '/drip'])
      assert.equal(
        (await create()(get(`${url}${path}`), { ...limits, timeoutMs: 200 })).kind,
        'timeout',
        path,
      );
  });
}

/** When a request leaves. */
function release(check: Check, create: () => Send): void {
  check('held: what is not let go is not sent', async (t) => {
    const { url, arrivals } = await upstreamFor(t, (response) => response.end('{}'));
    const send = create();
    for (const freshConnection of [true, false]) {
      const held = await send(get(`${url}/`), { ...limits, freshConnection, letGo: async () => false });
      assert.equal(held.kind, 'not_sent');
    }
    assert.equal(arrivals.length, 0);
    assert.equal(textOf(await send(get(`${url}/`), limits)), '{}');
  });

  check('what is let go is sent then, and not before', async (t) => {
    const { url, arrivals } = await upstreamFor(t, (response) => response.end('{}'));
    const letGo = async (leave: () => void) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(arrivals.length, 0);
      leave();
      return true;
    };
    assert.equal(textOf(await create()(get(`${url}/`), { ...limits, letGo })), '{}');
    assert.equal(arrivals.length, 1);
  });

  check('what is let go too late is not sent any more', async (t) => {
    const { url, arrivals } = await upstreamFor(t, (response) => response.end('{}'));
    const letGo = async (leave: () => void) => {
      await new Promise((resolve) => setTimeout(resolve, 150));
      leave();
      return true;
    };
    const { kind } = await create()(get(`${url}/`), { ...limits, timeoutMs: 50, letGo });
    assert.ok(kind === 'not_sent' || kind === 'unreachable', kind);
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(arrivals.length, 0);
  });

  check('a defect of what lets go is a defect', async (t) => {
    const { url, arrivals } = await upstreamFor(t, (response) => response.end('{}'));
    const letGo = () => Promise.reject(new RangeError('a defect'));
    await assert.rejects(create()(get(`${url}/`), { ...limits, letGo }), RangeError);
    assert.equal(arrivals.length, 0);
  });
}

/** Connections that fail. */
function connections(check: Check, create: () => Send): void {
  const head = 'HTTP/1.1 200 OK\r\n';
  const packed = gzipSync('x'.repeat(10_000)).toString('latin1');
  const cutOff = {
    'no answer': '',
    'half a head': `${head}content-le`,
    'half a body': `${head}content-length: 10\r\n\r\n12345`,
    'no last chunk': `${head}transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n`,
    'half of gzip': `${head}content-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n${packed.slice(0, packed.length / 2)}`,
    'gzip that is none': `${head}content-encoding: gzip\r\ncontent-length: 5\r\n\r\n12345`,
    'something else than HTTP': 'hello\r\n\r\n',
  };
  for (const [what, bytes] of Object.entries(cutOff))
    check(`lost: ${what}`, async (t) => {
      const { url } = await rawUpstreamFor(t, (socket) => socket.end(bytes, 'latin1'));
      assert.equal((await create()(get(`${url}/`), limits)).kind, 'lost');
    });

  check('requests without an answer hold up no other', async (t) => {
    const { url } = await upstreamFor(t, (response, { target }) => {
      if (target !== '/hang') response.end('{}');
    });
    const send = create();
    const hanging = Array.from({ length: 100 }, () =>
      send(get(`${url}/hang`), { ...limits, timeoutMs: 5000 }),
    );
    assert.equal((await send(get(`${url}/`), limits)).kind, 'answer');
    const ends = await Promise.all(hanging);
    assert.deepEqual(new Set(ends.map(({ kind }) => kind)), new Set(['timeout']));
  });

  check('unreachable: no server listens', async () => {
    const url = `http://127.0.0.1:${await closedPort()}/`;
    assert.equal((await create()(get(url), limits)).kind, 'unreachable');
  });

  check('unreachable: a certificate that no authority signed, and nothing is sent to it', async (t) => {
    let received = '';
    const server = createTlsServer(selfSigned(), (socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        received += chunk;
      });
    });
    server.on('tlsClientError', () => {});
    const port = await listening(server);
    t.onTestFinished(() => void server.close());
    const request = { ...get(`https://localhost:${port}/`), headers: { 'x-app-key': 'canary' } };
    assert.equal((await create()(request, limits)).kind, 'unreachable');
    assert.equal(received, '');
  });
}

/** The simulator's faults, through the gateway. */
function simulatedFaults(check: Check, create: () => Send): void {
  /** What a client gets, for a read and for an order. */
  const faults: readonly (readonly [ApiFault, read: string, order: string])[] = [
    [{ kind: 'drop' }, 'upstream_broken_answer', 'outcome_unknown'],
    [{ kind: 'hang' }, 'upstream_timeout', 'outcome_unknown'],
    [{ kind: 'drop-after' }, 'upstream_broken_answer', 'outcome_unknown'],
    [{ kind: 'hang-after' }, 'upstream_timeout', 'outcome_unknown'],
    [{ kind: 'truncate' }, 'upstream_broken_answer', 'outcome_unknown'],
    [{ kind: 'not-json' }, 'upstream_broken_answer', 'outcome_unknown'],
    [{ kind: 'oversized', bytes: 1_000_001 }, 'upstream_answer_too_large', 'outcome_unknown'],
    [{ kind: 'status', status: 500 }, 'upstream_error', 'outcome_unknown'],
    [{ kind: 'status', status: 429 }, 'upstream_rate_limited', 'upstream_rate_limited'],
    [{ kind: 'gzip' }, 'ok', 'ok'],
  ];
  for (const [fault, read, order] of faults)
    check(`simulated upstream: ${fault.kind}${'status' in fault ? ` ${fault.status}` : ''}`, async (t) => {
      const credentials = { appKey: 'k', appSecret: 's' };
      const simulator = await startSimulator({ ...credentials, fault: () => fault });
      t.onTestFinished(() => simulator.close());
      const gateway = createGateway({
        access: 'single-user',
        operations,
        upstreamBaseUrl: simulator.url,
        secrets: { read: async () => '{"app_key":"k","app_secret":"s"}' },
        send: create(),
        upstreamTimeoutMs: fault.kind.startsWith('hang') ? 1500 : 120_000,
        maxAnswerBytes: 1_000_000,
      });
      const codeOf = async (request: Parameters<typeof gateway.handle>[0]) => {
        const { status, body } = await gateway.handle(request);
        return status === 200 ? 'ok' : JSON.parse(Buffer.from(body).toString()).code;
      };
      assert.equal(await codeOf(accountsRequest), read);
      assert.equal(await codeOf(orderRequest(simulator.accounts[0]?.account_id ?? '')), order);
      assert.equal(simulator.received.filter(({ method }) => method === 'POST').length, 1);
    });
}

export const accountsRequest = {
  method: 'GET',
  path: '/trading/accounts/list',
  query: [],
  headers: {},
  requestId: 'r',
};

export const orderRequest = (accountId: string) => ({
  method: 'POST',
  path: '/trade/place_order',
  query: [],
  headers: { 'content-type': 'application/json' },
  requestId: 'r',
  body: Buffer.from(
    JSON.stringify({
      account_id: accountId,
      new_orders: [newOrder()],
    }),
  ),
});
