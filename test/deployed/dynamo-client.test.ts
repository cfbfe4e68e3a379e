/** A store's client gives up in its time, however long the table keeps it waiting, and repeats only as often as configured. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type TestContext, test } from 'vitest';
import { createDynamoClient, type SendLimit, withLimit } from '../../functions/aws/dynamo-client.ts';
import { createStoreTime } from '../../lib/guard-rails/store-time.ts';
import { urlFor } from '../support/listening.ts';
import { emulatorEnvironment } from '../world/dynamo.ts';

async function clientOf(t: TestContext, listener: RequestListener, limit: SendLimit = { timeoutMs: 200 }) {
  Object.assign(process.env, emulatorEnvironment);
  const client = createDynamoClient(await urlFor(t, createServer(listener)));
  const limited = withLimit(client, limit);
  return () => limited.send('GetItem', { TableName: 'cache', Key: { pk: { S: 'a' } } });
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
  const get = await clientOf(
    t,
    (_, response) => response.writeHead(200, head).end('{"Item":{"pk":{"S":"a"}}}'),
    { timeoutMs: 60_000 },
  );
  assert.deepEqual((await get()).Item, { pk: { S: 'a' } });
});

test('an operation that fails is sent again as often as its store allows, and a refused one is not', async (t) => {
  const answers: [number, string][] = [
    [500, 'InternalServerError'],
    [400, 'ThrottlingException'],
    [200, ''],
    [400, 'ConditionalCheckFailedException'],
    [500, 'InternalServerError'],
    [500, 'InternalServerError'],
    [500, 'InternalServerError'],
  ];
  let asked = 0;
  const answer: RequestListener = (_, response) => {
    const [status, __type] = answers[asked++] ?? [500, ''];
    response.writeHead(status, head).end(status === 200 ? '{}' : JSON.stringify({ __type }));
  };
  const get = await clientOf(t, answer, { timeoutMs: 60_000, attempts: 3 });
  await get();
  assert.equal(asked, 3);
  await assert.rejects(get, { name: 'ConditionalCheckFailedException' });
  assert.equal(asked, 4);
  await assert.rejects(get, { name: 'InternalServerError' });
  assert.equal(asked, 7);
});

test('a conflict has attempts of its own, and takes none of those of a failure', async (t) => {
  const conflict = 'TransactionConflictException';
  const answers = [conflict, 'InternalServerError', conflict, conflict, ''];
  let asked = 0;
  const answer: RequestListener = (_, response) => {
    const __type = answers[asked++] ?? conflict;
    response
      .writeHead(__type === '' ? 200 : 400, head)
      .end(__type === '' ? '{}' : JSON.stringify({ __type }));
  };
  const isOne = (error: unknown) => (error as Error).name === conflict;
  const get = await clientOf(t, answer, {
    timeoutMs: 60_000,
    attempts: 2,
    alsoPasses: (error) => (error as Error).name === 'InternalServerError',
    conflicts: { isOne, attempts: 4, pauses: { firstMs: 1, maxMs: 2 } },
  });
  await get();
  assert.equal(asked, 5);
  await assert.rejects(get, { name: conflict });
  assert.equal(asked, 9);
});

test('what is sent once is not sent again', async (t) => {
  let asked = 0;
  const get = await clientOf(
    t,
    (_, response) => {
      asked++;
      response.writeHead(500, head).end('{"__type":"InternalServerError"}');
    },
    { timeoutMs: 60_000 },
  );
  await assert.rejects(get);
  assert.equal(asked, 1);
});

test('the store’s time is learnt from the dates of its answers', async (t) => {
  const hour = 3_600_000;
  // It stands still: an answer that takes long says too little of the time.
  const now = Date.UTC(2026, 10, 17, 9, 30, 0, 700);
  const clock = () => now;
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    response.setHeader('date', new Date(now + hour).toUTCString());
    response.end('{}');
  });
  Object.assign(process.env, emulatorEnvironment);
  const time = createStoreTime(clock);
  const client = createDynamoClient(await urlFor(t, server), { time, clock });
  assert.equal(time.now(), now);
  await client.send('Scan', { TableName: 'any' });
  // A date has whole seconds.
  assert.equal(time.now(), now - 700 + hour);
});
