/** Where the upstream says which symbols its snapshots know: lists of instruments, page by page. */

import { listStockInstruments } from './instruments.ts';
import type { Operation } from './operation.ts';

export interface SymbolListing {
  readonly operation: Operation;
  /** Ids of the operations whose symbols it lists. */
  readonly snapshots: readonly string[];
  /** What each list is asked for with, beside a cursor. */
  readonly queries: readonly (readonly (readonly [name: string, value: string])[])[];
  /** The category by which snapshots know an instrument: of funds another one than of all others. */
  categoryOf(record: { readonly sub_category?: unknown }): string;
}

/**
 * Without `sub_category` the operation lists what is not a fund; funds have a list of their own.
 * Source: the operation's entry.
 */
export const symbolListing: SymbolListing = {
  operation: listStockInstruments,
  snapshots: ['getStockSnapshots'],
  queries: [
    [['category', 'US_STOCK']],
    [
      ['category', 'US_STOCK'],
      ['sub_category', 'ETF'],
    ],
  ],
  categoryOf: ({ sub_category: kind }) => (kind === 'ETF' ? 'US_ETF' : 'US_STOCK'),
};
