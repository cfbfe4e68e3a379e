/** What only the deployed way of sending does: it chooses connections. */

import assert from 'node:assert/strict';
import { createServer as createHttpsServer } from 'node:https';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { test } from 'vitest';
import { createNodeSend } from '../../functions/aws/node-send.ts';
import { startSimulator } from '../../infra/simulator/index.ts';
import { listAccounts } from '../../lib/catalogue/index.ts';
import { createGateway, type RequestReport } from '../../lib/gateway/index.ts';
import { each } from '../support/each.ts';
import { selfSigned } from './self-signed.ts';
import { textOf } from './send.contract.ts';
import { listening, rawUpstreamFor, upstreamFor } from './upstreams.ts';

const limits = { timeoutMs: 120_000, maxBytes: 1_000_000 };
const order = { ...limits, freshConnection: true };
const get = (url: string) => ({ method: 'GET', url, headers: { 'x-app-key': 'k' } }) as const;
const post = (url: string) => ({ method: 'POST', url, headers: { 'x-app-key': 'k' }, body: '{}' }) as const;
const fine = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';

/** The agent takes a connection back a moment after the answer's last byte. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('reads share a connection, an order has one of its own', async (t) => {
  const { url, arrivals } = await upstreamFor(t, (response) => response.end('{}'));
  const send = createNodeSend();
  for (const [request, how] of [
    [get(url), limits],
    [get(url), limits],
    [post(url), order],
    [post(url), order],
    [get(url), limits],
  ] as const) {
    assert.equal(textOf(await send(request, how)), '{}');
    await settled();
  }
  assert.deepEqual(each(arrivals, 'connection'), [1, 1, 2, 3, 1]);
});

test('nothing is sent that was not asked for', async (t) => {
  const { url, port, arrivals } = await upstreamFor(t, (response) => response.end('{}'));
  const send = createNodeSend();
  await send(get(url), limits);
  await send(post(url), order);
  const host = `127.0.0.1:${port}`;
  const own = ['x-app-key', 'k', 'host', host, 'accept-encoding', 'gzip'];
  assert.deepEqual(each(arrivals, 'rawHeaders'), [
    [...own, 'Connection', 'keep-alive'],
    [...own, 'content-length', '2', 'Connection', 'close'],
  ]);
});

test('a request is let go when there is a connection, which may take longer than a permit lives', async (t) => {
  const certificate = selfSigned();
  const server = createHttpsServer(certificate, (_, response) => response.end('{}'));
  let connections = 0;
  server.on('connection', () => connections++);
  const port = await listening(server);
  t.onTestFinished(() => void server.close());
  const send = createNodeSend({ ca: certificate.cert });
  const letGo = async (leave: () => void) => {
    assert.equal(connections, 1);
    leave();
    return true;
  };
  assert.equal(textOf(await send(get(`https://localhost:${port}/`), { ...order, letGo })), '{}');
});

/** Answers the first request of each connection and ends it when a second one arrives, as if dead. */
function deadAfterFirst(seen: number[]) {
  const used = new Set<number>();
  return (socket: import('node:net').Socket, _: string, connection: number) => {
    seen.push(connection);
    if (used.has(connection)) socket.resetAndDestroy();
    else socket.write(fine);
    used.add(connection);
  };
}

test('a read that meets a dead connection is dropped, and is sent once', async (t) => {
  const seen: number[] = [];
  const { url } = await rawUpstreamFor(t, deadAfterFirst(seen));
  const send = createNodeSend();
  await send(get(url), limits);
  await settled();
  assert.equal((await send(get(url), limits)).kind, 'dropped');
  assert.deepEqual(seen, [1, 1]);
});

test('an order never meets a dead connection', async (t) => {
  const seen: number[] = [];
  const { url } = await rawUpstreamFor(t, deadAfterFirst(seen));
  const send = createNodeSend();
  await send(get(url), limits);
  await settled();
  assert.equal(textOf(await send(post(url), order)), '{}');
  assert.deepEqual(seen, [1, 2]);
});

test('a new connection that ends is a lost answer', async (t) => {
  const { url } = await rawUpstreamFor(t, (socket) => socket.resetAndDestroy());
  assert.equal((await createNodeSend()(get(url), limits)).kind, 'lost');
});

test('a read of which part of an answer came is not repeated', async (t) => {
  let requests = 0;
  const { url } = await rawUpstreamFor(t, (socket) => {
    if (++requests === 1) socket.write(fine);
    else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345');
  });
  const send = createNodeSend();
  await send(get(url), limits);
  await settled();
  assert.equal((await send(get(url), limits)).kind, 'lost');
  assert.equal(requests, 2);
});

test('an idle connection that the upstream ended costs no order', async (t) => {
  const { url, connections } = await upstreamFor(t, (response) => response.end('{}'));
  const send = createNodeSend();
  for (let round = 0; round < 3; round++) {
    await send(get(url), limits);
    for (const socket of connections) socket.destroy();
    assert.equal(textOf(await send(post(url), order)), '{}');
  }
});

for (const kind of ['drop', 'drop-after'] as const)
  test(`a read on a kept connection that ends (${kind}) gets a new signature and is sent once more`, async (t) => {
    const credentials = { appKey: 'dropped-key', appSecret: 'dropped-secret' };
    const simulator = await startSimulator({
      ...credentials,
      fault: ({ attempt }) => (attempt === 2 ? { kind } : undefined),
    });
    t.onTestFinished(() => simulator.close());
    const reports: RequestReport[] = [];
    const gateway = createGateway({
      access: 'single-user',
      operations: [listAccounts],
      upstreamBaseUrl: simulator.url,
      secrets: { read: async () => '{"app_key":"dropped-key","app_secret":"dropped-secret"}' },
      send: createNodeSend(),
      report: (report) => reports.push(report),
    });
    const ask = () =>
      gateway.handle({ method: 'GET', path: listAccounts.path, query: [], headers: {}, requestId: 'r' });
    assert.equal((await ask()).status, 200);
    await settled();
    assert.equal((await ask()).status, 200);
    assert.deepEqual(each(reports, 'attempts'), [1, 2]);
    // Each with a nonce of its own, or the last would have been refused.
    assert.equal(simulator.received.length, 3);
    assert.equal(simulator.received.at(-1)?.outcome, 'ok');
  });

test('a connection that was idle for long is not used again', async (t) => {
  let now = 0;
  const { url, arrivals } = await upstreamFor(t, (response) => response.end('{}'));
  const send = createNodeSend({ clock: () => now });
  for (const time of [0, 20_000, 40_001]) {
    now = time;
    await send(get(url), limits);
    await settled();
  }
  assert.deepEqual(each(arrivals, 'connection'), [1, 1, 2]);
});

test('a connection that does not come about in time leaves an order certainly unsent', async (t) => {
  // Takes the connection and never answers the handshake.
  const { port } = await rawUpstreamFor(t, () => {});
  const sent = await createNodeSend()(post(`https://127.0.0.1:${port}/`), { ...order, timeoutMs: 100 });
  assert.equal(sent.kind, 'unreachable');
});

test('unreachable: a server that speaks no TLS', async (t) => {
  const { port } = await rawUpstreamFor(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  assert.equal((await createNodeSend()(post(`https://127.0.0.1:${port}/`), order)).kind, 'unreachable');
});

test('over TLS, to a host whose certificate is good for its name only', async (t) => {
  const { key, cert } = selfSigned();
  let connections = 0;
  const server = createHttpsServer({ key, cert }, (_, response) => response.end('{}'));
  server.on('secureConnection', () => connections++);
  server.on('tlsClientError', () => {});
  const port = await listening(server);
  t.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const send = createNodeSend({ ca: cert });
  for (let round = 0; round < 2; round++) {
    assert.equal(textOf(await send(get(`https://localhost:${port}/`), limits)), '{}');
    assert.equal(textOf(await send(post(`https://localhost:${port}/`), order)), '{}');
    await settled();
  }
  assert.equal(connections, 3);
  assert.equal((await send(get(`https://127.0.0.1:${port}/`), limits)).kind, 'unreachable');
});

test('an encoding that was not asked for: understood if it is brotli, else lost', async (t) => {
  const { url } = await upstreamFor(t, (response, { target }) =>
    response
      .writeHead(200, { 'content-encoding': target.slice(1) })
      .end(target === '/br' ? brotliCompressSync('{}') : '{}'),
  );
  const send = createNodeSend();
  assert.equal(textOf(await send(get(`${url}/br`), limits)), '{}');
  assert.equal(textOf(await send(get(`${url}/identity`), limits)), '{}');
  for (const encoding of ['zstd', 'gzip,br', 'constructor'])
    assert.equal(textOf(await send(get(`${url}/${encoding}`), limits)), 'lost');
});

test('gzip that ends early is noticed by itself, where there is no length', async (t) => {
  const { url } = await upstreamFor(t, (response) => {
    const bytes = gzipSync('{"a":1}');
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes.subarray(0, bytes.length - 9));
  });
  assert.equal((await createNodeSend()(get(url), limits)).kind, 'lost');
});

test('too large an answer ends its connection, and the next read has another', async (t) => {
  const { url, arrivals } = await upstreamFor(t, (response, { target }) =>
    response.end(target === '/large' ? 'x'.repeat(2_000_000) : '{}'),
  );
  const send = createNodeSend();
  assert.equal((await send(get(`${url}/large`), limits)).kind, 'too_large');
  assert.equal(textOf(await send(get(`${url}/`), limits)), '{}');
  assert.deepEqual(each(arrivals, 'connection'), [1, 2]);
});

test('a header that cannot be sent is a defect, not an answer', async () => {
  const request = { ...get('http://127.0.0.1:1/'), headers: { 'x-app-key': 'a\nb' } };
  await assert.rejects(createNodeSend()(request, limits));
});
