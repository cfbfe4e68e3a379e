/** What is known of an order, as the store keeps it: JSON under a keyed name. */

import { isFinal } from '../orders/order-state.ts';
import type { ShiftParts } from './listener-options.ts';
import type { OrderMemory } from './order-changes.ts';
import type { KnownOrder, OrderChange, TradeEvent } from './ports.ts';

export interface Remembered {
  readonly memory: OrderMemory;
  readonly revision: string;
}

export const orderName = (
  { names }: ShiftParts,
  { account, clientOrderId }: Pick<OrderMemory, 'account' | 'clientOrderId'>,
): Promise<string> => names.nameOf('order', account, clientOrderId);

export const rememberedOf = ({ state, revision }: KnownOrder): Remembered => ({
  memory: JSON.parse(state) as OrderMemory,
  revision,
});

export async function remembered(
  { store, lease }: ShiftParts,
  order: string,
): Promise<Remembered | undefined> {
  const found = (await store.known(lease.name, [order])).get(order);
  return found && rememberedOf(found);
}

const dayMs = 86_400_000;
/** An open order is noted anew every week; an ended one is kept as long as the upstream may speak of it again. */
const keptMs = { open: 90 * dayMs, ended: 30 * dayMs };

export const changeTo = (
  next: OrderMemory,
  order: string,
  expected: string | undefined,
  now: number,
): OrderChange => ({
  order,
  expected,
  state: JSON.stringify(next),
  isOpen: !isFinal(next),
  expiresAt: now + (isFinal(next) ? keptMs.ended : keptMs.open),
});

/** For so long an event that comes again is known to be a repetition. */
const eventKeptMs = 30 * dayMs;

/** Writes an event to the outbox, together with what it says of its order. */
export function addEvent(
  { store, lease, clock }: ShiftParts,
  event: TradeEvent,
  change?: (now: number) => OrderChange,
): Promise<'added' | 'known' | 'overtaken'> {
  const now = clock();
  const order = change && { order: change(now) };
  return store.add({ lease: lease.name, event, ...order, now, expiresAt: now + eventKeptMs });
}
