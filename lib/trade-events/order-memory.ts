/** What is known of an order, as the store keeps it: JSON under a keyed name. */

import { isFinal } from '../orders/order-state.ts';
import type { Parts } from './listener-options.ts';
import type { OrderMemory } from './order-changes.ts';
import type { KnownOrder, OrderChange } from './ports.ts';

export interface Remembered {
  readonly memory: OrderMemory;
  readonly revision: string;
}

export const orderName = (parts: Parts, account: string, clientOrderId: string): Promise<string> =>
  parts.names.nameOf('order', account, clientOrderId);

export const rememberedOf = ({ state, revision }: KnownOrder): Remembered => ({
  memory: JSON.parse(state) as OrderMemory,
  revision,
});

export async function remembered(
  parts: Parts,
  lease: string,
  order: string,
): Promise<Remembered | undefined> {
  const found = (await parts.store.known(lease, [order])).get(order);
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
export const eventKeptMs = 30 * dayMs;
