/** Where the upstream says which symbols its snapshots know: lists of instruments, page by page. */

import { listStockInstruments } from './instruments.ts';

/**
 * Without `sub_category` the operation lists what is not a fund; funds have a list of their own.
 * Source: the operation's entry.
 */
export const symbolListing = {
  operation: listStockInstruments,
  /** Ids of the operations whose symbols it lists. */
  snapshots: ['getStockSnapshots'] as readonly string[],
  queries: [
    [['category', 'US_STOCK']],
    [['category', 'US_STOCK'] as const, ['sub_category', 'ETF'] as const],
  ],
  /** The category by which snapshots know an instrument: of funds another one than of all others. */
  categoryOf: ({ sub_category: kind }: { readonly sub_category?: unknown }): string =>
    kind === 'ETF' ? 'US_ETF' : 'US_STOCK',
} as const;
