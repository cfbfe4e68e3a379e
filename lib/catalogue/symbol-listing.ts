/** Which operation lists the symbols that the upstream's snapshots have, page by page. */

import { listStockInstruments } from './instruments.ts';
import type { Operation } from './operation.ts';

export interface SymbolListing {
  readonly operation: Operation;
  /** Ids of the operations whose symbols it lists. */
  readonly snapshots: readonly string[];
  /** The query of each list, besides the cursor. */
  readonly queries: readonly (readonly (readonly [name: string, value: string])[])[];
  /** The category of an instrument in snapshots: funds have another one than all other instruments. */
  categoryOf(record: { readonly sub_category?: unknown }): string;
}

/**
 * Without `sub_category` the operation lists all instruments except funds, which have a list of their own.
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
