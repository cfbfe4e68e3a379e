/** The listener in a local run, before the simulator's broker and over real connections: what users see of it. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import type { LogEntry } from '../../functions/log/log.ts';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { getStockSnapshots } from '../../lib/catalogue/index.ts';
import { subscribeMarketData } from '../../lib/catalogue/market-stream.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { createClient, viaGateway } from '../../lib/client/index.ts';
import { useCalmTime } from '../support/calm-time.ts';
import { freePorts } from '../support/free-ports.ts';
import { until } from '../support/until.ts';

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
