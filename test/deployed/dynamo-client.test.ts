/** The client of the shared table gives up in its time, however the table keeps it waiting. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { type TestContext, test } from 'vitest';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { emulatorEnvironment } from '../budget/dynamo.ts';

async function clientOf(t: TestContext, listener: RequestListener) {
  Object.assign(process.env, emulatorEnvironment);
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const client = createDynamoClient({ endpoint: `http://127.0.0.1:${port}`, timeoutMs: 200 });
  t.onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return () => client.send(new GetItemCommand({ TableName: 'cache', Key: { pk: { S: 'a' } } }));
}

const head = { 'content-type': 'application/x-amz-json-1.0' };

for (const [what, listener] of [
  ['nothing at all', () => {}],
  ['headers and no body', (_, response) => response.writeHead(200, head).flushHeaders()],
  [
    'half a body',
    (_, response) => response.writeHead(200, { ...head, 'content-length': 20 }).write('{"Item"'),
  ],
] as readonly (readonly [string, RequestListener])[])
  test(`a table that answers ${what} is given up`, async (t) => {
    const get = await clientOf(t, listener);
    await assert.rejects(get);
  });

test('a table that answers is heard', async (t) => {
  const get = await clientOf(t, (_, response) =>
    response.writeHead(200, head).end('{"Item":{"pk":{"S":"a"}}}'),
  );
  assert.deepEqual((await get()).Item, { pk: { S: 'a' } });
});
