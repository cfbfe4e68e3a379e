/** The ports of the local run, for scenarios. */

import assert from 'node:assert/strict';
import type { Host } from '../../functions/compose/ports.ts';
import { createMemoryPlatform, type MemoryPlatformOptions } from '../../infra/local/memory-ports.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { controlOf } from '../../lib/guard-rails/control-admin-store.ts';
import type { Sealer } from '../../lib/kernel/sealer.ts';
import { whoOrderedWhat } from '../../lib/orders/who-ordered-what.ts';
import { identityKey, type Platform, type Published, platformNames, secrets } from './scene.ts';

/** Memory needs no sealer: what a composition gives is tried here, as an engine would find out. */
function createSealerCheck() {
  const { sealer: own } = createIdentity(async () => identityKey);
  const tries: Promise<void>[] = [];
  const check = async (given: Sealer | undefined) => {
    assert.ok(given, 'a store of account data has no sealer');
    const bytes = new TextEncoder().encode('sealed');
    assert.deepEqual(await given.open(await own.seal(bytes, 'about'), 'about'), bytes);
  };
  const checked =
    <Store>(create: (name: string, sealer: Sealer) => Store) =>
    (name: string, sealer: Sealer | undefined): Store => {
      const tried = check(sealer);
      // A scenario that ends before it is ready has failed already.
      tried.catch(() => {});
      tries.push(tried);
      return create(name, own);
    };
  return { checked, ready: async () => void (await Promise.all(tries)) };
}

const setBack = <K, V>(map: Map<K, V>, kept: readonly (readonly [K, V])[]) => {
  map.clear();
  for (const [key, value] of kept) map.set(key, value);
};

/** @param names `any` for compositions that take a wrong one: their scenario finds it, as on AWS, where a table is asked later */
export const memoryPlatform =
  (names: MemoryPlatformOptions['names'] = platformNames) =>
  async (host: Host): Promise<Platform> => {
    const platform = createMemoryPlatform({ ...host, names, secrets, marketDataLimit: undefined });
    const { ports } = platform;
    const { checked, ready } = createSealerCheck();
    const published = new Map<string, Published[]>();
    for (const name of [platformNames.lookupBus, platformNames.eventsBus, platformNames.ordersBus]) {
      const all: Published[] = [];
      published.set(name, all);
      platform.bus(name).subscribe(({ detailType, detail }) => {
        all.push({ type: detailType, detail: JSON.parse(detail) });
      });
    }
    let audited: Promise<unknown> = Promise.resolve();
    return {
      ports: {
        ...ports,
        journal: checked(ports.journal),
        auditStore: checked(ports.auditStore),
        lookupStore: checked(ports.lookupStore),
        eventStore: checked(ports.eventStore),
        eventHistory: checked(ports.eventHistory),
        // A message that waits is not brought again.
        queue: () => ({ putAgain: async () => new Set(), deadLetter: async () => {} }),
      },
      access: platform.access(platformNames.access),
      ready,
      follow(composed) {
        platform.onOrder(platformNames.journal, (change) => {
          audited = Promise.all([audited, composed?.audit.take([change])]);
        });
      },
      async audited() {
        await audited;
        const lines = platform.audit(platformNames.audit).read(0, Number.POSITIVE_INFINITY);
        return (await whoOrderedWhat(lines)).ordered;
      },
      published: async (name) => published.get(name) ?? [],
      async copyOf(table) {
        const name = { ...platformNames, users: platformNames.access }[table];
        const checkpoint = platform.checkpoints.get(name);
        const journal = platform.journal(platformNames.journal);
        const [entries, counters] = [[...journal.entries], [...journal.counters]];
        const controls = platform.controls(platformNames.controls);
        const set = await controls.list();
        return async () => {
          if (checkpoint === undefined) platform.checkpoints.delete(name);
          else platform.checkpoints.set(name, checkpoint);
          if (table === 'journal') {
            setBack(journal.entries, entries);
            setBack(journal.counters, counters);
          }
          if (table === 'controls')
            for (const { key } of await controls.list())
              controls.set(key, controlOf(set.find((one) => one.key === key) ?? { version: 0, limits: {} }));
        };
      },
      close: async () => {},
    };
  };
