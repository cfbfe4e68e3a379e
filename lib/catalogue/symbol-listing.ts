/** Names the operation that lists all symbols of the upstream's snapshots, page by page. */

import { listStockInstruments } from './instruments.ts';
import type { Operation } from './operation.ts';

export interface SymbolListing {
  readonly operation: Operation;
  /** Ids of the snapshot operations whose symbols `operation` lists. */
  readonly snapshots: readonly string[];
  /** Query of each list, without the cursor. */
  readonly queries: readonly (readonly (readonly [name: string, value: string])[])[];
  /** Finds an instrument's category in snapshots: funds have another one than all other instruments. */
  categoryOf(record: { readonly sub_category?: unknown }): string;
}

/**
 * Lists in two queries: without `sub_category` the operation lists all instruments except funds, which have a list of their
 * own. Source: the operation's entry.
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
