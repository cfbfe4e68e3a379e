import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { startSimulator } from '../../infra/simulator/index.ts';
import { operations } from '../../lib/catalogue/index.ts';
import type { OutgoingRequest } from '../../lib/gateway/index.ts';
import {
  accountsPath,
  ask,
  coreFor,
  credentials,
  gatewayOf,
  orderBody,
  orderPath,
  problemOf,
  secretText,
} from '../support/core.ts';
import { createGroupHandler, type GroupHandler } from '../support/group-handler.ts';

const canary = 'from-the-client';

/** What clients of the interface send, and tricks, in every case of letters. */
const clientHeaders = Object.fromEntries(
  [
    'X-App-Key',
    'x-signature',
    'X-SIGNATURE-ALGORITHM',
    'x-Signature-Version',
    'X-Signature-Nonce',
    'x-timestamp',
    'X-Version',
    'X-Access-Token',
    'X-Api-Key',
    'Cookie',
    'Authorization',
    'Proxy-Authorization',
    'Host',
    'X-Forwarded-Host',
    'Forwarded',
    'Origin',
    'Referer',
    'User-Agent',
    'Accept',
    'Accept-Encoding',
    'Accept-Language',
    'Content-Length',
    'Content-Encoding',
    'Transfer-Encoding',
    'Connection',
    'Keep-Alive',
    'Upgrade',
    'Expect',
    'Range',
    'If-None-Match',
    'Traceparent',
    'X-Amzn-Trace-Id',
    '__proto__',
    'Categories',
  ].map((name) => [name, canary]),
);

const signed = [
  'x-app-key',
  'x-signature',
  'x-signature-algorithm',
  'x-signature-nonce',
  'x-signature-version',
  'x-timestamp',
  'x-version',
];

/** What fetch adds on its own. */
const transport = [
  'accept',
  'accept-encoding',
  'accept-language',
  'connection',
  'host',
  'sec-fetch-mode',
  'user-agent',
];

/** What arrives at the upstream when the rim is given these headers. */
async function arriving(headers: Readonly<Record<string, string>>, body?: string) {
  const simulator = await startSimulator(credentials);
  try {
    const handler: GroupHandler = createGroupHandler({
      access: 'single-user',
      operations,
      upstreamBaseUrl: simulator.url,
      secrets: { read: async () => secretText() },
    });
    const result = await handler(
      {
        resource: body === undefined ? accountsPath : orderPath,
        httpMethod: body === undefined ? 'GET' : 'POST',
        headers: { ...headers },
        multiValueHeaders: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, [value]]),
        ),
        queryStringParameters: null,
        multiValueQueryStringParameters: null,
        body: body ?? null,
        isBase64Encoded: false,
        requestContext: { requestId: 'request-1' },
      },
      { getRemainingTimeInMillis: () => 30_000 },
    );
    assert.equal(result.statusCode, 200, result.body);
    assert.equal(simulator.received.length, 1);
    const [received] = simulator.received;
    assert.equal(received?.outcome, 'ok');
    return received!;
  } finally {
    await simulator.close();
  }
}

describe('of a client’s headers', () => {
  test('none arrives with a read', async () => {
    const received = await arriving(clientHeaders);
    assert.ok(!JSON.stringify(received).includes(canary));
    assert.deepEqual(Object.keys(received.headers).sort(), [...signed, ...transport].sort());
    assert.equal(received.headers['x-app-key'], credentials.appKey);
  });

  test('only the one that the catalogue names arrives with an order', async () => {
    for (const name of ['category', 'Category', 'CATEGORY']) {
      const received = await arriving(
        { ...clientHeaders, [name]: 'US_STOCK', 'Content-Type': 'application/json' },
        orderBody(),
      );
      assert.ok(!JSON.stringify(received).includes(canary));
      assert.deepEqual(
        Object.keys(received.headers).sort(),
        [...signed, ...transport, 'category', 'content-length', 'content-type'].sort(),
      );
      assert.equal(received.headers.category, 'US_STOCK');
    }
  });

  test('the one that the catalogue names stays away when the client does not send it', async () => {
    assert.equal(
      (await arriving({ 'Content-Type': 'application/json' }, orderBody())).headers.category,
      undefined,
    );
  });

  test('the catalogue’s is not forwarded with another operation', async () => {
    assert.equal((await arriving({ category: 'US_STOCK' })).headers.category, undefined);
  });

  for (const value of ['US\r\nx-app-key: other', '', 'é', 'x'.repeat(257), '\u0000']) {
    test(`the catalogue’s is refused when it is ${JSON.stringify(value.slice(0, 30))}`, async (t) => {
      const { gateway, simulator } = await coreFor(t);
      const problem = problemOf(
        await ask(gateway, orderPath, { body: orderBody(), headers: { category: value } }),
        { status: 400, code: 'invalid_parameter' },
      );
      const [error, ...more] = problem.errors ?? [];
      assert.equal(more.length, 0);
      assert.equal(error?.in, 'header');
      assert.equal(error?.name, 'category');
      assert.ok((error?.received ?? '').length <= 101);
      assert.equal(simulator.received.length, 0);
    });
  }
});

describe('the headers that the gateway sends', () => {
  async function sentWith(secret: string, target: string, body?: string): Promise<OutgoingRequest> {
    const sent: OutgoingRequest[] = [];
    const gateway = gatewayOf({
      secrets: { read: async () => secret },
      clock: () => Date.UTC(2026, 10, 17, 9, 30, 0, 123),
      nonce: () => 'a-nonce',
      send: async (request) => {
        sent.push(request);
        return { kind: 'answer', status: 200, header: () => undefined, body: new Uint8Array([0x31]) };
      },
    });
    await ask(gateway, target, { headers: { 'x-access-token': canary }, ...(body && { body }) });
    assert.equal(sent.length, 1);
    return sent[0]!;
  }

  const expected = {
    'x-app-key': credentials.appKey,
    'x-signature-algorithm': 'HMAC-SHA256',
    'x-signature-nonce': 'a-nonce',
    'x-signature-version': '1.0',
    'x-timestamp': '2026-11-17T09:30:00Z',
    'x-version': 'v3',
  };

  test('are exactly the interface’s', async () => {
    const { headers, ...rest } = await sentWith(secretText(), accountsPath);
    const { 'x-signature': signature, ...others } = headers;
    assert.match(signature ?? '', /^[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(others, expected);
    assert.deepEqual(rest, { method: 'GET', url: `https://upstream.example${accountsPath}` });
  });

  test('have a content type with a body, and the token where there is one', async () => {
    const body = orderBody();
    const { headers, ...rest } = await sentWith(secretText(credentials, 'the-token'), orderPath, body);
    const { 'x-signature': _, ...others } = headers;
    assert.deepEqual(others, {
      ...expected,
      'content-type': 'application/json',
      'x-access-token': 'the-token',
    });
    assert.deepEqual(rest, { method: 'POST', url: `https://upstream.example${orderPath}`, body });
  });

  test('leave the token unsigned', async () => {
    const [without, with_] = await Promise.all([
      sentWith(secretText(), accountsPath),
      sentWith(secretText(credentials, 'the-token'), accountsPath),
    ]);
    assert.equal(without.headers['x-signature'], with_.headers['x-signature']);
  });
});
