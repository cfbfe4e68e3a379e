/** How a stream begins: what it asks for before its first event costs no other caller a refresh, also where the upstream is slow. */

import assert from 'node:assert/strict';
import { type TestContext, test, vi } from 'vitest';
import {
  createMemorySnapshotStore,
  type RefreshRecord,
  type SnapshotStore,
} from '../../../lib/cache/snapshots/index.ts';
import { getStockSnapshots } from '../../../lib/catalogue/index.ts';
import { streamStockSnapshots } from '../../../lib/catalogue/live-quotes.ts';
import { cacheStep } from '../../../lib/gateway/cache.ts';
import { createMemoryCacheStores } from '../../../lib/gateway/cache-options.ts';
import { createCore } from '../../../lib/gateway/core.ts';
import type { GatewayRequest } from '../../../lib/gateway/http.ts';
import { liveStep } from '../../../lib/live/live-step.ts';
import type { StreamShares } from '../../../lib/live/stream-shares.ts';

/** @param answerMs how long the upstream takes; what it is not left as long for is not waited for */
function world(
  t: TestContext,
  {
    answerMs = 0,
    shares,
    appKeys = ['k'],
  }: { answerMs?: number; shares?: StreamShares; appKeys?: readonly [string, string?] } = {},
) {
  const written: RefreshRecord[] = [];
  const memory = createMemorySnapshotStore();
  const store: SnapshotStore = {
    ...memory,
    write: (record) => {
      written.push(record);
      return memory.write(record);
    },
  };
  const stores = { ...createMemoryCacheStores(), snapshots: () => store };
  const sent: string[] = [];
  const newest = appKeys.at(-1);
  let reads = 0;
  const gateway = createCore({
    operations: [getStockSnapshots, streamStockSnapshots],
    upstreamBaseUrl: 'https://upstream.invalid',
    secrets: { read: async () => JSON.stringify({ app_key: appKeys[reads++] ?? newest, app_secret: 's' }) },
    cache: liveStep({ ...stores, reads: cacheStep(stores), ...(shares && { shares }) }),
    async send({ url, headers }, { timeoutMs }) {
      if (!url.includes('snapshot')) return { kind: 'unreachable' };
      if (headers['x-app-key'] !== newest) {
        const body = new TextEncoder().encode('{"error_code":"UNAUTHORIZED"}');
        return { kind: 'answer', status: 401, header: () => undefined, body };
      }
      sent.push(url);
      if (timeoutMs < answerMs) return { kind: 'timeout' };
      await new Promise((resolve) => setTimeout(resolve, Math.min(answerMs, 800)));
      const symbols = new URL(url).searchParams.get('symbols')?.split(',') ?? [];
      const isKnown = !symbols.includes('NOPE');
      const said = isKnown
        ? symbols.map((symbol) => ({ symbol, price: '1' }))
        : { error_code: 'INVALID_SYMBOL' };
      const body = new TextEncoder().encode(JSON.stringify(said));
      return { kind: 'answer', status: isKnown ? 200 : 417, header: () => undefined, body };
    },
  });
  const ask = (path: string, symbol: string, more: Partial<GatewayRequest> = {}) =>
    gateway.handle({
      method: 'GET',
      path,
      query: [
        ['symbols', symbol],
        ['category', 'US_STOCK'],
      ],
      headers: {},
      requestId: 'r',
      caller: { unit: 'one' },
      ...more,
    });
  const failures = () => written.filter(({ outcome }) => outcome.kind === 'failed' && outcome.upstream);
  return {
    sent,
    failures,
    read: (symbol: string, more?: Partial<GatewayRequest>) => ask(getStockSnapshots.path, symbol, more),
    async open(symbol: string) {
      const { status, stream } = await ask(streamStockSnapshots.path, symbol);
      const texts = stream?.[Symbol.asyncIterator]();
      t.onTestFinished(async () => void (await texts?.return?.()));
      return { status, texts };
    },
  };
}

test('an upstream that takes longer than a stream waits for does not count as failing, and its answer comes', async (t) => {
  const { open, failures } = world(t, { answerMs: 2000 });
  for (const symbol of ['A', 'B', 'C']) {
    const { texts } = await open(symbol);
    let said = '';
    while (!said.includes('"price":"1"')) said += (await texts!.next()).value;
  }
  assert.deepEqual(failures(), []);
});

test('a time-out of a request with little time left tells no instance that the upstream fails', async (t) => {
  const { read, failures, sent } = world(t, { answerMs: 2000 });
  for (let times = 0; sent.length < 6 && times < 60; times++)
    await read(`A${times}`, { deadline: Date.now() + 900 });
  assert.ok(sent.length >= 6);
  assert.deepEqual(failures(), []);
  assert.equal((await read('A')).status, 200);
});

test('a stream that begins while the app key is replaced takes the room of one', async (t) => {
  const held = new Set<symbol>();
  const shares: StreamShares = {
    async take() {
      const own = Symbol();
      held.add(own);
      return async () => void held.delete(own);
    },
  };
  const { open } = world(t, { shares, appKeys: ['k', 'next-k'] });
  assert.equal((await open('A')).status, 200);
  await vi.waitFor(() => assert.equal(held.size, 1), { timeout: 20_000 });
});

test('a stream that its caller may not have asks for nothing, and one that is refused leaves its room', async (t) => {
  let [isFull, held] = [true, 0];
  const shares: StreamShares = {
    take: async () => {
      if (isFull) return undefined;
      held++;
      return async () => void held--;
    },
  };
  const { open, sent } = world(t, { shares });
  assert.equal((await open('A')).status, 429);
  assert.equal(sent.length, 0);
  isFull = false;
  assert.equal((await open('NOPE')).status, 422);
  assert.equal(held, 0);
  assert.equal((await open('A')).status, 200);
  assert.equal(held, 1);
});
