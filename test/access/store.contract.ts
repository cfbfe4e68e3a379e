/** The contract of every store of the directory. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { AccessStore, AccessWrite } from '../../lib/access/store.ts';
import { each } from '../support/each.ts';

let count = 0;
const bytes = (...all: number[]) => new Uint8Array(all);
const at = (index: number) => `2036-01-01T00:00:00.${String(index).padStart(3, '0')}Z#nonce`;

/** @param create gives an empty store */
export function accessStoreContract(name: string, create: () => AccessStore | Promise<AccessStore>): void {
  const check = (what: string, run: (store: AccessStore, key: string) => Promise<void>) =>
    test(`${name}: ${what}`, async () => run(await create(), `principal#${++count}`));

  const put = (key: string, revision: string, expected?: string): AccessWrite => ({
    key,
    expected,
    next: { revision, sealed: bytes(0, 255, 1) },
    audit: { id: at(++count), sealed: bytes(2) },
  });

  check('what was never written is not there', async (store, key) => {
    assert.equal((await store.read([key, `${key}-other`])).size, 0);
    assert.deepEqual(await store.list(), []);
    assert.deepEqual(await store.audit(10), []);
  });

  check(
    'what was written is read, to the byte, with its expiry; the rest is left out',
    async (store, key) => {
      const expiresAt = Date.UTC(2036, 0, 1);
      const write = put(key, 'r1');
      assert.equal(
        await store.write({ ...write, next: { revision: 'r1', sealed: bytes(0, 255), expiresAt } }),
        true,
      );
      const entry = { key, revision: 'r1', sealed: bytes(0, 255), expiresAt };
      const read = await store.read([key, `${key}-other`, key]);
      assert.deepEqual(plain([...read.values()]), [entry]);
      assert.deepEqual([...read.keys()], [key]);
      assert.deepEqual(plain(await store.list()), [entry]);
    },
  );

  check('a write on another revision changes nothing, and leaves no line', async (store, key) => {
    assert.equal(await store.write(put(key, 'r1', 'r0')), false);
    assert.equal(await store.write(put(key, 'r1')), true);
    assert.equal(await store.write(put(key, 'r2')), false);
    assert.equal(await store.write(put(key, 'r2', 'r0')), false);
    assert.equal(await store.write({ ...put(key, '', 'r0'), next: undefined }), false);
    assert.equal((await store.read([key])).get(key)?.revision, 'r1');
    assert.equal((await store.audit(10)).length, 1);
    assert.equal(await store.write(put(key, 'r2', 'r1')), true);
    assert.equal((await store.read([key])).get(key)?.revision, 'r2');
    assert.equal((await store.read([key])).get(key)?.expiresAt, undefined);
    assert.equal((await store.audit(10)).length, 2);
  });

  check('a removed entry is gone, and can be written again', async (store, key) => {
    await store.write(put(key, 'r1'));
    assert.equal(await store.write({ ...put(key, '', 'r1'), next: undefined }), true);
    assert.equal((await store.read([key])).size, 0);
    assert.equal(await store.write(put(key, 'r2', 'r1')), false);
    assert.equal(await store.write(put(key, 'r2')), true);
    assert.equal((await store.audit(10)).length, 3);
  });

  check('of concurrent writes on one revision one is made', async (store, key) => {
    await store.write(put(key, 'r'));
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, index) => store.write(put(key, `r${index}`, 'r'))),
    );
    assert.equal(made.filter(Boolean).length, 1);
    assert.equal((await store.read([key])).get(key)?.revision, `r${made.indexOf(true)}`);
    assert.equal((await store.audit(100)).length, 2);
  });

  check('lists what it has, and the newest lines first', async (store, key) => {
    const written: string[] = [];
    for (let index = 0; index < 150; index++) {
      const write = put(`${key}-${index}`, 'r');
      written.push(write.audit.id);
      await store.write(write);
    }
    const keys = (await store.list()).map((entry) => entry.key);
    assert.deepEqual(keys.sort(), Array.from({ length: 150 }, (_, index) => `${key}-${index}`).sort());
    const read = await store.read(keys);
    assert.equal(read.size, 150);
    const newest = written.sort().reverse();
    assert.deepEqual(each(await store.audit(3), 'id'), newest.slice(0, 3));
    assert.deepEqual(each(await store.audit(1000), 'id'), newest);
    assert.deepEqual([...((await store.audit(1))[0]?.sealed ?? [])], [2]);
  });
}

/** A store may return bytes as a subclass. */
const plain = <T extends { readonly sealed: Uint8Array }>(entries: readonly T[]): readonly T[] =>
  entries.map((entry) => ({ ...entry, sealed: bytes(...entry.sealed) }));
