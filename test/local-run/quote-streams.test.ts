/** Quotes as they change, over HTTP: a typed client follows the local run, while connections are cut and clients leave. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { getStockSnapshots } from '../../lib/catalogue/index.ts';
import {
  createClient,
  follow,
  InvalidRequestError,
  RefusedError,
  streamStockSnapshots,
  viaGateway,
} from '../../lib/client/index.ts';
import { freePorts } from '../support/free-ports.ts';
import { useCalmTime } from '../world/test-time.ts';
import { follow as followEvents } from './event-follower.ts';

useCalmTime();

const apiKey = 'a-key-of-this-test';
const query = { symbols: ['AAPL', 'MSFT', 'NOPE9'], category: 'US_STOCK' } as const;
const path = `${streamStockSnapshots.path}?symbols=AAPL&category=US_STOCK`;

async function runFor(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const settings = readSettings({
    API_KEY: apiKey,
    ...freePorts,
    TRADE_EVENTS: 'off',
    ...env,
  });
  const run = await startLocalRun(settings);
  t.onTestFinished(() => run.close());
  const end = new AbortController();
  t.onTestFinished(() => end.abort());
  return { ...run, end, connection: viaGateway({ baseUrl: run.url, apiKey }) };
}

test('a client over connections that are cut has what a poll has', async (t) => {
  const { connection, url, end } = await runFor(t);
  let connections = 0;
  const cutting = viaGateway({
    baseUrl: url,
    apiKey,
    fetch: async (input, init) => {
      connections++;
      const cut = new AbortController();
      setTimeout(() => cut.abort(), 700);
      return fetch(input, { ...init, signal: AbortSignal.any([cut.signal, init?.signal ?? cut.signal]) });
    },
  });
  const client = createClient({ getStockSnapshots }, connection);
  let wasLost = false;
  let matches = 0;
  for await (const { quotes, isConnected, changed, ageMs } of follow(
    streamStockSnapshots,
    cutting,
    query,
    end,
  )) {
    wasLost ||= !isConnected;
    if (connections < 3 || changed.size === 0) continue;
    assert.equal(quotes.get('NOPE9')?.state, 'unknown');
    const polled = await client.getStockSnapshots(query);
    // The poll may have what the stream tells next.
    for (const record of polled)
      if (quotes.get(record.symbol)?.record?.volume === record.volume) {
        assert.deepEqual(quotes.get(record.symbol)?.record, record);
        assert.ok((ageMs(record.symbol) ?? Number.NaN) >= 0);
        matches++;
      }
    if (matches > 3) break;
  }
  assert.ok(wasLost);
});

test('a wrong query and a wrong key are refused before anything is followed', async (t) => {
  const { connection, url } = await runFor(t);
  const first = (given: unknown, through = connection) =>
    follow(streamStockSnapshots, through, given as typeof query).next();
  await assert.rejects(first({ symbols: ['AAPL'] }), InvalidRequestError);
  const other = viaGateway({ baseUrl: url, apiKey: 'of-nobody' });
  await assert.rejects(
    first(query, other),
    (error) => error instanceof RefusedError && error.code === 'unknown_api_key',
  );
  const response = await fetch(`${url}${streamStockSnapshots.path}?symbols=AAPL`, {
    headers: { 'x-api-key': apiKey },
  });
  assert.equal(response.status, 400);
  const { code, detail } = (await response.json()) as { code: string; detail: string };
  assert.deepEqual([code, detail.split(':')[0]], ['invalid_parameter', 'category']);
  // A client of the whole catalogue has no method for it: it is followed.
  assert.deepEqual(Object.keys(createClient({ streamStockSnapshots, getStockSnapshots }, connection)), [
    'getStockSnapshots',
  ]);
});

test('streams are events of text/event-stream that no cache keeps, and say whose scripts may read them', async (t) => {
  const origin = 'https://app.example';
  const { url } = await runFor(t, { CORS_ORIGINS: origin });
  const follower = await followEvents(url + path, { 'x-api-key': apiKey, origin });
  await follower.came(2);
  assert.equal(follower.status, 200);
  assert.equal(follower.headers.get('content-type'), 'text/event-stream');
  assert.equal(follower.headers.get('cache-control'), 'no-store');
  assert.equal(follower.headers.get('access-control-allow-origin'), origin);
  assert.ok(follower.headers.get('x-request-id'));
  await follower.leave();
});

test('where market data are closed there is no stream', async (t) => {
  const { url } = await runFor(t, { OPEN_GROUPS: 'instruments' });
  assert.equal((await fetch(url + path, { headers: { 'x-api-key': apiKey } })).status, 404);
});

test('many streams of one symbol cost the upstream what one costs', async (t) => {
  const { url, simulator } = await runFor(t);
  const asked = () =>
    simulator?.received.filter(({ target }) => target.startsWith(`${getStockSnapshots.path}?`)).length ?? 0;
  const streams = [];
  for (let count = 0; count < 15; count++)
    streams.push(await followEvents(url + path, { 'x-api-key': apiKey }));
  const [before, begun] = [asked(), performance.now()];
  await streams[0]?.came(streams[0].events.length + 3);
  const [calls, elapsedMs] = [asked() - before, performance.now() - begun];
  assert.ok(calls > 0, 'what is followed is refreshed');
  // 206 ms apart, whatever this machine is doing besides.
  assert.ok(calls <= elapsedMs / 200 + 2, `${calls} in ${elapsedMs} ms`);
  await Promise.all(streams.map((each) => each.leave()));
});
