/** What every directory store must do. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { DirectoryDraft, DirectoryStore } from '../../lib/cache/snapshots/index.ts';

const start = 1_795_239_000_000;
const draft = (revision: number, change: Partial<DirectoryDraft> = {}): DirectoryDraft => ({
  revision,
  startedAt: start,
  list: 1,
  cursor: 'c|1',
  pages: 3,
  symbols: new Map([['US_STOCK', ['A', 'BRK.B']]]),
  failures: 2,
  notBefore: start + 0.5,
  ...change,
});

/** In the order of the alphabet, as a store may give them. */
const plain = <T extends { readonly symbols: ReadonlyMap<string, readonly string[]> }>(one: T | undefined) =>
  one && { ...one, symbols: [...one.symbols].map(([category, all]) => [category, [...all].sort()]) };

export function directoryStoreContract(name: string, create: () => DirectoryStore): void {
  test(`${name}: at first there is neither a directory nor a draft`, async () => {
    const store = create();
    assert.equal(await store.readDirectory(), undefined);
    assert.equal(await store.readDraft(), undefined);
  });

  test(`${name}: a directory comes back whole, whichever copy is read, and a later one takes its place`, async () => {
    const store = create();
    const names = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${prefix}${index.toString(36).toUpperCase()}`);
    const one = {
      completedAt: start,
      symbols: new Map([
        ['US_STOCK', names('S', 8500)],
        ['US_ETF', names('E', 3500)],
      ]),
    };
    await store.writeDirectory(one);
    for (let count = 0; count < 8; count++) assert.deepEqual(plain(await store.readDirectory()), plain(one));
    const next = { completedAt: start + 1, symbols: new Map([['US_STOCK', ['A']]]) };
    await store.writeDirectory(next);
    for (let count = 0; count < 8; count++) assert.deepEqual(plain(await store.readDirectory()), plain(next));
  });

  test(`${name}: a draft is written only over the one that it was made of, by one of those who try`, async () => {
    const store = create();
    assert.equal(await store.writeDraft(draft(1)), true);
    assert.deepEqual(plain(await store.readDraft()), plain(draft(1)));
    const { cursor: _, ...atEnd } = draft(2, { list: 2 });
    const answers = await Promise.all(Array.from({ length: 4 }, () => store.writeDraft(atEnd)));
    assert.deepEqual(answers.sort(), [false, false, false, true]);
    assert.deepEqual(plain(await store.readDraft()), plain(atEnd));
    assert.equal(await store.writeDraft(draft(2)), false);
    assert.equal(await store.writeDraft(draft(4)), false);
    assert.equal(await store.writeDraft(draft(3)), true);
  });
}
