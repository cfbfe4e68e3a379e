/** The store of trade events in memory: for tests, and for one process. */

import type { LeaseState } from '../listener/lease.ts';
import type { KnownOrder, OrderChange, TradeEvent, TradeEventStore } from './ports.ts';

/** Records under one lease. */
class Shelf {
  owner: string | undefined;
  state: LeaseState = { until: 0, endsAt: 0 };
  readonly orders = new Map<string, Stored>();
  /** Ids of all events that were added, and until when they are known. */
  readonly added = new Map<string, number>();
  /** In order of addition. */
  readonly pending = new Map<string, TradeEvent>();
}

interface Stored extends KnownOrder {
  readonly expiresAt: number;
}

/**
 * @param clock tells which orders have expired, in milliseconds since the epoch
 *
 * @example
 * const store = createMemoryTradeEventStore();
 */
export function createMemoryTradeEventStore(clock: () => number = Date.now): TradeEventStore {
  const shelves = new Map<string, Shelf>();
  let revisions = 0;

  function shelfOf(lease: string): Shelf {
    const shelf = shelves.get(lease) ?? new Shelf();
    shelves.set(lease, shelf);
    return shelf;
  }

  function orderOf({ orders }: Shelf, order: string): Stored | undefined {
    const stored = orders.get(order);
    return stored && stored.expiresAt > clock() ? stored : undefined;
  }

  /** False when the order is not as expected. */
  function write(shelf: Shelf, change: OrderChange): boolean {
    if (orderOf(shelf, change.order)?.revision !== change.expected) return false;
    shelf.orders.set(change.order, { ...change, revision: `${++revisions}` });
    return true;
  }

  return {
    async acquire({ lease, owner, until, endsAt, expired }) {
      const shelf = shelfOf(lease);
      const { owner: holder, state } = shelf;
      const isExpired = expired?.owner === holder && expired?.until === state.until;
      if (holder !== undefined && holder !== owner && !isExpired)
        return { kind: 'held', record: { owner: holder, until: state.until, endsAt: state.endsAt } };
      shelf.owner = owner;
      shelf.state = { ...state, until, endsAt };
      return { kind: 'acquired', state: shelf.state };
    },
    async renew(lease, owner, state) {
      const shelf = shelfOf(lease);
      if (shelf.owner !== owner) return false;
      shelf.state = { ...state };
      return true;
    },
    async release(lease, owner, state) {
      const shelf = shelfOf(lease);
      if (shelf.owner !== owner) return;
      shelf.owner = undefined;
      shelf.state = { ...state };
    },

    async add({ lease, event, order, now, expiresAt }) {
      const shelf = shelfOf(lease);
      if ((shelf.added.get(event.id) ?? 0) > now) return 'known';
      if (order && !write(shelf, order)) return 'overtaken';
      shelf.added.set(event.id, expiresAt);
      shelf.pending.set(event.id, event);
      return 'added';
    },
    async known(lease, orders) {
      const shelf = shelfOf(lease);
      const found = orders.flatMap((order) => orderOf(shelf, order) ?? []);
      return new Map(found.map((stored) => [stored.order, shown(stored)]));
    },
    note: async (lease, change) => write(shelfOf(lease), change),
    async openOrders(lease) {
      const shelf = shelfOf(lease);
      return [...shelf.orders.keys()]
        .flatMap((order) => orderOf(shelf, order) ?? [])
        .filter(({ isOpen }) => isOpen)
        .map(shown);
    },

    async unpublished(lease, limit) {
      return [...shelfOf(lease).pending.values()].slice(0, limit);
    },
    async published(lease, ids) {
      for (const id of ids) shelfOf(lease).pending.delete(id);
    },
  };
}

const shown = ({ order, revision, state, isOpen }: Stored): KnownOrder => ({
  order,
  revision,
  state,
  isOpen,
});
