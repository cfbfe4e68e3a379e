/** The list of symbols, whatever goes wrong while it is read: how many pages that costs, and whose list stands. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  createMemoryDirectoryStore,
  type DirectoryStore,
  emptyDraft,
  type ListingPage,
  SymbolDirectory,
  type SymbolLists,
} from '../../lib/cache/snapshots/directory.ts';

const hourMs = 3_600_000;
const start = 1_795_239_000_000;
const stocks = (...symbols: string[]) => new Map([['US_STOCK', symbols]]);

interface WorldOptions {
  readonly store?: DirectoryStore;
  readonly page?: (cursor: string | undefined, count: number) => ListingPage | 'not_sent' | undefined;
}

/** Three pages, unless a test says otherwise. */
const threePages = (cursor = '0'): ListingPage => {
  const index = Number(cursor);
  return {
    symbols: stocks(`A${index}`, `B${index}`),
    ...(index < 2 && { next: String(index + 1) }),
  };
};

function createWorld({ store = createMemoryDirectoryStore(), page = threePages }: WorldOptions = {}) {
  let now = start;
  const asked: number[] = [];
  let held: (() => Promise<void>) | undefined;
  const instance = (): SymbolDirectory =>
    new SymbolDirectory({
      store,
      clock: () => now,
      listings: {
        count: 1,
        async ask(_, cursor) {
          asked.push(now);
          const answer = page(cursor, asked.length);
          const wait = held;
          held = undefined;
          await wait?.();
          return answer;
        },
      },
    });
  return {
    store,
    asked,
    instance,
    /** The next page that is asked for does not come before. */
    holdNext(wait: () => Promise<void>) {
      held = wait;
    },
    pass: (ms: number) => {
      now += ms;
    },
    /** All instances refresh, every 200 ms. */
    async run(instances: readonly SymbolDirectory[], ms: number) {
      for (const end = now + ms; now < end; now += 200)
        await Promise.all(instances.map((one) => one.advance(now + 3000)));
    },
    pagesIn: (ms: number) => asked.filter((at) => at > now - ms).length,
  };
}

test('ten instances read the list once a day, each page once', async () => {
  const world = createWorld();
  const instances = Array.from({ length: 10 }, world.instance);
  for (let day = 1; day <= 3; day++) {
    await world.run(instances, 360_000);
    assert.equal(world.asked.length, 3 * day);
    world.pass(24 * hourMs);
  }
});

for (const [name, page] of Object.entries({
  'goes in circles': (cursor?: string) => ({ symbols: stocks('A'), next: cursor === 'x' ? 'y' : 'x' }),
  'names ever other pages of nothing': (_: string | undefined, count: number) => ({
    symbols: stocks('A'),
    next: String(count),
  }),
  'is empty': () => ({ symbols: new Map() }),
  fails: () => undefined,
} satisfies Readonly<Record<string, NonNullable<WorldOptions['page']>>>))
  test(`a list that ${name} is asked for ever less often`, async () => {
    const world = createWorld({ page });
    const instances = [world.instance(), world.instance()];
    await world.run(instances, 1_800_000);
    assert.ok(world.asked.length <= 30, `${world.asked.length} pages in half an hour`);
    assert.ok(world.pagesIn(900_000) <= 4, `${world.pagesIn(900_000)} pages in the second quarter`);
    assert.equal(instances[0]?.lists('A', 'US_STOCK'), undefined);
  });

test('a page without a permit is no failure: it is asked for every five seconds, and the list is soon there', async () => {
  // For ten minutes, after the first page.
  const page = (cursor: string | undefined, count: number) =>
    count > 1 && count <= 120 ? ('not_sent' as const) : threePages(cursor);
  const world = createWorld({ page });
  const instances = [world.instance(), world.instance()];
  await world.run(instances, 590_000);
  assert.ok(world.asked.length > 100 && world.asked.length <= 120, `${world.asked.length} pages`);
  await world.run(instances, 30_000);
  assert.equal((await world.store.readDirectory())?.symbols.get('US_STOCK')?.length, 6);
});

test('pages come at most every two seconds, so that callers find room beside them', async () => {
  const world = createWorld();
  await world.run([world.instance(), world.instance()], 20_000);
  const gaps = world.asked.slice(1).map((at, index) => at - world.asked[index]!);
  assert.equal(gaps.length, 2);
  for (const gap of gaps) assert.ok(gap >= 2000 && gap <= 3000, `${gap}`);
});

test('a store that does not take the list costs ever fewer pages', async () => {
  const store: DirectoryStore = {
    ...createMemoryDirectoryStore(),
    writeDirectory: () => Promise.reject(new Error('too large')),
  };
  const world = createWorld({ store });
  await world.run([world.instance()], 1_800_000);
  assert.ok(world.asked.length <= 40, `${world.asked.length} pages in half an hour`);
});

test('an instance that was frozen over the last page does not write over a newer list', async () => {
  let names = ['A0', 'B0'];
  const world = createWorld({ page: () => ({ symbols: stocks(...names) }) });
  let thaw = () => {};
  world.holdNext(
    () =>
      new Promise((resolve) => {
        thaw = resolve;
      }),
  );
  const late = world.instance().advance(start + 3000);
  await new Promise((resolve) => setImmediate(resolve));
  names = ['A0', 'B0', 'NEW'];
  world.pass(10_000);
  await world.run([world.instance()], 10_000);
  world.pass(6 * hourMs);
  thaw();
  await late;
  assert.deepEqual((await world.store.readDirectory())?.symbols.get('US_STOCK'), names);
});

test('a list that is no list of symbols, or was dated by a wrong clock, is not used', async () => {
  for (const odd of [
    { completedAt: start, symbols: new Map([['US_STOCK', 5]]) },
    { completedAt: start },
    { completedAt: start + 24 * hourMs, symbols: stocks('A') },
  ]) {
    const store = {
      ...createMemoryDirectoryStore(),
      readDirectory: async () => odd as unknown as SymbolLists,
    };
    const directory = createWorld({ store }).instance();
    await directory.load();
    assert.equal(directory.lists('A', 'US_STOCK'), undefined);
  }
});

test('a draft that cannot be read is written over', async () => {
  const memory = createMemoryDirectoryStore();
  await memory.writeDraft({ ...emptyDraft, revision: 41 });
  const world = createWorld({ store: memory });
  await world.run([world.instance()], 20_000);
  assert.equal((await memory.readDirectory())?.symbols.get('US_STOCK')?.length, 6);
});
