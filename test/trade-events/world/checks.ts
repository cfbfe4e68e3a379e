/** What must be true of the bus after every run: judged from the upstream's book alone. */

import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { OrderChanged } from '../../../lib/trade-events/index.ts';
import { type BookChange, isOpenOrder, present } from './upstream.ts';
import { canaries, type World } from './world.ts';

const requestScenes = new Set(['MODIFY_SUCCESS', 'MODIFY_FAILED', 'CANCEL_FAILED']);

/** A change of status or filled quantity, as both the stream and a read show it. */
const stateOf = (clientOrderId: string, status: string, filled: number) => {
  const phase = ['SUBMITTED', 'PARTIAL_FILLED'].includes(status) ? 'OPEN' : status;
  return `${clientOrderId} ${phase} ${filled}`;
};
const stateOfChange = ({ clientOrderId, status, filled }: BookChange) =>
  stateOf(clientOrderId, status, filled);
const stateOfEvent = ({ client_order_id: id, status, filled_quantity: filled }: OrderChanged) =>
  stateOf(id, status, Number(filled));

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

export interface Tally {
  readonly changes: number;
  readonly distinct: number;
  readonly reconciled: number;
  readonly repeated: number;
  /** Changes that no stream delivered and no read could show any more. */
  readonly invisible: number;
}

/**
 * Call it when all has come to rest. Throws at the first thing that is wrong.
 *
 * @param late a frozen listener may have delivered several replacements after a read had found them at once
 */
export function checkBus(world: World, { late = false } = {}): Tally {
  assert.deepEqual(world.defects, []);
  const { changes, orders } = world.upstream;
  const events = world
    .distinct()
    .flatMap((event) => (event.detailType === 'OrderChanged' ? [event.detail] : []));
  const ofState = events.filter(({ scene = '' }) => !requestScenes.has(scene));
  const published = grouped(ofState, stateOfEvent);
  for (const [state, same] of published) assert.equal(same.length, 1, `${state} has ${same.length} ids`);

  const stateChanges = changes.filter(({ scene }) => !requestScenes.has(scene));
  const happened = new Set(stateChanges.map(stateOfChange));
  for (const state of published.keys()) assert.ok(happened.has(state), `${state} never happened`);
  let invisible = 0;
  for (const change of stateChanges) {
    if (published.has(stateOfChange(change))) continue;
    assert.ok(!change.delivered, `${stateOfChange(change)} was delivered, and is lost`);
    const later = changes.some(
      (other) => other.clientOrderId === change.clientOrderId && other.filled > change.filled,
    );
    const isLast = !later && change.status !== 'CANCELLED' && !isOverByOtherEnd(world, change);
    assert.ok(!isLast, `${stateOfChange(change)} is lost, and a read shows it`);
    invisible++;
  }
  for (const order of orders.values()) {
    const { status, filled } = present(order);
    const state = stateOf(order.clientOrderId, status, filled);
    if (!isOpenOrder(order)) assert.ok(published.has(state), `the end of ${state} is lost`);
  }
  invisible += checkRequests(changes, events, late);
  checkReports(world);
  return {
    changes: changes.length,
    distinct: events.length,
    reconciled: events.filter(({ reconciled }) => reconciled).length,
    repeated: world.bus.length - world.distinct().length,
    invisible,
  };
}

/** A partly filled order that was cancelled shows the end alone. */
const isOverByOtherEnd = ({ upstream }: World, { clientOrderId, status }: BookChange): boolean =>
  [...upstream.orders.values()].some(
    (order) =>
      order.clientOrderId === clientOrderId && present(order).status !== status && !isOpenOrder(order),
  );

/** Those that a request is answered by: each delivered one is there once, and none that never was. */
function checkRequests(
  changes: readonly BookChange[],
  events: readonly OrderChanged[],
  late: boolean,
): number {
  let invisible = 0;
  const key = (id: string, scene = '') => `${id} ${scene}`;
  const happened = grouped(
    changes.filter(({ scene }) => requestScenes.has(scene)),
    ({ clientOrderId, scene }) => key(clientOrderId, scene),
  );
  const found = grouped(
    events.filter(({ scene = '' }) => requestScenes.has(scene)),
    ({ client_order_id: id, scene }) => key(id, scene),
  );
  for (const one of found.keys()) assert.ok(happened.has(one), `${one} never happened`);
  for (const [one, ofOrder] of happened) {
    const there = found.get(one) ?? [];
    assert.ok(there.length <= ofOrder.length, `${one}: ${there.length} events of ${ofOrder.length} changes`);
    const streamed = there.filter(({ reconciled }) => !reconciled).length;
    const reconciled = there.length - streamed;
    const delivered = ofOrder.filter((change) => change.delivered).length;
    const isMerged = late && reconciled > 0;
    assert.ok(
      isMerged || streamed + reconciled >= delivered,
      `${one}: ${delivered} delivered, ${there.length} events`,
    );
    invisible += ofOrder.length - there.length;
  }
  return invisible;
}

/** Nothing in clear. */
export function checkReports({ reports }: World): void {
  const text = inspect(reports, { depth: 20, maxArrayLength: null, maxStringLength: null });
  for (const canary of [...Object.values(canaries), 'CID-']) assert.ok(!text.includes(canary), canary);
}
