/** The listener in a local run, before the simulator's broker and over real connections: what users see of it. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'vitest';
import { createMqttTransport } from '../../../functions/aws/mqtt-transport.ts';
import type { LogEntry } from '../../../functions/log/log.ts';
import { startLocalRun } from '../../../infra/local/local-run.ts';
import { readSettings } from '../../../infra/local/settings.ts';
import { getStockSnapshots } from '../../../lib/catalogue/index.ts';
import { subscribeMarketData } from '../../../lib/catalogue/market-stream.ts';
import type { Operation } from '../../../lib/catalogue/operation.ts';
import { createClient, viaGateway } from '../../../lib/client/index.ts';
import type { Incoming } from '../../../lib/market-stream/ports.ts';
import { MarketStreamError } from '../../../lib/market-stream/ports.ts';
import { freePorts } from '../../support/free-ports.ts';
import { until } from '../../support/until.ts';
import { useCalmTime } from '../../world/test-time.ts';

useCalmTime();

const apiKey = 'a-key-of-this-test';
const query = { symbols: ['AAPL', 'MSFT', 'NVDA'], category: 'US_STOCK' } as const;
const credentials = { APP_KEY: 'key-of-this-test', APP_SECRET: 'secret-of-this-test' };

async function runFor(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const lines: LogEntry[] = [];
  const run = await startLocalRun(
    readSettings({
      ...credentials,
      API_KEY: apiKey,
      ...freePorts,
      TRADE_EVENTS: 'off',
      PLAN: 'app',
      ...env,
    }),
    { log: (line) => lines.push(line) },
  );
  t.onTestFinished(() => run.close());
  const { simulator } = run;
  assert.ok(simulator);
  const client = createClient({ getStockSnapshots }, viaGateway({ baseUrl: run.url, apiKey }));
  const requestsOf = ({ path, aliases }: Operation) =>
    simulator.received.filter(({ target }) => [path, ...aliases].includes(target.split('?')[0] ?? '')).length;
  /** Whether all symbols are subscribed by one session. */
  const areCarried = () =>
    Object.values(simulator.marketStream?.sessions ?? {}).some((symbols) =>
      query.symbols.every((symbol) => symbols.includes(symbol)),
    );
  const volumes = async () => (await client.getStockSnapshots(query)).map(({ volume }) => Number(volume));
  return { run, simulator, client, lines, requestsOf, areCarried, volumes };
}

type Run = Awaited<ReturnType<typeof runFor>>;

/** Asks until each symbol has traded again, and returns how many fetches that took. */
async function untilTraded({ volumes, requestsOf }: Run): Promise<number> {
  const [first, fetched] = [await volumes(), requestsOf(getStockSnapshots)];
  for (let now = first; ; now = await volumes()) {
    now.forEach((volume, at) => {
      assert.ok(volume >= first[at]!, `${query.symbols[at]} went back from ${first[at]} to ${volume}`);
    });
    if (now.every((volume, at) => volume > first[at]!)) return requestsOf(getStockSnapshots) - fetched;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('what clients ask for is subscribed, and then changes without a request for it', async (t) => {
  const run = await runFor(t);
  await run.volumes();
  await until(run.areCarried);
  // A record is fetched whole each half minute besides.
  let fewest = Number.POSITIVE_INFINITY;
  while (fewest > 0) fewest = Math.min(fewest, await untilTraded(run));
  assert.equal(run.requestsOf(subscribeMarketData), 1);
  assert.ok(run.simulator.received.every(({ outcome }) => outcome === 'ok'));
});

test('each line of the log says what goes wrong, and none has key, secret or session', async (t) => {
  const run = await runFor(t);
  await run.volumes();
  await until(run.areCarried);
  const [session = ''] = Object.keys(run.simulator.marketStream?.sessions ?? {});
  run.simulator.bring(({ path }) =>
    path.includes('subscribe') ? { kind: 'status', status: 500 } : undefined,
  );
  await run.client.getStockSnapshots({ ...query, symbols: ['TSLA'] });
  const refusal = () => run.lines.find(({ event }) => event === 'market_stream_refused');
  await until(() => refusal() !== undefined);
  assert.equal(refusal()?.code, 'upstream_error');
  run.simulator.marketStream?.bring({ kind: 'refuse', code: 104 });
  run.simulator.marketStream?.bring({ kind: 'send', what: 'price-not-decimal' });
  run.simulator.marketStream?.bring({ kind: 'grabbed', category: 'us-stock' });
  run.simulator.marketStream?.bring({ kind: 'drop' });
  const events = ['market_stream_invalid', 'market_stream_notice', 'market_stream_failed'];
  await until(() => events.every((one) => run.lines.some(({ event }) => event === one)));
  const text = JSON.stringify(run.lines);
  for (const hidden of [...Object.values(credentials), session]) assert.ok(!text.includes(hidden), hidden);
});

test('with MARKET_STREAM=off, or without the cache, no connection is opened', async (t) => {
  for (const env of [{ MARKET_STREAM: 'off' }, { CACHE: 'off' }])
    assert.equal((await runFor(t, env)).simulator.marketStream, undefined);
});

/** A broker that lets every session in and then does as it is told. @returns what the transport gave, to its end */
async function heardFrom(t: TestContext, serve: (socket: Socket) => Promise<void>) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.from([0x20, 2, 0, 0]));
      void serve(socket);
    });
  }).listen(0, '127.0.0.1');
  t.onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  const incoming: Incoming[] = [];
  const transport = createMqttTransport({ url: `mqtt://127.0.0.1:${port}` });
  const call = { sessionId: 's', appKey: 'k', pingMs: 60_000, signal: new AbortController().signal };
  await assert.rejects(async () => {
    for await (const one of transport.open(call)) incoming.push(one);
  }, MarketStreamError);
  return incoming;
}

/** A message of MQTT 3.1.1 with a topic of one letter. */
function publish(payload: Buffer): Buffer {
  const length: number[] = [];
  let left = payload.length + 3;
  do {
    length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    left >>= 7;
  } while (left > 0);
  return Buffer.concat([Buffer.from([0x30, ...length, 0, 1, 0x74]), payload]);
}

test('a packet that is too long ends the connection with its header', async (t) => {
  let sent = 0;
  const chunk = Buffer.alloc(65_536);
  await heardFrom(t, async (socket) => {
    socket.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]));
    while (!socket.destroyed && sent < 512 * chunk.length) {
      await new Promise((resolve) => socket.write(chunk, resolve));
      sent += chunk.length;
    }
    socket.destroy();
  });
  // What the sockets of both sides buffer.
  assert.ok(sent < 256 * chunk.length, `${sent} bytes were taken`);
});

test('packets of any length that is not too long are read, wherever the network cuts them', async (t) => {
  const payloads = [0, 1, 124, 125, 16_380, 16_381, 1024 * 1024 - 3].map((length) =>
    Buffer.alloc(length, 'a'),
  );
  const bytes = Buffer.concat(payloads.map(publish));
  const incoming = await heardFrom(t, async (socket) => {
    for (let at = 0; at < bytes.length; at += at < 300 ? 1 : 70_001)
      await new Promise((resolve) => socket.write(bytes.subarray(at, at + (at < 300 ? 1 : 70_001)), resolve));
    socket.end();
  });
  assert.deepEqual(
    incoming.flatMap((one) => (one.kind === 'message' ? [one.payload.length] : [])),
    payloads.map(({ length }) => length),
  );
});
