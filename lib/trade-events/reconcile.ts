/**
 * Compares what is known of the orders with what the upstream's reads show, and takes into the outbox what the stream
 * did not tell. Lists say which orders to look at; where a list may be behind, the look-up by id decides.
 */

import { textMembers } from '../kernel/json-members.ts';
import { momentsIn, type ReadOrder } from '../orders/order-reads.ts';
import { isFinal, isMore, quantityOf } from '../orders/order-state.ts';
import { orderEvent } from './event-detail.ts';
import { type OrderEvent, type OrderMemory, type Reading, readStep } from './order-changes.ts';
import { addEvent, changeTo, orderName, type Remembered, remembered, rememberedOf } from './outbox.ts';
import type { ShiftParts } from './ports.ts';

export interface ComparisonCall {
  /** By account: what changed before was compared already; in the upstream's time. */
  readonly since: ReadonlyMap<string, number>;
  /** Aborts when the comparison is given up: then it waits for nothing any more. */
  readonly signal: AbortSignal;
  /** The stream was up when all that may be found now happened: it goes first. After a gap it has nothing to say. */
  readonly isSettled: boolean;
}

export interface Comparison {
  readonly orders: number;
  readonly reconciled: number;
  /** Accounts that are not compared as a whole, each with what failed last. */
  readonly failed: ReadonlyMap<string, unknown>;
}

/** What a read says, and how much that counts. */
interface Sight {
  readonly order: ReadOrder;
  readonly isLookUp: boolean;
  /** When the upstream was asked, and when the answer had come. */
  readonly from: number;
  readonly until: number;
}

/** How long the stream may take to deliver what a read shows already. */
const graceMs = 10_000;
/** With more orders to look up, a longer history is fewer requests. */
const manyMissing = 5;
/** How far back. */
const maxHistoryMs = 86_400_000;
/** An order that no read shows for so long is not waited for. */
const forgottenMs = 86_400_000;
/**
 * A replacement may be made just before it is read, and its message still be on its way: that one is the event. The
 * read's event comes only if nothing has come for so long.
 */
const onItsWayMs = 2_000;
/** Of one read: two events and a note are the most, and others may write between them. */
const maxSteps = 20;

export class Reconciler {
  readonly #parts: ShiftParts;

  constructor(parts: ShiftParts) {
    this.#parts = parts;
  }

  /** Rejects when the store cannot be listed, or something failed in each account. */
  async compare(call: ComparisonCall): Promise<Comparison> {
    const failed = new Map<string, unknown>();
    // An account that the upstream refuses must not keep the others from their comparison.
    const attempt = <T>(account: string, task: () => Promise<T>, otherwise: T): Promise<T> =>
      task().catch((cause: unknown) => {
        failed.set(account, cause);
        return otherwise;
      });
    const found = await this.#parts.store.openOrders(this.#parts.lease.name);
    const open = new Map(found.map((known) => [known.order, rememberedOf(known).memory]));
    const from = this.#parts.upstreamNow();
    const read = new Map<string, ReadOrder>();
    for (const [account, since] of call.since)
      await attempt(account, () => this.#readLists(account, since, open, read), undefined);
    const until = this.#parts.upstreamNow();
    const sights = [...read].map(([name, order]) => ({ name, order, isLookUp: false, from, until }));
    const { sure, unsure } = await this.#differing(sights, call);
    // The upstream refuses look-ups in an account that the app key does not reach any more, and a list that it refuses shows
    // no end. An order of such an account is left as it is until the account is back, or until the store forgets the order.
    const unseen = [...open]
      .filter(([name, { account }]) => !read.has(name) && call.since.has(account) && !failed.has(account))
      .map(([, memory]) => memory);
    const orders = read.size + unseen.length;
    if (call.isSettled && sure.length + unsure.length + unseen.length > 0) await this.#grace(call);
    let reconciled = 0;
    const apply = (sight: Sight) => attempt(sight.order.state.account, () => this.#apply(sight, call), 0);
    for (const sight of sure) reconciled += await apply(sight);
    for (const memory of unseen)
      reconciled += await attempt(memory.account, () => this.lookUp(memory, call), 0);
    // One event stands for all replacements that a read finds at once: those that are on their way come first.
    if (!call.isSettled && unsure.length > 0) await this.#grace(call);
    // All look-ups first, so that what is on its way is waited for once.
    const looked: Sight[] = [];
    for (const { order } of unsure)
      looked.push(...(await attempt(order.state.account, () => this.#look(order.state), [])));
    for (const sight of looked) reconciled += await apply(sight);
    if (failed.size > 0 && failed.size === call.since.size) throw [...failed.values()][0];
    return { orders, reconciled, failed };
  }

  /** Looks one order up by its id. Returns how many events that gave. */
  async lookUp(order: Pick<OrderMemory, 'account' | 'clientOrderId'>, call: ComparisonCall): Promise<number> {
    let added = 0;
    for (const sight of await this.#look(order)) added += await this.#apply(sight, call);
    return added;
  }

  /** Waits until the stream had time to deliver what the reads show. */
  #grace({ signal }: ComparisonCall): Promise<void> {
    return this.#parts.pause(graceMs, signal);
  }

  /** Nothing for an order that is over, or that the upstream does not find. */
  async #look(asked: Pick<OrderMemory, 'account' | 'clientOrderId'>): Promise<readonly Sight[]> {
    const name = await orderName(this.#parts, asked);
    const known = await remembered(this.#parts, name);
    // One that failed left its id to another.
    if (known && isFinal(known.memory) && known.memory.status !== 'FAILED') return [];
    this.#checkLease();
    const from = this.#parts.upstreamNow();
    const order = await this.#parts.orders.order(asked.account, asked.clientOrderId);
    const until = this.#parts.upstreamNow();
    if (order !== 'not_found') return [{ order, isLookUp: true, from, until }];
    if (known && until - known.memory.notedAt > forgottenMs)
      await this.#note(known.memory, name, known, { isOpen: false });
    return [];
  }

  /** Without the lease nothing is read, and what was read may be old: a listener can have been frozen since. */
  #checkLease(): void {
    if (!this.#parts.lease.isHeld()) throw new Error('the lease is lost');
  }

  /** Collects by name: of an order that both lists show, the later state. */
  async #readLists(
    account: string,
    since: number,
    open: ReadonlyMap<string, OrderMemory>,
    read: Map<string, ReadOrder>,
  ): Promise<void> {
    const { orders } = this.#parts;
    const collect = async (list: readonly ReadOrder[]) => {
      for (const order of list) {
        const name = await orderName(this.#parts, { ...order.state, account });
        const before = read.get(name);
        if (!before || isLater(order, before)) read.set(name, order);
      }
    };
    this.#checkLease();
    await collect(await orders.openOrders(account));
    const missing = [...open].filter(([name, memory]) => memory.account === account && !read.has(name));
    const firstAt = missing.length > manyMissing ? missing.map(([, memory]) => memory.firstAt) : [];
    const oldest = Math.max(Math.min(...firstAt, since), since - maxHistoryMs);
    await collect(await orders.ordersSince(account, oldest));
  }

  /** Those of which something is to be done, in one look at the store. */
  async #differing(
    sights: readonly (Sight & { readonly name: string })[],
    call: ComparisonCall,
  ): Promise<{ readonly sure: readonly Sight[]; readonly unsure: readonly Sight[] }> {
    const names = sights.map(({ name }) => name);
    const known = await this.#parts.store.known(this.#parts.lease.name, names);
    const stepOf = ({ name, ...sight }: Sight & { readonly name: string }) => {
      const before = known.get(name);
      return readStep(before && rememberedOf(before).memory, sight.order.state, readingOf(sight, call)).kind;
    };
    const differing = sights.map((sight) => ({ sight, step: stepOf(sight) }));
    return {
      sure: differing.filter(({ step }) => step === 'event' || step === 'note').map(({ sight }) => sight),
      unsure: differing.filter(({ step }) => step === 'look').map(({ sight }) => sight),
    };
  }

  /** Does what a read asks for, step by step, each upon what is known then. Returns how many events that gave. */
  async #apply(sight: Sight, call: ComparisonCall): Promise<number> {
    const name = await orderName(this.#parts, sight.order.state);
    let added = 0;
    for (let steps = 0; steps < maxSteps; steps++) {
      this.#checkLease();
      const known = await remembered(this.#parts, name);
      const step = readStep(known?.memory, sight.order.state, readingOf(sight, call));
      if (step.kind === 'nothing') return added;
      if (step.kind === 'look') return added + (await this.lookUp(sight.order.state, call));
      const onItsWay = sight.until + onItsWayMs - this.#parts.upstreamNow();
      if (step.kind === 'event' && step.scene === 'MODIFY_SUCCESS' && onItsWay > 0) {
        await this.#parts.pause(onItsWay, call.signal);
        continue;
      }
      const result = step.kind === 'event' ? await this.#add(step, sight, name, known) : 'known';
      if (result === 'added') added++;
      // An event that was there before says nothing of the order any more: what it said is noted.
      if (result === 'known' && step.next) await this.#note(step.next, name, known);
    }
    return added;
  }

  async #add(
    { id, scene, next }: OrderEvent,
    { order }: Sight,
    name: string,
    known: Remembered | undefined,
  ): Promise<'added' | 'known' | 'overtaken'> {
    const { names, clock, onAdded } = this.#parts;
    const event = await orderEvent(names, id, {
      ...order,
      scene,
      reconciled: true,
      receivedAt: clock(),
      occurredAt: undefined,
    });
    const written = next && ((now: number) => changeTo(next, name, known?.revision, now));
    const result = await addEvent(this.#parts, event, written);
    if (result === 'added') onAdded();
    return result;
  }

  /** Whether or not something else was quicker: the next look at the order tells. */
  async #note(next: OrderMemory, name: string, known: Remembered | undefined, more = {}): Promise<void> {
    const { store, lease, clock } = this.#parts;
    await store.note(lease.name, { ...changeTo(next, name, known?.revision, clock()), ...more });
  }
}

const isLater = ({ state: a }: ReadOrder, { state: b }: ReadOrder): boolean =>
  !isFinal(b) && (isFinal(a) || isMore(a.filled, b.filled));

function readingOf({ order, isLookUp, from, until }: Sight, { since }: ComparisonCall): Reading {
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
