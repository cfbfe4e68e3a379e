import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { describe, test } from 'vitest';
import { type AccessLogEntry, startApiGateway } from '../../infra/local/api-gateway.ts';
import { each } from '../support/each.ts';
import { fine, gatewayFor, key, raw, refuse, signal, withKey } from './gateway.ts';

describe('clients that misbehave', () => {
  test('malformed HTTP is 400, and the server goes on', async (t) => {
    const { url, port } = await gatewayFor(t, async () => fine);
    assert.match(await raw(port, 'this is not HTTP\r\n\r\n'), /^HTTP\/1\.1 400 /);
    assert.equal((await fetch(`${url}/health`)).status, 200);
  });

  test('one that leaves in the middle of its body reaches no handler and no log', async (t) => {
    const received = signal();
    const { url, port, logged } = await gatewayFor(t, async () => assert.fail('called'), {
      // The clock is read as soon as the head of the request is in.
      clock: () => {
        received.settle();
        return 0;
      },
    });
    const socket = net.connect(port, '127.0.0.1');
    socket.write(
      `POST /thing HTTP/1.1\r\nHost: localhost:${port}\r\nx-api-key: ${key}\r\nContent-Length: 100\r\n\r\nhalf`,
    );
    await received.promise;
    socket.resetAndDestroy();
    assert.equal((await fetch(`${url}/health`)).status, 200);
    await nextTurn();
    assert.deepEqual(each(logged, 'path'), ['/health']);
  });

  test('one that leaves before the answer leaves the function to finish, as in the cloud', async (t) => {
    const [called, gate, left] = [signal(), signal(), signal<AccessLogEntry>()];
    const { url, port } = await gatewayFor(
      t,
      async () => {
        called.settle();
        await gate.promise;
        return { statusCode: 200, body: 'x'.repeat(1_000_000) };
      },
      { log: left.settle },
    );
    const socket = net.connect(port, '127.0.0.1');
    socket.write(`GET /thing HTTP/1.1\r\nHost: localhost:${port}\r\nx-api-key: ${key}\r\n\r\n`);
    await called.promise;
    socket.resetAndDestroy();
    await once(socket, 'close');
    gate.settle();
    assert.equal((await left.promise).status, 200);
    assert.equal((await fetch(`${url}/health`)).status, 200);
  });
});

describe('starting and closing', () => {
  test('a taken port is the listener’s own error', async (t) => {
    const other = createServer().listen(0, '127.0.0.1');
    t.onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await assert.rejects(
      startApiGateway({ routes: [], apiKeys: [], plan: { ratePerSecond: 1, burst: 1 }, refuse, port }),
      { code: 'EADDRINUSE', port },
    );
  });

  test('closing lets a request in hand finish, and takes no new one', async (t) => {
    const [called, gate] = [signal(), signal()];
    const { url, close } = await gatewayFor(
      t,
      async () => {
        called.settle();
        await gate.promise;
        return fine;
      },
      // Far beyond the test's own limit: closing must not need it.
      { closeGraceMs: 600_000 },
    );
    const inHand = fetch(`${url}/thing`, { headers: withKey });
    await called.promise;
    let closings = 0;
    const closed = Promise.all([close(), close()].map((closing) => closing.then(() => closings++)));
    await assert.rejects(fetch(`${url}/health`));
    assert.equal(closings, 0);
    gate.settle();
    const response = await inHand;
    assert.equal(await response.text(), '"fine"');
    assert.equal(response.headers.get('connection'), 'close');
    await closed;
  });

  test('closing cuts off what does not finish', async (t) => {
    const called = signal();
    const gate = signal<APIGatewayProxyResult>();
    const { url, close } = await gatewayFor(
      t,
      () => {
        called.settle();
        return gate.promise;
      },
      { closeGraceMs: 20 },
    );
    const cutOff = assert.rejects(fetch(`${url}/thing`, { headers: withKey }));
    await called.promise;
    await close();
    await cutOff;
    gate.settle(fine);
  });
});
