/**
 * The outbox: an event is added together with what it says of its order, and leaves when the bus has taken it, not before.
 */

import { backOffMs } from '../kernel/pauses.ts';
import { Bell } from '../listener/runtime.ts';
import { isFinal } from '../orders/order-state.ts';
import type { OrderMemory } from './order-changes.ts';
import type { KnownOrder, OrderChange, ShiftParts, TradeEvent } from './ports.ts';

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

/** As many as a bus takes in one call. */
const batchSize = 10;
/** Besides what the bus refuses: other events are not held up by it, however much that is. */
const lookedAt = 100;
/** Looks even if nothing was added here: a predecessor may still write what it had received, or one that was frozen. */
const lookEveryMs = { atFirst: 5_000, later: 60_000 };
const refusedPause = { firstMs: 500, maxMs: 30_000 };

export class Outbox {
  readonly #parts: ShiftParts;
  readonly #bell = new Bell();

  constructor(parts: ShiftParts) {
    this.#parts = parts;
  }

  /** Something was added. */
  ring(): void {
    this.#bell.ring();
  }

  /** Publishes until the signal aborts. */
  async keep(signal: AbortSignal): Promise<void> {
    const startedAt = this.#parts.clock();
    for (let failures = 0; !signal.aborted; ) {
      failures = (await this.publish()) ? 0 : failures + 1;
      const isNew = this.#parts.clock() - startedAt < lookEveryMs.atFirst;
      const lookMs = isNew ? lookEveryMs.atFirst : lookEveryMs.later;
      const waitMs = failures > 0 ? backOffMs(refusedPause, failures - 1) : lookMs;
      await this.#bell.wait(this.#parts, waitMs, signal);
    }
  }

  /** Publishes all that is there. False when the bus refused something, or a call failed. Never rejects. */
  async publish(): Promise<boolean> {
    const { store, lease, report } = this.#parts;
    const refused = new Set<string>();
    try {
      while (lease.isHeld()) {
        const found = await store.unpublished(lease.name, lookedAt + refused.size);
        const batch = found.filter(({ id }) => !refused.has(id)).slice(0, batchSize);
        if (batch.length === 0) break;
        for (const id of await this.#publishBatch(batch)) refused.add(id);
      }
    } catch (cause) {
      report({ kind: 'failed', step: 'publish', cause });
      return false;
    }
    return refused.size === 0;
  }

  /** @returns the ids of what the bus refused */
  async #publishBatch(batch: readonly TradeEvent[]): Promise<readonly string[]> {
    const { store, lease, bus, clock, report } = this.#parts;
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
}

/** The delay counts from the upstream's time, or, where it says none, from when the listener had it. */
function timesOf({ detail }: TradeEvent): { readonly since: number; readonly reconciled: boolean } {
  const { occurred_at, received_at, reconciled } = JSON.parse(detail) as Readonly<Record<string, unknown>>;
  return { since: Date.parse(`${occurred_at ?? received_at}`), reconciled: reconciled === true };
}
