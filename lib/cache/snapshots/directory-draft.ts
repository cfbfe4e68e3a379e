/** A directory of symbols while it is read: page after page of one list after the other. */

import type { DirectoryDraft, SymbolLists } from './directory-store.ts';

/** One page of a list. */
export interface ListingPage {
  /** By category. */
  readonly symbols: ReadonlyMap<string, readonly string[]>;
  /** Where the next page begins; absent on the last one. */
  readonly next?: string;
}

/** Pages and symbols of all lists together, far above any market's. */
const maxPages = 400;
const maxSymbols = 60_000;

/**
 * The draft after one more page. Undefined when the lists have no end, which no market's have.
 *
 * @param lists how many lists there are
 */
export function withPage(
  draft: DirectoryDraft,
  page: ListingPage,
  lists: number,
): DirectoryDraft | 'complete' | undefined {
  const symbols = mergedSymbols(draft, page);
  const pages = draft.pages + 1;
  const count = countOf(symbols);
  if (pages > maxPages || count > maxSymbols) return undefined;
  // A page that adds nothing and names another one is part of a circle.
  if (page.next !== undefined && count === countOf(draft.symbols)) return undefined;
  const list = page.next === undefined ? draft.list + 1 : draft.list;
  if (list >= lists) return 'complete';
  const { cursor: _, ...rest } = draft;
  const next = { ...rest, revision: draft.revision + 1, list, pages, symbols, notBefore: 0 };
  return page.next === undefined ? next : { ...next, cursor: page.next };
}

export function mergedSymbols(
  { symbols }: Pick<DirectoryDraft, 'symbols'>,
  page: ListingPage,
): ReadonlyMap<string, readonly string[]> {
  const categories = new Set([...symbols.keys(), ...page.symbols.keys()]);
  return new Map(
    [...categories].map((category) => [
      category,
      [...new Set([...(symbols.get(category) ?? []), ...(page.symbols.get(category) ?? [])])],
    ]),
  );
}

/** A list of fewer than half of the symbols known before is a fault of the upstream rather than a market that vanished. */
export const isPlausible = (
  { symbols }: SymbolLists,
  before: ReadonlyMap<string, ReadonlySet<string>>,
): boolean =>
  symbols.size > 0 &&
  [...before].every(([category, all]) => (symbols.get(category)?.length ?? 0) >= all.size / 2);

const countOf = (symbols: DirectoryDraft['symbols']): number =>
  [...symbols.values()].reduce((total, { length }) => total + length, 0);
