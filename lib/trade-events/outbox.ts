/** The outbox: an event is added together with what it says of its order, and leaves when the bus has taken it, not before. */

import { backOffMs } from '../kernel/pauses.ts';
import { isFinal } from '../orders/order-state.ts';
import type { EventListening } from './listening.ts';
import type { OrderMemory } from './order-changes.ts';
import type { KnownOrder, OrderChange, TradeEvent } from './ports.ts';

interface Remembered {
  readonly memory: OrderMemory;
  readonly revision: string;
}

/** Change of what is known of an order. The store refuses it when it knows something else than `known` by then. */
interface OrderUpdate {
  /** The keyed name. */
  readonly name: string;
  readonly known: Remembered | undefined;
  readonly next: OrderMemory;
}

export const orderName = (
  { names }: EventListening,
  { account, clientOrderId }: Pick<OrderMemory, 'account' | 'clientOrderId'>,
): Promise<string> => names.nameOf('order', account, clientOrderId);

export const rememberedOf = ({ state, revision }: KnownOrder): Remembered => ({
  memory: JSON.parse(state) as OrderMemory,
  revision,
});

export async function remembered(
  { store, lease }: EventListening,
  name: string,
): Promise<Remembered | undefined> {
  const found = (await store.known(lease.name, [name])).get(name);
  return found && rememberedOf(found);
}

const dayMs = 86_400_000;
/** An open order is noted anew every week; an ended one is kept as long as the upstream may speak of it again. */
const keptMs = { open: 90 * dayMs, ended: 30 * dayMs };
/** An event that comes again within this time is known to be a repetition. */
const eventKeptMs = 30 * dayMs;

const changeOf = ({ name, known, next }: OrderUpdate, now: number): OrderChange => ({
  order: name,
  expected: known?.revision,
  state: JSON.stringify(next),
  isOpen: !isFinal(next),
  expiresAt: now + (isFinal(next) ? keptMs.ended : keptMs.open),
});

/** Adds an event, and with it what it says of its order. */
export function addEvent(
  { store, lease, clock }: EventListening,
  event: TradeEvent,
  update?: OrderUpdate,
): Promise<'added' | 'known' | 'overtaken'> {
  const now = clock();
  const order = update && { order: changeOf(update, now) };
  return store.add({ lease: lease.name, event, ...order, now, expiresAt: now + eventKeptMs });
}

/** Notes a change without an event. Another write may have been faster: the next look at the order shows. */
export async function noteOrder(
  { store, lease, clock }: EventListening,
  update: OrderUpdate,
  more: { readonly isOpen?: false } = {},
): Promise<void> {
  await store.note(lease.name, { ...changeOf(update, clock()), ...more });
}

/** As many as a bus takes in one call. */
const batchSize = 10;
/** Events that are read beside those that the bus refuses, which hold up no others, however many they are. */
const lookedAt = 100;
/** A look without an event added here: a predecessor, or one that was frozen, may still write what it had received. */
const lookEveryMs = { atFirst: 5_000, later: 60_000 };
const refusedPause = { firstMs: 500, maxMs: 30_000 };

/** Publishes until the shift is over. */
export async function keepPublishing(listening: EventListening): Promise<void> {
  const { clock, outboxBell, shift } = listening;
  const startedAt = clock();
  for (let failures = 0; !shift.over.aborted; ) {
    failures = (await publish(listening)) ? 0 : failures + 1;
    const isNew = clock() - startedAt < lookEveryMs.atFirst;
    const lookMs = isNew ? lookEveryMs.atFirst : lookEveryMs.later;
    const waitMs = failures > 0 ? backOffMs(refusedPause, failures - 1) : lookMs;
    await outboxBell.wait(listening, waitMs, shift.over);
  }
}

/** Publishes all that is there. False when the bus refused something, or a call failed. Never rejects. */
export async function publish(listening: EventListening): Promise<boolean> {
  const { store, lease, report } = listening;
  const refused = new Set<string>();
  try {
    while (lease.isHeld()) {
      const found = await store.unpublished(lease.name, lookedAt + refused.size);
      const batch = found.filter(({ id }) => !refused.has(id)).slice(0, batchSize);
      if (batch.length === 0) break;
      for (const id of await publishBatch(listening, batch)) refused.add(id);
    }
  } catch (cause) {
    report({ kind: 'failed', step: 'publish', cause });
    return false;
  }
  return refused.size === 0;
}

/** @returns the ids of the events that the bus refused */
async function publishBatch(
  { store, lease, bus, clock, report }: EventListening,
  batch: readonly TradeEvent[],
): Promise<readonly string[]> {
  const results = await bus.publish(batch);
  const taken = batch.filter((_, index) => results[index] === true);
  const ids = taken.map(({ id }) => id);
  if (ids.length > 0) await store.published(lease.name, ids);
  const refused = batch.filter(({ id }) => !ids.includes(id)).map(({ id }) => id);
  const times = taken.map(timesOf);
  const delaysMs = times.map(({ since }) => Math.max(0, clock() - since));
  const reconciled = times.filter((one) => one.reconciled).length;
  if (ids.length > 0) report({ kind: 'published', events: ids.length, reconciled, delaysMs });
  if (refused.length > 0) {
    const cause = new Error(`the bus refused ${refused.length} of ${batch.length} events`);
    report({ kind: 'failed', step: 'publish', cause });
  }
  return refused;
}

/** The delay counts from the upstream's time, or, where the event has none, from when the listener received it. */
function timesOf({ detail }: TradeEvent): { readonly since: number; readonly reconciled: boolean } {
  const { occurred_at, received_at, reconciled } = JSON.parse(detail) as Readonly<Record<string, unknown>>;
  return { since: Date.parse(`${occurred_at ?? received_at}`), reconciled: reconciled === true };
}
