/** The contract of every store of what operators have set of trading. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type {
  ControlAdminStore,
  ControlEntry,
  ControlWrite,
} from '../../lib/guard-rails/control-admin-store.ts';

let count = 0;
const bytes = (...all: number[]) => new Uint8Array(all);
const idOf = (index: number) => `2036-01-01T00:00:00.${String(index).padStart(3, '0')}Z#nonce`;

const limits: ControlEntry['limits'] = {
  max_order_notional: '10000.10',
  max_orders_per_minute: null,
  max_duplicative_orders: { orders: 3, seconds: 60 },
  restricted_symbols: ['A', 'B'],
  actions: { price_collar: 'notify' },
};

/** @param create gives an empty store */
export function controlStoreContract(
  name: string,
  create: () => ControlAdminStore | Promise<ControlAdminStore>,
): void {
  const check = (what: string, run: (store: ControlAdminStore, key: string) => Promise<void>) =>
    test(`${name}: ${what}`, async () => run(await create(), `account ${++count}`));

  const write = (key: string, expected: number, more: Partial<ControlEntry> = {}): ControlWrite => ({
    expected,
    next: { key, version: expected + 1, limits: {}, sealed: bytes(0, 255, 1), ...more },
    history: { id: idOf(++count), sealed: bytes(2) },
  });

  check('what was never set is not there', async (store, key) => {
    assert.equal(await store.find(key), undefined);
    assert.equal((await store.read(['stack', key])).size, 0);
    assert.deepEqual(await store.list(), []);
    assert.deepEqual(await store.history(10), []);
  });

  check('limits, nulls, stop and sealed bytes are read as they were written', async (store, key) => {
    const stopped = { at: Date.UTC(2036, 0, 1) + 1 };
    assert.equal(await store.write(write(key, 0, { limits, stopped })), true);
    const entry = { key, version: 1, limits, stopped, sealed: bytes(0, 255, 1) };
    assert.deepEqual(plain(await store.find(key)), entry);
    assert.deepEqual((await store.list()).map(plain), [entry]);
    const read = await store.read([key, 'stack', key]);
    assert.deepEqual([...read], [[key, { version: 1, limits, stopped }]]);
  });

  check('a resumed scope has no stop', async (store, key) => {
    await store.write(write(key, 0, { stopped: { at: 1 } }));
    await store.write(write(key, 1));
    assert.deepEqual([...(await store.read([key])).values()], [{ version: 2, limits: {} }]);
    assert.equal((await store.find(key))?.stopped, undefined);
  });

  check(
    'a stop keeps the limits that are set, whichever it brings; a first one has none',
    async (store, key) => {
      const stopped = { at: 1 };
      const stop = (whose: string, expected: number) =>
        store.write({
          ...write(whose, expected, { stopped, limits: { max_order_quantity: '9' } }),
          keepsLimits: true,
        });
      await store.write(write(key, 0, { limits }));
      assert.equal(await stop(key, 1), true);
      assert.deepEqual((await store.read([key])).get(key), { version: 2, limits, stopped });
      assert.equal(await stop(key, 1), false);
      const other = `${key} stopped first`;
      await stop(other, 0);
      await stop(other, 1);
      assert.deepEqual((await store.read([other])).get(other), { version: 2, limits: {}, stopped });
      await store.write(write(other, 2, { limits }));
      assert.deepEqual((await store.read([other])).get(other), { version: 3, limits });
    },
  );

  check('a write on another version changes nothing, and leaves no record', async (store, key) => {
    assert.equal(await store.write(write(key, 1)), false);
    assert.equal(await store.find(key), undefined);
    assert.equal(await store.write(write(key, 0)), true);
    for (const expected of [0, 2]) assert.equal(await store.write(write(key, expected, { limits })), false);
    assert.deepEqual((await store.find(key))?.limits, {});
    assert.equal((await store.history(10)).length, 1);
    assert.equal(await store.write(write(key, 1, { limits })), true);
    assert.deepEqual((await store.find(key))?.limits, limits);
    assert.equal((await store.history(10)).length, 2);
  });

  check('of concurrent writes on one version one is made', async (store, key) => {
    await store.write(write(key, 0));
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        store.write(write(key, 1, { limits: { max_orders_per_minute: index } })),
      ),
    );
    assert.equal(made.filter(Boolean).length, 1);
    assert.deepEqual((await store.find(key))?.limits, { max_orders_per_minute: made.indexOf(true) });
    assert.equal((await store.history(100)).length, 2);
  });

  check('scopes are apart; lists all of them, and the newest records first', async (store, key) => {
    const written: string[] = [];
    for (let index = 0; index < 120; index++) {
      const one = write(`${key} ${index}`, 0, { limits: { max_orders_per_minute: index } });
      written.push(one.history.id);
      await store.write(one);
    }
    const keys = written.map((_, index) => `${key} ${index}`);
    assert.deepEqual((await store.list()).map((entry) => entry.key).sort(), [...keys].sort());
    const read = await store.read(keys);
    keys.forEach((one, index) => {
      assert.deepEqual(read.get(one)?.limits, { max_orders_per_minute: index });
    });
    const newest = written.sort().reverse();
    const ids = async (limit: number) => (await store.history(limit)).map(({ id }) => id);
    assert.deepEqual(await ids(3), newest.slice(0, 3));
    assert.deepEqual(await ids(1000), newest);
    assert.deepEqual([...((await store.history(1))[0]?.sealed ?? [])], [2]);
  });
}

/** A store may return bytes as a subclass. */
const plain = (entry: ControlEntry | undefined) => entry && { ...entry, sealed: bytes(...entry.sealed) };
