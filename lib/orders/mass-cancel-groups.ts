/** In which order open orders are cancelled: combinations by their masters, and all of them some at a time. */

import { textMembers } from '../json-members.ts';
import type { OpenOrder } from './mass-cancel-scope.ts';

/** An order, or the open parts of a combination. They are cancelled one after the other. */
export interface CancelGroup {
  readonly ids: readonly string[];
  /** The first one is the master: its cancel takes the others with it. */
  readonly hasMaster: boolean;
}

/** @param ranks of the orders, by their ids: the lowest goes first */
export function groupsOf(
  orders: readonly OpenOrder[],
  ranks: ReadonlyMap<string, string>,
): readonly CancelGroup[] {
  const combinations = new Map<string, OpenOrder[]>();
  const rankOf = (id: string) => ranks.get(id) ?? '';
  const ranked = [...orders].sort((a, b) => (rankOf(idOf(a)) < rankOf(idOf(b)) ? -1 : 1));
  for (const one of ranked) {
    const { combination } = one.order;
    const name = combination === undefined ? `order ${idOf(one)}` : `combination ${combination}`;
    combinations.set(name, [...(combinations.get(name) ?? []), one]);
  }
  return [...combinations.values()].map((parts) => {
    const sorted = [...parts.filter(isMaster), ...parts.filter((one) => !isMaster(one))];
    return { ids: sorted.map(idOf), hasMaster: parts.length > 1 && parts.some(isMaster) };
  });
}

const idOf = ({ order }: OpenOrder): string => order.state.clientOrderId;

const isMaster = ({ order }: OpenOrder): boolean =>
  textMembers(order.payload, ['combo_type'])?.get('combo_type') === 'MASTER';

/** So many at a time, in their order. */
export async function inParallel<T>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
