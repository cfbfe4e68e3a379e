/** The listener as it is deployed, whose secret an operator replaces: with another app key, everything is that key's. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { marketStream, start } from '../../../functions/compose/functions.ts';
import { upstreamName } from '../../../functions/compose/gateway.ts';
import { createMemoryPlatform } from '../../../infra/local/memory-ports.ts';
import { createSnapshotCache, snapshotPartition, viewOf } from '../../../lib/cache/snapshots/index.ts';
import { getStockSnapshots } from '../../../lib/catalogue/market-data/snapshots.ts';
import { accountOf, toCredential } from '../../../lib/gateway/credential.ts';
import { sleep } from '../../../lib/kernel/pauses.ts';
import type { Incoming, MarketStreamTransport } from '../../../lib/market-stream/ports.ts';
import { part } from '../../support/parts.ts';
import { until } from '../../support/until.ts';
import { snapshotMessage } from '../world.ts';

const secretOf = (appKey: string, appSecret = 'a-secret') =>
  JSON.stringify({ app_key: appKey, app_secret: appSecret });
const upstream = 'https://upstream.invalid';

/** A minute's pause takes a moment. */
function createScene() {
  const secrets = { app: secretOf('key') };
  const seen = { told: [] as string[], reads: 0, released: 0 };
  const transport: MarketStreamTransport = {
    async *open({ appKey, signal }): AsyncGenerator<Incoming> {
      seen.told.push(`connection of ${appKey}`);
      yield { kind: 'connected' };
      while (!signal.aborted) {
        await sleep(100);
        const payload = snapshotMessage('AAPL', { at: Date.now(), price: '1' }, Date.now());
        yield { kind: 'message', topic: 'snapshot', payload };
      }
    },
  };
  const platform = createMemoryPlatform({
    functionName: 'market-stream',
    log: () => {},
    clock: Date.now,
    sleep: (ms, signal) => sleep(ms >= 30_000 ? 100 : ms, signal),
    names: 'any',
    secrets: {},
    marketDataLimit: undefined,
  });
  const leases = platform.ports.leases('cache');
  const handler = start(
    marketStream,
    {
      ...part('UPSTREAM', { baseUrl: upstream, secretId: 'app' }),
      ...part('LIMITER'),
      ...part('MARKET_STREAM', { url: 'mqtts://quotes.invalid:1883' }),
    },
    {
      ...platform.ports,
      marketStream: () => transport,
      secret: () => ({
        async read(version) {
          seen.reads++;
          return version === 'previous' ? undefined : secrets.app;
        },
      }),
      leases: () => ({
        ...leases,
        release(...released) {
          seen.released++;
          return leases.release(...released);
        },
      }),
      async send({ headers }) {
        seen.told.push(`subscription of ${headers['x-app-key']}`);
        return { kind: 'answer', status: 200, header: () => undefined, body: new TextEncoder().encode('{}') };
      },
    },
  );
  /** A client of the key asks for a symbol. */
  async function ask(appKey: string): Promise<void> {
    const read = toCredential(secretOf(appKey), { clock: Date.now });
    assert.ok(read.ok);
    const partition = snapshotPartition(await accountOf(read.credential), getStockSnapshots);
    const cache = createSnapshotCache({
      store: platform.ports.snapshots('cache', upstreamName(upstream))(partition),
      permits: { acquire: async () => ({ ok: true, permit: { expiresAt: Infinity, consume: () => true } }) },
      upstream: async () => ({ kind: 'answer', body: new TextEncoder().encode('[{"symbol":"AAPL"}]') }),
    });
    const { kind } = await cache.ask({
      view: viewOf([['category', 'US_STOCK']]),
      symbols: ['AAPL'],
      caller: 'a',
    });
    assert.equal(kind, 'snapshots');
  }
  const ending = new AbortController();
  const run = () => handler({}, { getRemainingTimeInMillis: () => 900_000, ending: ending.signal });
  return { secrets, seen, ask, run, end: () => ending.abort() };
}

test('another app key: sessions and subscriptions are the new one’s', async () => {
  const { secrets, seen, ask, run, end } = createScene();
  await ask('key');
  await ask('next-key');
  const done = run();
  await until(() => seen.told.includes('subscription of key'));
  secrets.app = secretOf('next-key');
  await until(() => seen.told.includes('subscription of next-key'));
  const since = seen.told.slice(seen.told.indexOf('connection of next-key'));
  assert.ok(
    since.every((one) => one.endsWith('of next-key')),
    since.join(),
  );
  end();
  assert.deepEqual(await done, { result: 'listened' });
});

test('an empty secret ends it', async () => {
  const { secrets, seen, ask, run } = createScene();
  await ask('key');
  const done = run();
  await until(() => seen.told.includes('subscription of key'));
  secrets.app = '';
  assert.deepEqual(await done, { result: 'refused' });
});

test('another secret of the same app key ends no session: the upstream counts each for a minute after its end', async () => {
  const { secrets, seen, ask, run, end } = createScene();
  await ask('key');
  const done = run();
  await until(() => seen.told.includes('subscription of key'));
  secrets.app = secretOf('key', 'another-secret');
  const before = seen.reads;
  await until(() => seen.reads > before + 2);
  assert.equal(seen.released, 0);
  end();
  assert.deepEqual(await done, { result: 'listened' });
  assert.equal(seen.released, 1);
});
