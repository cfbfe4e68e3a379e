/** What the function that places orders has of the quotes that the function of market data shares. */

import type { FunctionName } from '../../lib/catalogue/functions.ts';
import { getStockSnapshots, type Operation } from '../../lib/catalogue/index.ts';
import type { Cache } from './cache.ts';
import type { FunctionAccess } from './group-function.ts';
import { allowTable } from './tables.ts';

export interface LastPriceAccess extends FunctionAccess {
  /** What the function asks the upstream for, beside the operations that it offers. */
  readonly asked: readonly Operation[];
}

/** What a reader of last prices does to the cache's table; a test compares it with its code. */
export const lastPriceActions = ['BatchGetItem'];

/**
 * @param operations those of the function
 * @param exposed those of the stack
 * @returns undefined for a function that places no orders, and where no quotes are shared
 */
export function lastPriceAccess(
  name: FunctionName,
  operations: readonly Operation[],
  { exposed, cache: { table } }: { readonly exposed: readonly Operation[]; readonly cache: Cache },
): LastPriceAccess | undefined {
  const places = name === 'orders' && operations.some(({ sideEffect }) => sideEffect);
  const shared = exposed.some(({ id }) => id === getStockSnapshots.id);
  if (!places || !shared || !table) return undefined;
  return {
    asked: [getStockSnapshots],
    policies: { ReadQuotes: [allowTable(lastPriceActions, table.tableArn)] },
    variables: { LAST_PRICE_TABLE: table.tableName },
  };
}
