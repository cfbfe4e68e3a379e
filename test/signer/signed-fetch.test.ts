/** The signed fetch against real connections: what counts is what arrives. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'vitest';
import { createSignedFetch, createSigner } from '../../lib/signer/index.ts';
import { each } from '../support/each.ts';
import { appKey, appSecret, base, now, rejectsWith } from '../support/signing.ts';
import { headerPairs, libVerdict, simulatorVerdict } from '../support/wire.ts';

interface Arrival {
  readonly method: string;
  readonly rawTarget: string;
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Records what arrives, then lets `answer` have its way. */
async function listen(answer: (response: ServerResponse) => void) {
  const arrivals: Arrival[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const body = Buffer.concat(await request.toArray());
    const { method = '', url: rawTarget = '', rawHeaders } = request;
    arrivals.push({ method, rawTarget, rawHeaders, body });
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { arrivals, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const signedFetch = createSignedFetch({ signer: createSigner({ appKey, appSecret, clock: () => now }) });
const ok = (response: ServerResponse) => response.end('[]');

test('what arrives verifies, byte for byte', async () => {
  const { arrivals, url } = await listen(ok);
  const body = '{"note": "日本 <&> \\u003c", "qty": 1.10}';
  const response = await signedFetch(`${url}/a?x=1+2`, { query: [['x', "'*~"]], body });
  assert.equal(response.status, 200);
  assert.equal(await response.text(), '[]');
  const [arrival, ...more] = arrivals;
  assert.ok(arrival);
  assert.equal(more.length, 0);
  assert.equal(arrival.method, 'POST');
  assert.equal(arrival.rawTarget, '/a?x=1%202&x=%27%2A~');
  assert.equal(Buffer.from(arrival.body).toString('utf8'), body);
  const verdict = simulatorVerdict({ ...arrival, now });
  assert.ok(verdict.ok, JSON.stringify(verdict));
  assert.deepEqual(await libVerdict({ ...arrival, now }), { ok: true, appKey });
});

test('a POST without body and a GET verify too', async () => {
  const { arrivals, url } = await listen(ok);
  await signedFetch(`${url}/a`, { method: 'POST' });
  await signedFetch(new URL(`${url}/a`));
  assert.deepEqual(each(arrivals, 'method'), ['POST', 'GET']);
  for (const arrival of arrivals) assert.ok(simulatorVerdict({ ...arrival, now }).ok);
});

test('signing headers of the caller’s are overwritten, others go along', async () => {
  const { arrivals, url } = await listen(ok);
  const headers = {
    'X-App-Key': 'other',
    'x-signature': 'other',
    'X-SIGNATURE-NONCE': 'other',
    'X-Signature-Version': 'other',
    'x-Signature-algorithm': 'other',
    'X-Timestamp': 'other',
    'X-Version': 'v2',
    'Content-Type': 'text/plain',
    Host: 'other.example.com',
    'X-Access-Token': 'token',
  };
  for (const given of [headers, new Headers(headers), Object.entries(headers) as [string, string][]])
    await signedFetch(`${url}/a`, { headers: given, body: '{}' });
  assert.equal(arrivals.length, 3);
  for (const arrival of arrivals) {
    const verdict = simulatorVerdict({ ...arrival, now });
    assert.ok(verdict.ok, JSON.stringify(verdict));
    const token = headerPairs(arrival.rawHeaders).filter(([name]) => name.toLowerCase() === 'x-access-token');
    assert.deepEqual(
      token.map(([, value]) => value),
      ['token'],
    );
  }
});

test('a Host of the caller’s is not handed to a fetch that would send it', async () => {
  let handed: Headers | undefined;
  const signer = createSigner({ appKey, appSecret });
  const send: typeof fetch = async (_, init) => {
    handed = new Headers(init?.headers);
    return new Response();
  };
  await createSignedFetch({ signer, fetch: send })(`${base}/a`, { headers: { HOST: 'other.example.com' } });
  assert.equal(handed?.get('host'), null);
});

test('a redirect is not followed', async () => {
  const target = await listen(ok);
  for (const status of [301, 302, 303, 307, 308]) {
    const { arrivals, url } = await listen((response) =>
      response.writeHead(status, { location: `${target.url}/stolen` }).end(),
    );
    const response = await signedFetch(`${url}/a`);
    assert.equal(response.status, status);
    assert.equal(arrivals.length, 1);
  }
  assert.equal(target.arrivals.length, 0);
});

test('it sends once, after any answer', async () => {
  for (const status of [401, 429, 500, 503]) {
    const { arrivals, url } = await listen((response) => response.writeHead(status).end());
    assert.equal((await signedFetch(`${url}/a`)).status, status);
    assert.equal(arrivals.length, 1);
  }
  const { arrivals, url } = await listen((response) => response.destroy());
  await assert.rejects(signedFetch(`${url}/a`, { body: '{}' }), TypeError);
  assert.equal(arrivals.length, 1);
});

test('each call has its own nonce and signature', async () => {
  const { arrivals, url } = await listen(ok);
  for (let calls = 0; calls < 3; calls++) await signedFetch(`${url}/a`);
  for (const header of ['x-signature-nonce', 'x-signature']) {
    const values = arrivals.flatMap(({ rawHeaders }) =>
      headerPairs(rawHeaders).filter(([name]) => name === header),
    );
    assert.equal(new Set(values.map(([, value]) => value)).size, 3, header);
  }
});

test('an AbortSignal ends the call', async () => {
  const { url } = await listen(() => {});
  const reason = new Error('enough');
  await assert.rejects(signedFetch(`${url}/a`, { signal: AbortSignal.abort(reason) }), reason);
  await assert.rejects(signedFetch(`${url}/a`, { signal: AbortSignal.timeout(50) }), {
    name: 'TimeoutError',
  });
});

test('what cannot be signed is not sent', async () => {
  let sent = 0;
  const send: typeof fetch = async () => {
    sent++;
    return new Response();
  };
  const refusing = createSignedFetch({ signer: createSigner({ appKey, appSecret }), fetch: send });
  await rejectsWith('path_not_plain', () => refusing(`${base}/a b`));
  await rejectsWith('invalid_url', () => refusing('http://example.com/'));
  assert.equal(sent, 0);
});
