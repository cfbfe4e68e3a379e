/** The typed client on a stream: servers that are slow, wrong or gone, and callers that leave. */

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test, vi } from 'vitest';
import {
  BrokenAnswerError,
  type Connection,
  follow,
  streamStockSnapshots,
  viaGateway,
} from '../../../lib/client/index.ts';

const query = { symbols: ['A'], category: 'US_STOCK' } as const;
const snapshot = (price: string) =>
  `event: snapshot\ndata: ${JSON.stringify({ now: Date.now(), quotes: [{ symbol: 'A', at: 1, record: { symbol: 'A', price } }] })}\n\n`;

/** Texts of one answer; it stays open after them unless it is ended. */
function answer(texts: readonly string[], { ends = true, type = 'text/event-stream' } = {}): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      if (ends) controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': type } });
}

/** Connections, each answered by the next of them; the last answers all others. */
function world(answers: readonly (() => Response)[]) {
  const seen = { connections: 0, signals: [] as AbortSignal[] };
  const connection = viaGateway({
    baseUrl: 'https://gateway.example',
    fetch: async (_, init) => {
      if (init?.signal) seen.signals.push(init.signal);
      init?.signal?.throwIfAborted();
      return answers[Math.min(seen.connections++, answers.length - 1)]!();
    },
  });
  return { seen, connection };
}

test('a text in several chunks, with a separator of lines that JSON allows, is one event', async () => {
  const text = snapshot('1\u2028');
  const { connection } = world([() => answer([text.slice(0, 20), text.slice(20)])]);
  const { value } = await follow(streamStockSnapshots, connection, query).next();
  assert.equal(value?.quotes.get('A')?.record?.price, '1\u2028');
});

test('a caller that has left before it began opens nothing, and one that leaves ends its connection', async () => {
  const { connection, seen } = world([() => answer([snapshot('1')], { ends: false })]);
  const ended = { signal: AbortSignal.abort() };
  for await (const _ of follow(streamStockSnapshots, connection, query, ended)) assert.fail();
  assert.equal(seen.connections, 0);
  for await (const _ of follow(streamStockSnapshots, connection, query)) break;
  assert.deepEqual(
    seen.signals.map(({ aborted }) => aborted),
    [true],
  );
});

test('a signal that outlives its streams keeps nothing of them, whether they were left or refused', async () => {
  const { signal } = new AbortController();
  const listeners = () => getEventListeners(signal, 'abort').length;
  const open = world([() => answer([snapshot('1')], { ends: false })]);
  for await (const _ of follow(streamStockSnapshots, open.connection, query, { signal })) break;
  assert.equal(listeners(), 0);
  const refused = world([() => new Response('{}', { status: 403 })]);
  await assert.rejects(follow(streamStockSnapshots, refused.connection, query, { signal }).next());
  assert.equal(listeners(), 0);
});

test('a caller that leaves while its token is fetched is not kept', async () => {
  const end = new AbortController();
  const token = () => new Promise<string>(() => setTimeout(() => end.abort(), 10));
  const connection = viaGateway({ baseUrl: 'https://gateway.example', token });
  for await (const _ of follow(streamStockSnapshots, connection, query, end)) assert.fail();
});

test('what is no stream is refused at first, and later a connection that is lost', async () => {
  const html = () => answer(['<html>'], { type: 'text/html' });
  await assert.rejects(
    follow(streamStockSnapshots, world([html]).connection, query).next(),
    BrokenAnswerError,
  );
  const { connection } = world([() => answer([snapshot('1')]), html, () => answer([snapshot('2')])]);
  const prices: unknown[] = [];
  for await (const { quotes, isConnected } of follow(streamStockSnapshots, connection, query)) {
    prices.push(isConnected && quotes.get('A')?.record?.price);
    if (prices.at(-1) === '2') break;
  }
  assert.deepEqual(prices, ['1', false, false, '2']);
});

test('a fetch that cannot stream is named at once: the platform’s own, or one whose answer has no body', async (t) => {
  const fault = (connection: Connection) =>
    assert.rejects(
      follow(streamStockSnapshots, connection, query).next(),
      /this fetch does not stream: .* expo\/fetch/,
    );
  const { connection } = world([() => ({ status: 200, headers: new Headers(), body: undefined }) as never]);
  await fault(connection);
  // As in React Native, whose fetch answers at the end of the stream.
  vi.stubGlobal('Response', class {});
  vi.stubGlobal('fetch', () => new Promise(() => {}));
  t.onTestFinished(() => void vi.unstubAllGlobals());
  await fault(viaGateway({ baseUrl: 'https://gateway.example' }));
});

test('a line without an end, and an event that is no JSON, are connections that are lost', async () => {
  const endless = () =>
    answer(
      Array.from({ length: 70 }, () => 'x'.repeat(65_536)),
      { ends: false },
    );
  const { connection } = world([endless, () => answer(['data: {\n\n']), () => answer([snapshot('2')])]);
  const updates: boolean[] = [];
  for await (const { isConnected } of follow(streamStockSnapshots, connection, query)) {
    updates.push(isConnected);
    if (isConnected) break;
  }
  assert.deepEqual(updates, [false, false, true]);
});

test('an event that waited to be read makes no record younger, and each connection learns the gateway’s clock anew', async (t) => {
  let aheadMs = 7000;
  let now = 1_795_000_000_000;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now);
  t.onTestFinished(() => clock.mockRestore());
  const event = (name: string, more: object) =>
    `event: ${name}\ndata: ${JSON.stringify({ now: now + aheadMs, ...more })}\n\n`;
  const begin = () =>
    event('snapshot', { quotes: [{ symbol: 'A', at: now + aheadMs - 1000, record: { symbol: 'A' } }] });
  const { connection } = world([() => answer([begin(), event('beat', {})]), () => answer([begin()])]);
  const updates = follow(streamStockSnapshots, connection, query);
  const age = async () => (await updates.next()).value?.ageMs('A');
  assert.equal(await age(), 1000);
  now += 60_000;
  assert.equal(await age(), 61_000);
  // The client loses its connection, and its user sets the clock.
  await updates.next();
  now += 3_600_000;
  aheadMs -= 3_600_000;
  assert.equal(await age(), 1000);
  await updates.return();
});

test('a pause of days is a pause', async () => {
  const refusal = () => new Response('{}', { status: 503, headers: { 'retry-after': '2592000' } });
  const { connection, seen } = world([refusal]);
  const end = new AbortController();
  const following = (async () => {
    for await (const _ of follow(streamStockSnapshots, connection, query, end));
  })();
  await new Promise((resolve) => setTimeout(resolve, 100));
  end.abort();
  await following;
  assert.equal(seen.connections, 1);
});

test('a caller that takes longer than the silence for an event keeps its connection', async () => {
  let connections = 0;
  const seen = { wasLost: false };
  const connection = viaGateway({
    baseUrl: 'https://gateway.example',
    fetch: async (_, init) => {
      connections++;
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      void writer.write(new TextEncoder().encode(snapshot('1')));
      init?.signal?.addEventListener('abort', () => {
        seen.wasLost = true;
        writer.abort(new Error('aborted')).catch(() => {});
      });
      return new Response(readable, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  const updates = follow(streamStockSnapshots, connection, query, { silenceMs: 50 });
  await updates.next();
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(seen.wasLost, false);
  assert.equal((await updates.next()).value?.isConnected, false, 'and loses it when nothing comes then');
  await updates.return();
  assert.equal(connections, 1);
});
