/** The audit of orders of the local run: lines in memory, shown with the key, as `npm run orders` shows a deployment's. */

import { toProxyResult } from '../../functions/aws/rest-proxy.ts';
import type { KeyedNames } from '../../lib/access/directory.ts';
import { createOrderAudit } from '../../lib/orders/audit.ts';
import { type CountingJournal, createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { withChanges } from '../../lib/orders/journal-changes.ts';
import { createMemoryOrderAudit } from '../../lib/orders/memory-audit.ts';
import { orderedLine, whoOrderedWhat } from '../../lib/orders/who-ordered-what.ts';
import type { LocalRoute } from './options.ts';

export interface LocalOrderAudit {
  /** Each of its changes is audited. */
  readonly journal: CountingJournal;
  /** JSON lines: who ordered what. */
  readonly route: LocalRoute;
}

/** With a leading underscore, as no operation has it. */
export const orderAuditPath = '/_orders/audit';

/** @example const { journal, route } = createLocalOrderAudit(identity.names); */
export function createLocalOrderAudit(names: KeyedNames): LocalOrderAudit {
  const store = createMemoryOrderAudit();
  // Nothing follows what is settled here.
  const bus = { publish: async (events: readonly unknown[]) => events.map(() => true) };
  const audit = createOrderAudit({ store, bus, names });
  let audited: Promise<unknown> = Promise.resolve();
  const journal = withChanges(
    createMemoryOrderJournal(),
    (change) => {
      audited = Promise.all([audited, audit.take([change])]);
    },
    Date.now,
  );
  const handler: LocalRoute['handler'] = async () => {
    await audited;
    const { ordered } = await whoOrderedWhat(store.read(0, Number.POSITIVE_INFINITY));
    return toProxyResult({
      status: 200,
      headers: { 'content-type': 'application/jsonl', 'cache-control': 'no-store' },
      body: Buffer.from(ordered.map((one) => `${orderedLine(one)}\n`).join('')),
    });
  };
  return { journal, route: { method: 'GET', path: orderAuditPath, handler } };
}
