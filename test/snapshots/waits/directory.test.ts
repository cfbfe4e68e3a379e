/** The directory of symbols: what it holds goes straight along with others, what it lacks costs its requester. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { viewOfId } from '../../../lib/cache/snapshots/view.ts';
import { symbolListing } from '../../../lib/catalogue/symbol-listing.ts';
import { createCredentials } from '../../../lib/gateway/credentials.ts';
import { createListings } from '../../../lib/gateway/snapshots/upstream.ts';
import { secretText } from '../../support/core.ts';
import { answered, createBench, symbolsOf } from '../world/bench.ts';

const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const listed = { US_STOCK: names('S', 300), US_ETF: names('Y', 80) };
const market = { exists: (symbol: string) => /^[SYN]\d/.test(symbol), listed, pageSize: 100 } as const;
const renewMs = 24 * 3_600_000;

type Bench = ReturnType<typeof createBench>;

/** Asks for what is known already until the list is complete. */
async function readList(bench: Bench, instance = bench.instance()) {
  const before = await bench.directory.readDirectory();
  for (let rounds = 0; rounds < 60; rounds++) {
    await bench.ask(instance, { symbols: ['S1'] });
    const now = await bench.directory.readDirectory();
    if (now && now.completedAt !== before?.completedAt) return instance;
    await bench.wait(250);
  }
  throw new Error('the list is never complete');
}

test('instances that refresh read the list page by page, each page once', async () => {
  const bench = createBench(market);
  const instances = [bench.instance(), bench.instance(), bench.instance()];
  for (let rounds = 0; rounds < 40; rounds++) {
    await bench.all(instances.map((one) => () => one.ask(call(['S1', 'S2']))));
    await bench.wait(220);
  }
  const directory = await bench.directory.readDirectory();
  assert.deepEqual(directory?.symbols.get('US_STOCK'), listed.US_STOCK);
  assert.deepEqual(directory?.symbols.get('US_ETF'), listed.US_ETF);
  // Three pages and one.
  assert.equal(bench.listings?.asked, 4);
});

const call = (symbols: readonly string[], caller = 'key-1') => ({
  view: viewOfId('US_STOCK'),
  symbols,
  caller,
});

test('what is listed is asked for along with others at once, by an instance that just began, too', async () => {
  const bench = createBench(market);
  await readList(bench);
  const before = bench.calls.length;
  const symbols = names('S', 100);
  assert.deepEqual(symbolsOf(await bench.ask(bench.instance(), { symbols })), symbols);
  const calls = bench.calls.slice(before).filter(({ symbols: asked }) => asked.includes('S50'));
  assert.equal(calls.length, 1);
});

test('what is not listed is answered as unknown, after a few probes that take nothing from others', async () => {
  const bench = createBench({ ...market, unknown: 'refuses' });
  const instance = await readList(bench);
  const before = bench.calls.length;
  for (let round = 0; round < 40; round++) {
    const symbols = ['S1', `0A${round}`, `0B${round}`];
    const outcome = answered(await bench.ask(instance, { symbols, caller: 'invalid' }));
    assert.deepEqual(outcome.unknown, symbols.slice(1));
    await bench.wait(50);
  }
  const probes = bench.calls
    .slice(before)
    .filter(({ symbols }) => symbols.some((one) => one.startsWith('0')));
  assert.ok(probes.every(({ symbols }) => symbols.length === 1));
  assert.ok(probes.length >= 1 && probes.length <= 10, `${probes.length} probes`);
  // No other caller pays, and no listed symbol of the same one.
  for (const caller of ['invalid', 'other'])
    assert.deepEqual(symbolsOf(await bench.ask(instance, { symbols: [`S${200}`, 'S201'], caller })), [
      'S200',
      'S201',
    ]);
});

test('a symbol that is new at the upstream is found by a probe', async () => {
  const bench = createBench(market);
  const instance = await readList(bench);
  assert.deepEqual(symbolsOf(await bench.ask(instance, { symbols: ['S1', 'N1'] })), ['S1', 'N1']);
  // And is known to all from then on.
  const outcome = answered(await bench.ask(bench.instance(), { symbols: ['N1'] }));
  assert.deepEqual([outcome.snapshots.length, outcome.from], [1, 'memory']);
});

test('a symbol of the other category is unknown there', async () => {
  const bench = createBench({ ...market, exists: (symbol) => symbol.startsWith('S') });
  const instance = await readList(bench);
  const outcome = answered(await bench.ask(instance, { symbols: ['S1', 'Y1'] }));
  assert.deepEqual(outcome.unknown, ['Y1']);
});

test('a listed symbol that is gone fails alone in the end, and harms none that came along', async () => {
  for (const unknown of ['refuses', 'leaves-out', 'refuses-naming'] as const) {
    const gone = new Set(['S7', 'S8']);
    const bench = createBench({
      ...market,
      unknown,
      exists: (symbol) => market.exists(symbol) && !gone.has(symbol),
    });
    const instance = await readList(bench);
    const symbols = names('S', 60);
    let outcome = await bench.ask(instance, { symbols });
    for (let rounds = 0; rounds < 40 && outcome.kind !== 'snapshots'; rounds++) {
      await bench.wait(250);
      outcome = await bench.ask(instance, { symbols });
    }
    assert.deepEqual([...answered(outcome).unknown].sort(), ['S7', 'S8']);
    assert.equal(answered(outcome).snapshots.length, 58);
  }
});

test('while pages fail, symbols are probed, and pages are asked for ever less often', async () => {
  const bench = createBench(market);
  bench.listings?.setDown(true);
  const instance = bench.instance();
  for (let second = 0; second < 300; second++) {
    const outcome = await bench.ask(instance, { symbols: ['S1', `S${second % 300}`] });
    assert.equal(outcome.kind, 'snapshots');
    await bench.wait(1000);
  }
  const { asked = 0 } = bench.listings ?? {};
  assert.ok(asked >= 4 && asked <= 12, `${asked} pages`);
  bench.listings?.setDown(false);
  await bench.wait(600_000);
  await readList(bench, instance);
});

test('the list is read anew each day, and what was delisted or listed meanwhile follows', async () => {
  const stocks = [...listed.US_STOCK];
  const lists: { US_STOCK: string[]; US_ETF: string[] } = { US_STOCK: stocks, US_ETF: [...listed.US_ETF] };
  const bench = createBench({ ...market, listed: lists });
  const instance = await readList(bench);
  const asked = bench.listings?.asked;
  await bench.wait(renewMs / 2);
  for (let rounds = 0; rounds < 20; rounds++) {
    await bench.ask(instance, { symbols: ['S1'] });
    await bench.wait(250);
  }
  assert.equal(bench.listings?.asked, asked);
  lists.US_STOCK = [...stocks.slice(0, 299), 'N5'];
  await bench.wait(renewMs / 2);
  await readList(bench, instance);
  const directory = await bench.directory.readDirectory();
  assert.deepEqual(directory?.symbols.get('US_STOCK')?.slice(-2), ['S298', 'N5']);
});

test('a list that lost half of its symbols is not believed', async () => {
  const lists = {
    US_STOCK: listed.US_STOCK as readonly string[],
    US_ETF: listed.US_ETF as readonly string[],
  };
  const bench = createBench({ ...market, listed: lists });
  const instance = await readList(bench);
  const first = await bench.directory.readDirectory();
  lists.US_STOCK = names('S', 100);
  await bench.wait(renewMs);
  for (let rounds = 0; rounds < 60; rounds++) {
    await bench.ask(instance, { symbols: ['S1'] });
    await bench.wait(250);
  }
  assert.equal((await bench.directory.readDirectory())?.completedAt, first?.completedAt);
});

test('a list that lacks what the upstream serves does not say what does not exist', async () => {
  const lists = { US_STOCK: names('S', 10), US_ETF: names('Y', 10) };
  const bench = createBench({ ...market, listed: lists });
  const instance = await readList(bench);
  // Each caller has a few probes.
  for (let index = 0; index < 25; index++)
    await bench.ask(instance, { symbols: [`S${100 + index}`], caller: `key-${index}` });
  const symbols = names('S', 60);
  let outcome = await bench.ask(instance, { symbols });
  for (let rounds = 0; rounds < 10 && outcome.kind !== 'snapshots'; rounds++)
    outcome = await bench.ask(instance, { symbols });
  assert.deepEqual(symbolsOf(outcome), symbols);
});

test('the key of the next page may be a number, and keeps its digits', async () => {
  for (const key of ['7', '9007199254740993']) {
    const body = new TextEncoder().encode(`{"data":[],"pagination_key":${key}}`);
    const { ask } = createListings(symbolListing, {
      upstream: { fetch: async () => ({ kind: 'uncached', body }) },
      credentials: createCredentials({ source: { read: async () => secretText() }, clock: Date.now }),
      clock: Date.now,
    });
    assert.deepEqual(await ask(0, undefined, 3000), { symbols: new Map(), next: key });
  }
});
