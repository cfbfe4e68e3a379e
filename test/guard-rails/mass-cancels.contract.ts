/** The contract of every store of requests to cancel what is open, with the controls whose transactions write some of them. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { ControlAdminStore, ControlWrite } from '../../lib/guard-rails/control-admin-store.ts';
import type { MassCancel, MassCancelStore } from '../../lib/guard-rails/mass-cancels.ts';
import { each } from '../support/each.ts';

export interface MassCancelStores {
  readonly massCancels: MassCancelStore;
  /** Of the same table. */
  readonly controls: Pick<ControlAdminStore, 'write' | 'find' | 'list' | 'history' | 'read'>;
}

let count = 0;
const start = Date.UTC(2036, 0, 1);

const massCancel = (scope: string, at: number, placedBefore = at + 65_000): MassCancel => ({
  id: `id-${++count}`,
  scope,
  at,
  placedBefore,
});

const stop = (expected: number, cancel: MassCancel): ControlWrite => ({
  expected,
  next: {
    key: cancel.scope,
    version: expected + 1,
    limits: {},
    stopped: { at: start },
    sealed: new Uint8Array([1]),
  },
  history: { id: `2036-01-01T00:00:00.000Z#${++count}`, sealed: new Uint8Array([2]) },
  massCancel: cancel,
});

const sorted = (all: readonly MassCancel[]) => [...all].sort((a, b) => (a.scope < b.scope ? -1 : 1));

/** @param create gives empty stores */
export function massCancelStoreContract(
  name: string,
  create: () => MassCancelStores | Promise<MassCancelStores>,
): void {
  const check = (what: string, run: (stores: MassCancelStores) => Promise<void>) =>
    test(`${name}: ${what}`, async () => run(await create()));

  check('none is open at first, and what was never asked for is not finished', async ({ massCancels }) => {
    assert.deepEqual(await massCancels.open(), []);
    assert.equal(await massCancels.finish(massCancel('stack', start)), false);
  });

  check('one is open as it was asked for, until it is finished', async ({ massCancels }) => {
    const asked = massCancel('account a', start);
    await massCancels.request(asked);
    assert.deepEqual(await massCancels.open(), [asked]);
    assert.equal(await massCancels.finish(asked), true);
    assert.deepEqual(await massCancels.open(), []);
    assert.equal(await massCancels.finish(asked), false);
  });

  check('each scope has one of its own', async ({ massCancels }) => {
    const all = ['account a', 'account b', 'stack', 'user a'].map((scope) => massCancel(scope, start));
    for (const one of all) await massCancels.request(one);
    assert.deepEqual(sorted(await massCancels.open()), all);
    assert.equal(await massCancels.finish(all[1]!), true);
    assert.deepEqual(
      sorted(await massCancels.open()),
      all.filter((one) => one !== all[1]),
    );
  });

  check('a later one takes the place of another, which can finish it no more', async ({ massCancels }) => {
    const first = massCancel('user a', start);
    const same = massCancel('user a', start);
    const later = massCancel('user a', start + 1);
    await massCancels.request(first);
    await massCancels.request(same);
    assert.deepEqual(await massCancels.open(), [same]);
    await massCancels.request(later);
    for (const one of [first, same]) assert.equal(await massCancels.finish(one), false);
    assert.deepEqual(await massCancels.open(), [later]);
    assert.equal(await massCancels.finish(later), true);
  });

  check(
    'one that was on its way for long takes no later one’s place, and is no failure',
    async ({ massCancels }) => {
      const later = massCancel('stack', start + 60_000);
      await massCancels.request(later);
      await massCancels.request(massCancel('stack', start));
      assert.deepEqual(await massCancels.open(), [later]);
    },
  );

  check(
    'one that has less to cancel takes no other’s place, although it was asked for later',
    async ({ massCancels }) => {
      const ofStop = massCancel('user a', start);
      await massCancels.request(ofStop);
      await massCancels.request(massCancel('user a', start + 3000, start + 14_000));
      assert.deepEqual(await massCancels.open(), [ofStop]);
      const more = massCancel('user a', start - 1, ofStop.placedBefore + 1);
      await massCancels.request(more);
      assert.deepEqual(await massCancels.open(), [more]);
    },
  );

  check('of concurrent ones the latest is open', async ({ massCancels }) => {
    const all = Array.from({ length: 8 }, (_, index) => massCancel('stack', start + index));
    await Promise.all([...all].reverse().map((one) => massCancels.request(one)));
    assert.deepEqual(await massCancels.open(), [all.at(-1)]);
  });

  check('a stop and its request are written together, or neither is', async ({ massCancels, controls }) => {
    const late = massCancel('stack', start);
    assert.equal(await controls.write(stop(1, late)), false);
    assert.deepEqual([await massCancels.open(), await controls.history(10)], [[], []]);
    const asked = massCancel('stack', start);
    assert.equal(await controls.write(stop(0, asked)), true);
    assert.deepEqual(await massCancels.open(), [asked]);
    assert.equal((await controls.find('stack'))?.version, 1);
    assert.equal((await controls.history(10)).length, 1);
  });

  check(
    'a stop asks for it beside what is open already, also by a clock that is behind',
    async ({ massCancels, controls }) => {
      await massCancels.request(massCancel('stack', start + 30_000));
      const asked = massCancel('stack', start);
      assert.equal(await controls.write(stop(0, asked)), true);
      assert.deepEqual(await massCancels.open(), [asked]);
    },
  );

  check('requests are no controls, and finishing one changes no stop', async ({ massCancels, controls }) => {
    const asked = massCancel('account a', start);
    await massCancels.request(massCancel('user b', start));
    await controls.write(stop(0, asked));
    await massCancels.finish(asked);
    assert.deepEqual(each(await controls.list(), 'key'), ['account a']);
    assert.equal((await controls.read(['account a'])).get('account a')?.stopped?.at, start);
  });
}
