/** The ports of the local run, for scenarios. */

import type { Host } from '../../functions/compose/ports.ts';
import { createMemoryPlatform } from '../../infra/local/memory-ports.ts';
import { whoOrderedWhat } from '../../lib/orders/who-ordered-what.ts';
import { type Platform, type Published, platformNames, secrets } from './scene.ts';

export async function memoryPlatform(host: Host): Promise<Platform> {
  const platform = createMemoryPlatform({ ...host, names: platformNames, secrets });
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
    // No message waits in these scenarios.
    ports: {
      ...platform.ports,
      queue: () => ({ putAgain: async () => new Set(), deadLetter: async () => {} }),
    },
    access: platform.access(platformNames.access),
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
    close: async () => {},
  };
}
