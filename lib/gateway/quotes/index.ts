/** Quotes that all instances share, and their ports. */

export { knownMembers, type QuoteResponse, quoteResponse, quoteWishes } from './answer.ts';
export { createDirectory, type ListingPage, type Listings, type SymbolDirectory } from './directory.ts';
export {
  createMemoryDirectoryStore,
  type Directory,
  type DirectoryDraft,
  type DirectoryStore,
  emptyDraft,
} from './directory-store.ts';
export { defaultFigures, type Figures } from './figures.ts';
export { createMemoryQuoteStore } from './memory-store.ts';
export type {
  AskUpstream,
  Permission,
  PermissionAnswer,
  Permissions,
  TurnPriority,
  UpstreamAnswer,
} from './ports.ts';
export {
  createQuotes,
  type Quote,
  type QuoteCall,
  type QuoteOutcome,
  type Quotes,
  type QuotesOptions,
} from './quotes.ts';
export {
  type Checkpoint,
  type Control,
  checkpointCopies,
  type Entry,
  type Fetched,
  type Flight,
  missMs,
  noControl,
  type QuoteStore,
  type StoreNews,
  type TurnKind,
  type TurnOutcome,
  type UpstreamSays,
} from './store.ts';
export { type View, viewOf } from './view.ts';
