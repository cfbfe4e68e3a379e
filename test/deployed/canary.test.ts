/** The function of the canary, at a server that stands for the API: what it sends, and what is an error for Lambda. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type TestContext, test } from 'vitest';
import { createNodeSend } from '../../functions/aws/node-send.ts';
import { canary, start } from '../../functions/compose/functions.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { writePart } from '../../functions/settings/parts.ts';
import { closedPort } from '../support/closed-port.ts';
import { hostWith } from '../support/deployed.ts';
import { urlFor } from '../support/listening.ts';

const key = 'the-key-of-the-canary';

function canaryOf(url: string, read: () => Promise<string> = async () => key) {
  const logged: LogEntry[] = [];
  const ask = start(canary, writePart('CANARY', { url, keySecretId: 'canary-key' }), {
    ...hostWith((entry) => logged.push(entry)),
    send: createNodeSend(),
    secret: () => ({ read }),
  });
  return { ask, logged };
}

const apiFor = (t: TestContext, listener: RequestListener) => urlFor(t, createServer(listener));

test('it asks with its key, and a quote is no error', async (t) => {
  const asked: unknown[] = [];
  const api = await apiFor(t, ({ url, headers }, response) => {
    asked.push([url, headers['x-api-key']]);
    response.end('[]');
  });
  const { ask, logged } = canaryOf(`${api}/snapshot?symbols=AAPL`);
  assert.deepEqual(await ask(), { status: 200 });
  assert.deepEqual(asked, [['/snapshot?symbols=AAPL', key]]);
  assert.deepEqual(
    logged.map(({ level, event, result, status }) => [level, event, result, status]),
    [['info', 'canary', 'answered', 200]],
  );
  assert.ok(!JSON.stringify(logged).includes(key));
});

test('a refusal, an API that is gone and a key that cannot be read are errors, and told apart', async (t) => {
  const refusing = await apiFor(t, (_, response) => response.writeHead(403).end('{}'));
  const results: unknown[] = [];
  for (const { ask, logged } of [
    canaryOf(refusing),
    canaryOf(`http://127.0.0.1:${await closedPort()}/`),
    canaryOf(refusing, () => Promise.reject(new Error('no such secret'))),
  ]) {
    await assert.rejects(ask(), /gave the canary no quote/);
    results.push(logged.map(({ level, result, status }) => [level, result, status]));
  }
  assert.deepEqual(results, [
    [['error', 'refused', 403]],
    [['error', 'unreachable', undefined]],
    [['error', 'key_unavailable', undefined]],
  ]);
});

test('a wrong environment is an error, too', async () => {
  const logged: LogEntry[] = [];
  const ports = { ...hostWith((entry) => logged.push(entry)), send: createNodeSend() };
  const ask = start(canary, {}, { ...ports, secret: () => ({ read: async () => key }) });
  await assert.rejects(ask(), /wrong_configuration/);
  assert.equal(logged[0]?.event, 'wrong_configuration');
});
