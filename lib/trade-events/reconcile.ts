/**
 * Compares what is known of the orders with what the upstream's reads show, and takes into the outbox what the stream
 * did not tell. Lists show which orders to look at; where a list may be behind, the look-up by id decides.
 */

import { textMembers } from '../kernel/json-members.ts';
import { momentsIn, type ReadOrder } from '../orders/order-reads.ts';
import { isFinal, isMore, quantityOf } from '../orders/order-state.ts';
import { orderEvent } from './event-detail.ts';
import type { EventListening } from './listening.ts';
import { type OrderMemory, type Reading, readStep } from './order-changes.ts';
import { addEvent, noteOrder, orderName, remembered, rememberedOf } from './outbox.ts';

export interface ComparisonCall {
  /** Upstream times by account: earlier changes were compared already. */
  readonly since: ReadonlyMap<string, number>;
  /** The stream was up when all that may be found now happened: its messages go first. After a gap there are none to wait for. */
  readonly isSettled: boolean;
}

export interface Comparison {
  readonly orders: number;
  readonly reconciled: number;
  /** Accounts that are not compared as a whole, each with its last failure. */
  readonly failed: ReadonlyMap<string, unknown>;
}

type OrderId = Pick<OrderMemory, 'account' | 'clientOrderId'>;

/** An order as a read shows it, and how much that counts. */
interface SeenOrder extends Pick<Reading, 'isLookUp' | 'from' | 'until'> {
  readonly order: ReadOrder;
}

/** How long the stream may take to deliver what a read shows already. */
const graceMs = 10_000;
/** With more orders to look up, a longer history is fewer requests. */
const manyMissing = 5;
/** The longest history that is read. */
const maxHistoryMs = 86_400_000;
/** An order that no read shows for so long is not waited for. */
const forgottenMs = 86_400_000;
/**
 * A replacement may be made just before it is read, and its message still be on its way: that one is the event. The
 * read's event comes only if nothing has come for so long.
 */
const onItsWayMs = 2_000;
/** One read means two events and a note at most, and others may write between them. */
const maxSteps = 20;

/** Rejects when the store cannot be listed, or something failed in each account. */
export async function compareOrders(listening: EventListening, call: ComparisonCall): Promise<Comparison> {
  const { store, lease, upstreamClock } = listening;
  const failed = new Map<string, unknown>();
  // An account that the upstream refuses must not keep the others from their comparison.
  const attempt = <T>(account: string, task: () => Promise<T>, otherwise: T): Promise<T> =>
    task().catch((cause: unknown) => {
      failed.set(account, cause);
      return otherwise;
    });
  const found = await store.openOrders(lease.name);
  const open = new Map(found.map((known) => [known.order, rememberedOf(known).memory]));
  const from = upstreamClock.now();
  const read = new Map<string, ReadOrder>();
  for (const [account, since] of call.since)
    await attempt(account, () => readLists(listening, account, since, open, read), undefined);
  const until = upstreamClock.now();
  const seen = [...read].map(([name, order]) => ({ name, order, isLookUp: false, from, until }));
  const { sure, unsure } = await differing(listening, seen, call);
  // The upstream refuses look-ups in an account that the app key does not reach any more, and a list that it refuses shows
  // no end. An order of such an account is left as it is until the account is back, or until the store forgets the order.
  const unseen = [...open]
    .filter(([name, { account }]) => !read.has(name) && call.since.has(account) && !failed.has(account))
    .map(([, memory]) => memory);
  const orders = read.size + unseen.length;
  if (call.isSettled && sure.length + unsure.length + unseen.length > 0) await grace(listening);
  let reconciled = 0;
  const apply = (one: SeenOrder) =>
    attempt(one.order.state.account, () => applyRead(listening, one, call), 0);
  for (const one of sure) reconciled += await apply(one);
  for (const memory of unseen)
    reconciled += await attempt(memory.account, () => lookUpOrder(listening, memory, call), 0);
  // One event stands for all replacements that a read finds at once: those that are on their way come first.
  if (!call.isSettled && unsure.length > 0) await grace(listening);
  // All look-ups first, so that what is on its way is waited for once.
  const looked: SeenOrder[] = [];
  for (const { order } of unsure)
    looked.push(...(await attempt(order.state.account, () => look(listening, order.state), [])));
  for (const one of looked) reconciled += await apply(one);
  if (failed.size > 0 && failed.size === call.since.size) throw [...failed.values()][0];
  return { orders, reconciled, failed };
}

/** Looks one order up by its id. Returns how many events that gave. */
export async function lookUpOrder(
  listening: EventListening,
  order: OrderId,
  call: ComparisonCall,
): Promise<number> {
  let added = 0;
  for (const seen of await look(listening, order)) added += await applyRead(listening, seen, call);
  return added;
}

/** Waits until the stream had time to deliver what the reads show. */
const grace = ({ pause, shift }: EventListening): Promise<void> => pause(graceMs, shift.over);

/** Finds nothing for an order that is over, or that the upstream does not find. */
async function look(listening: EventListening, asked: OrderId): Promise<readonly SeenOrder[]> {
  const { orders, upstreamClock } = listening;
  const name = await orderName(listening, asked);
  const known = await remembered(listening, name);
  // An order that failed left its id to another.
  if (known && isFinal(known.memory) && known.memory.status !== 'FAILED') return [];
  checkLease(listening);
  const from = upstreamClock.now();
  const order = await orders.order(asked.account, asked.clientOrderId);
  const until = upstreamClock.now();
  if (order !== 'not_found') return [{ order, isLookUp: true, from, until }];
  if (known && until - known.memory.notedAt > forgottenMs)
    await noteOrder(listening, { name, known, next: known.memory }, { isOpen: false });
  return [];
}

/** Without the lease nothing is read, and what was read may be old: a listener can have been frozen since. */
function checkLease({ lease }: EventListening): void {
  if (!lease.isHeld()) throw new Error('the lease is lost');
}

/** Collects by name; of an order that both lists show, the later state. */
async function readLists(
  listening: EventListening,
  account: string,
  since: number,
  open: ReadonlyMap<string, OrderMemory>,
  read: Map<string, ReadOrder>,
): Promise<void> {
  const { orders } = listening;
  const collect = async (list: readonly ReadOrder[]) => {
    for (const order of list) {
      const name = await orderName(listening, { ...order.state, account });
      const before = read.get(name);
      if (!before || isLater(order, before)) read.set(name, order);
    }
  };
  checkLease(listening);
  await collect(await orders.openOrders(account));
  const missing = [...open].filter(([name, memory]) => memory.account === account && !read.has(name));
  const firstAt = missing.length > manyMissing ? missing.map(([, memory]) => memory.firstAt) : [];
  const oldest = Math.max(Math.min(...firstAt, since), since - maxHistoryMs);
  await collect(await orders.ordersSince(account, oldest));
}

/** The orders of which something is to be done, in one look at the store. */
async function differing(
  { store, lease }: EventListening,
  seen: readonly (SeenOrder & { readonly name: string })[],
  call: ComparisonCall,
): Promise<{ readonly sure: readonly SeenOrder[]; readonly unsure: readonly SeenOrder[] }> {
  const names = seen.map(({ name }) => name);
  const known = await store.known(lease.name, names);
  const steps = seen.map((one) => {
    const before = known.get(one.name);
    const { kind } = readStep(before && rememberedOf(before).memory, one.order.state, readingOf(one, call));
    return { one, kind };
  });
  const those = (...kinds: readonly string[]) =>
    steps.filter(({ kind }) => kinds.includes(kind)).map(({ one }) => one);
  return { sure: those('event', 'note'), unsure: those('look') };
}

/** Does what a read asks for, step by step, each upon what is known then. Returns how many events that gave. */
async function applyRead(listening: EventListening, seen: SeenOrder, call: ComparisonCall): Promise<number> {
  const { names, clock, pause, shift, upstreamClock, outboxBell } = listening;
  const { order } = seen;
  const name = await orderName(listening, order.state);
  let added = 0;
  for (let steps = 0; steps < maxSteps; steps++) {
    checkLease(listening);
    const known = await remembered(listening, name);
    const step = readStep(known?.memory, order.state, readingOf(seen, call));
    if (step.kind === 'nothing') return added;
    if (step.kind === 'look') return added + (await lookUpOrder(listening, order.state, call));
    const onItsWay = seen.until + onItsWayMs - upstreamClock.now();
    if (step.kind === 'event' && step.scene === 'MODIFY_SUCCESS' && onItsWay > 0) {
      await pause(onItsWay, shift.over);
      continue;
    }
    if (step.kind === 'event') {
      const { id, scene, next } = step;
      const times = { receivedAt: clock(), occurredAt: undefined };
      const event = await orderEvent(names, id, { ...order, scene, reconciled: true, ...times });
      const result = await addEvent(listening, event, next && { name, known, next });
      if (result === 'added') {
        outboxBell.ring();
        added++;
      }
      if (result !== 'known') continue;
    }
    // An event that was there before says nothing of the order any more: what it said is noted.
    if (step.next) await noteOrder(listening, { name, known, next: step.next });
  }
  return added;
}

const isLater = ({ state: a }: ReadOrder, { state: b }: ReadOrder): boolean =>
  !isFinal(b) && (isFinal(a) || isMore(a.filled, b.filled));

function readingOf({ order, isLookUp, from, until }: SeenOrder, { since }: ComparisonCall): Reading {
  const total = quantityOf(textMembers(order.payload, ['total_quantity'])?.get('total_quantity'));
  return {
    isLookUp,
    // An account that has left the list since: told twice is better than lost.
    since: since.get(order.state.account) ?? 0,
    from,
    until,
    ...momentsIn(order.payload),
    isWhole: total !== '0' && !isMore(total, order.state.filled),
  };
}
