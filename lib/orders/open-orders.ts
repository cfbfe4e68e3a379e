/** The open orders of an account, each with its user and time of placing from the journal. */

import type { KeyedNames } from '../access/directory.ts';
import type { JournalEntry, OrderJournal } from './journal.ts';
import { type OpenOrder, openOrderOf } from './mass-cancel-scope.ts';
import type { OrderReads } from './order-reads.ts';
import { isFinal } from './order-state.ts';
import { orderKey } from './parts.ts';

interface OpenOrdersParts {
  readonly orders: Pick<OrderReads, 'openOrders'>;
  readonly journal: Pick<OrderJournal, 'read'>;
  readonly names: KeyedNames;
  readonly reportFailure?: (cause: unknown) => void;
}

export interface OpenOrders {
  readonly orders: readonly OpenOrder[];
  /** False where the journal could not be read for each order, so that the user of some is unknown. */
  readonly isWhole: boolean;
}

const maxKeys = 100;

/**
 * Reads the open orders and their entries. A failure of the journal leaves the orders without users.
 *
 * @throws the error of the list
 *
 * @example
 * const { orders } = await readOpenOrders({ orders: reads, journal, names }, '1234567');
 */
export async function readOpenOrders(parts: OpenOrdersParts, account: string): Promise<OpenOrders> {
  const { reportFailure } = parts;
  const listed = await parts.orders.openOrders(account);
  // Pages of a list that changes meanwhile may show an order twice.
  const byId = new Map(listed.map((order) => [order.state.clientOrderId, order]));
  const open = [...byId.values()].filter(({ state }) => !isFinal(state));
  let isWhole = true;
  const failed = (cause: unknown) => {
    isWhole = false;
    reportFailure?.(cause);
    return undefined;
  };
  const ids = open.map(({ state }) => state.clientOrderId);
  const entries = await entriesOf(parts, account, ids).catch(failed);
  const orders = open.map((order) => {
    try {
      return openOrderOf(order, entries?.get(order.state.clientOrderId));
    } catch (cause) {
      failed(cause);
      return openOrderOf(order, undefined);
    }
  });
  return { orders, isWhole };
}

/** Entries by order id. */
async function entriesOf(
  { journal, names }: OpenOrdersParts,
  account: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, JournalEntry>> {
  const found = new Map<string, JournalEntry>();
  for (let start = 0; start < ids.length; start += maxKeys) {
    const keys = await Promise.all(
      ids.slice(start, start + maxKeys).map(async (clientOrderId) => {
        const key = await orderKey(names, { account, clientOrderId });
        return { clientOrderId, key };
      }),
    );
    const entries = await journal.read(keys.map(({ key }) => key));
    for (const { clientOrderId, key } of keys) {
      const entry = entries.get(key);
      if (entry) found.set(clientOrderId, entry);
    }
  }
  return found;
}
