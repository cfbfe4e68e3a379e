/** Demand by streams: a caller with many streams of many symbols counts no more than others do. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createMemorySnapshotStore, WatchedSnapshots } from '../../../lib/cache/snapshots/index.ts';
import { streamStockSnapshots } from '../../../lib/catalogue/live-quotes.ts';
import { createMemoryCacheStores } from '../../../lib/gateway/cache-options.ts';
import { createCore } from '../../../lib/gateway/core.ts';
import { liveStep } from '../../../lib/live/live-step.ts';

const popular = ['P1', 'P2', 'P3'];
const others = Array.from({ length: 400 }, (_, index) => `G${index}`);

test('symbols that three callers follow are in demand more than those that one follows with forty streams', async (t) => {
  const store = createMemorySnapshotStore();
  const gateway = createCore({
    operations: [streamStockSnapshots],
    upstreamBaseUrl: 'https://upstream.invalid',
    secrets: { read: async () => JSON.stringify({ app_key: 'k', app_secret: 's' }) },
    cache: liveStep({ ...createMemoryCacheStores(), snapshots: () => store }),
    async send({ url }) {
      const symbols = new URL(url).searchParams.get('symbols')?.split(',') ?? [];
      const body = JSON.stringify(symbols.map((symbol) => ({ symbol, price: '1' })));
      return { kind: 'answer', status: 200, header: () => undefined, body: new TextEncoder().encode(body) };
    },
  });
  const open: AsyncIterator<string>[] = [];
  t.onTestFinished(async () => void (await Promise.all(open.map((one) => one.return?.()))));
  let requests = 0;
  async function follow(unit: string, symbols: readonly string[]): Promise<void> {
    const { stream } = await gateway.handle({
      method: 'GET',
      path: streamStockSnapshots.path,
      query: [
        ['symbols', symbols.join()],
        ['category', 'US_STOCK'],
      ],
      headers: {},
      requestId: `r${++requests}`,
      caller: { unit },
    });
    assert.ok(stream);
    const texts = stream[Symbol.asyncIterator]();
    open.push(texts);
    await texts.next();
    // As one whose client has gone to sleep.
    void texts.next();
  }
  for (let index = 0; index < 40; index++) {
    const first = (100 * index) % others.length;
    await follow('greedy', others.slice(first, first + 100));
  }
  for (const caller of ['a', 'b', 'c']) await follow(caller, popular);

  // Once two counts of the streams have come, after the requests with which they began.
  const watched = new WatchedSnapshots(store);
  for (;;) {
    await watched.poll();
    const wanted = watched.wanted();
    const first = wanted.slice(0, popular.length).map(({ symbol }) => symbol);
    if (wanted.some(({ symbol, demand }) => popular.includes(symbol) && demand >= 7)) {
      assert.deepEqual(first.sort(), popular);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
