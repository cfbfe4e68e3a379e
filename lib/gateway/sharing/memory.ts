/** Stores of what all callers share for one process: the local run, and tests. */

import { symbolListing } from '../../catalogue/symbol-listing.ts';
import { createMemoryAnswerStore } from '../answers/index.ts';
import { createMemoryDirectoryStore, createMemoryQuoteStore, type QuoteStore } from '../quotes/index.ts';
import type { SharingOptions } from './ports.ts';

export function createMemorySharing(): Pick<SharingOptions, 'quotes' | 'answers' | 'directory'> {
  const stores = new Map<string, QuoteStore>();
  return {
    quotes(account) {
      const store = stores.get(account) ?? createMemoryQuoteStore();
      stores.set(account, store);
      return store;
    },
    answers: createMemoryAnswerStore(),
    directory: { store: createMemoryDirectoryStore(), listing: symbolListing },
  };
}
