import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { describe, test } from 'vitest';
import { minimumCompressionBytes } from '../../infra/api-gateway-answers.ts';
import { prefersGzip } from '../../infra/local/compression.ts';
import { gatewayFor, key } from './gateway.ts';

/** As it arrives: `fetch` would unpack it and hide how it came. */
async function ask(port: number, accepted?: string) {
  const headers = { 'x-api-key': key, ...(accepted !== undefined && { 'accept-encoding': accepted }) };
  const asked = get({ port, host: '127.0.0.1', path: '/thing', headers, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { ...response.headers, body: await buffer(response) };
}

const answering = (body: string, headers: Record<string, string> = {}) => ({
  statusCode: 200,
  headers,
  body,
});

describe('a large answer', () => {
  const body = '248.43 '.repeat(minimumCompressionBytes).slice(0, minimumCompressionBytes);

  test('is compressed for a client that asks for gzip', async (t) => {
    const { port } = await gatewayFor(t, async () => answering(body));
    const answer = await ask(port, 'gzip, deflate, br');
    assert.equal(answer['content-encoding'], 'gzip');
    assert.equal(answer.vary, 'accept-encoding');
    assert.equal(answer['content-length'], String(answer.body.length));
    assert.ok(answer.body.length < body.length);
    assert.equal(gunzipSync(answer.body).toString(), body);
  });

  test('is sent as it is to one that does not, and caches learn that the encoding matters', async (t) => {
    const { port } = await gatewayFor(t, async () => answering(body, { Vary: 'origin' }));
    const answer = await ask(port);
    assert.equal(answer['content-encoding'], undefined);
    assert.equal(answer.vary, 'origin, accept-encoding');
    assert.equal(answer.body.toString(), body);
  });

  test('that is encoded already stays as it is', async (t) => {
    const { port } = await gatewayFor(t, async () => answering(body, { 'Content-Encoding': 'identity' }));
    const answer = await ask(port, 'gzip');
    assert.equal(answer['content-encoding'], 'identity');
    assert.equal(answer.body.toString(), body);
  });
});

test('a small answer is not worth it', async (t) => {
  const small = 'x'.repeat(minimumCompressionBytes - 1);
  const { port } = await gatewayFor(t, async () => answering(small));
  const answer = await ask(port, 'gzip');
  assert.equal(answer['content-encoding'], undefined);
  assert.equal(answer.vary, undefined);
  assert.equal(answer.body.toString(), small);
});

test('gzip has to be asked for by name, and nothing wanted more', () => {
  for (const header of ['gzip', 'br, GZIP', 'deflate;q=0.5, gzip', 'gzip ; q=0.9, identity;q=0.1'])
    assert.ok(prefersGzip(header), header);
  for (const header of [undefined, '', '*', 'identity', 'br', 'gzip;q=0', 'br;q=1.0, gzip;q=0.9', 'gzip;q=x'])
    assert.ok(!prefersGzip(header), header);
});
