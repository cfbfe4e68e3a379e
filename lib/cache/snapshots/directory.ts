/**
 * Which symbols exist: the upstream's lists of instruments, read page by page and kept for all instances. It is read
 * anew each day, by instances that hold a refresh lease anyway; no other request waits for a page. While no complete
 * list is known, or the last one is too old, the directory says nothing, and symbols are tested.
 */

import { type Directory, type DirectoryDraft, type DirectoryStore, emptyDraft } from './directory-store.ts';

/** One page of a list. */
export interface ListingPage {
  /** By category. */
  readonly symbols: ReadonlyMap<string, readonly string[]>;
  /** Where the next page begins; absent on the last one. */
  readonly next?: string;
}

/**
 * Port: one request for a page of one of the upstream's lists.
 * Resolves with undefined when there is none, for whatever reason; never rejects.
 */
export interface Listings {
  /** How many lists there are. */
  readonly count: number;
  ask(list: number, cursor: string | undefined, timeoutMs: number): Promise<ListingPage | undefined>;
}

export interface DirectoryPorts {
  readonly store: DirectoryStore;
  readonly listings: Listings;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
}

export interface SymbolDirectory {
  /** Whether the symbol exists in the category; undefined while the directory cannot say. */
  lists(symbol: string, category: string): boolean | undefined;
  /** Reads the list from the store unless this instance has a young one, or tried lately. Never rejects. */
  load(): Promise<void>;
  /** Asks the upstream for the next page if a list is due and no other instance does. Never rejects. */
  advance(deadline: number): Promise<void>;
  /** The upstream gave a record of a symbol. */
  saw(symbol: string, category: string): void;
  /** When the list that is in use was completed; undefined when none is. */
  readonly completedAt: number | undefined;
}

export const directoryFigures = {
  /** A list is read anew after so long. */
  renewMs: 24 * 3_600_000,
  /** An older one says nothing any more. */
  staleMs: 72 * 3_600_000,
  /** A list that an instance holds is looked up again in the store after so long, once it is due to be renewed. */
  reloadMs: 300_000,
  /** The same where it holds none. */
  loadMs: 2000,
  pageTimeoutMs: 3000,
  /** Pages and symbols of all lists together, far above any market's. */
  maxPages: 400,
  maxSymbols: 60_000,
  /** After a page that failed, and twice as long after each further one until a list is complete. */
  firstPauseMs: 2000,
  maxPauseMs: 3_600_000,
  /** Symbols with records that the list lacks: so many, and it is not a list of what exists. */
  maxMissed: 20,
} as const;

/** An instance that asks for a page has so long to come back with it. */
const leaseMs = 5000;

export function createDirectory({ store, listings, clock }: DirectoryPorts): SymbolDirectory {
  const figures = directoryFigures;
  let completedAt: number | undefined;
  let symbols: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  /** With records of the upstream, and not in the list. */
  const missed = new Set<string>();
  let loadedAt = Number.NEGATIVE_INFINITY;
  let advanceNotBefore = Number.NEGATIVE_INFINITY;
  let loading: Promise<void> | undefined;

  function use(directory: Directory): void {
    if (directory.completedAt <= (completedAt ?? 0)) return;
    completedAt = directory.completedAt;
    symbols = new Map([...directory.symbols].map(([category, all]) => [category, new Set(all)]));
    missed.clear();
  }

  const isOlderThan = (ms: number) => completedAt === undefined || clock() - completedAt > ms;

  async function read(): Promise<void> {
    loadedAt = clock();
    try {
      const found = await store.readDirectory();
      // What a wrong clock dated would never be renewed.
      if (found && found.completedAt <= clock() + leaseMs) use(found);
    } catch {
      // Without it symbols are tested.
    }
  }

  function load(): Promise<void> {
    const isDue = isOlderThan(figures.renewMs);
    const everyMs = completedAt === undefined ? figures.loadMs : figures.reloadMs;
    if (!isDue || clock() - loadedAt < everyMs) return loading ?? Promise.resolve();
    loading ??= read().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  /** Exactly one of the instances that try has the draft to itself for a while. */
  async function lease(): Promise<DirectoryDraft | undefined> {
    const now = clock();
    const found = await store.readDraft();
    if (found && found.notBefore > now) {
      // Bounded, or a wrong clock would keep everybody from it.
      advanceNotBefore = Math.min(found.notBefore, now + figures.maxPauseMs);
      if (found.notBefore <= now + figures.maxPauseMs) return undefined;
    }
    const isUsable = found && now - found.startedAt < figures.renewMs;
    const { revision = 0, failures = 0 } = found ?? {};
    const draft = isUsable ? found : { ...emptyDraft, revision, failures, startedAt: now };
    const mine = { ...draft, revision: draft.revision + 1, notBefore: now + leaseMs };
    if (await store.writeDraft(mine)) return mine;
    advanceNotBefore = now + figures.firstPauseMs;
    return undefined;
  }

  /** Another instance may have completed a list since this one looked. */
  async function isDone(draft: DirectoryDraft): Promise<boolean> {
    if (draft.pages > 0) return false;
    await read();
    if (isOlderThan(figures.renewMs)) return false;
    await store.writeDraft({ ...emptyDraft, revision: draft.revision + 1 });
    return true;
  }

  async function nextPage(deadline: number): Promise<void> {
    const draft = await lease();
    if (!draft || (await isDone(draft))) return;
    const timeoutMs = Math.max(1, Math.min(figures.pageTimeoutMs, deadline - clock()));
    const page = await listings.ask(draft.list, draft.cursor, timeoutMs).catch(() => undefined);
    const after = page ? withPage(draft, page, listings.count) : undefined;
    if (!after) return failed(draft);
    if (after !== 'complete') {
      await store.writeDraft(after);
      return;
    }
    // As old as its first page.
    const directory = {
      completedAt: Math.min(draft.startedAt, clock()),
      symbols: mergedSymbols(draft, page!),
    };
    const before = isOlderThan(figures.staleMs) ? new Map() : symbols;
    if (!isPlausible(directory, before)) return failed({ ...draft, pages: 0 });
    // An instance that was frozen meanwhile must not write over a list that is newer.
    const last = { ...draft, revision: draft.revision + 1, notBefore: clock() + leaseMs };
    if (!(await store.writeDraft(last))) return;
    try {
      await store.writeDirectory(directory);
    } catch {
      return failed(last);
    }
    use(directory);
    // The next one begins anew.
    await store.writeDraft({ ...emptyDraft, revision: last.revision + 1 });
  }

  async function failed(draft: DirectoryDraft): Promise<void> {
    const failures = draft.failures + 1;
    const pauseMs = Math.min(figures.maxPauseMs, figures.firstPauseMs * 2 ** Math.min(20, failures - 1));
    const notBefore = clock() + pauseMs;
    advanceNotBefore = notBefore;
    // A cursor that fails again and again may have run out.
    const isOver = draft.pages === 0 || failures % restartAfter === 0;
    const from = isOver ? { ...emptyDraft, startedAt: clock() } : draft;
    await store.writeDraft({ ...from, revision: draft.revision + 1, failures, notBefore });
  }

  return {
    lists(symbol, category) {
      const listed = symbols.get(category);
      if (!listed || isOlderThan(figures.staleMs)) return undefined;
      if (listed.has(symbol)) return true;
      return missed.size < figures.maxMissed ? false : undefined;
    },
    load,
    async advance(deadline) {
      const now = clock();
      if (!isOlderThan(figures.renewMs) || now < advanceNotBefore) return;
      try {
        await load();
        if (!isOlderThan(figures.renewMs)) return;
        await nextPage(deadline);
      } catch {
        advanceNotBefore = now + figures.firstPauseMs;
      }
    },
    saw(symbol, category) {
      const listed = symbols.get(category);
      if (listed && !listed.has(symbol) && missed.size < figures.maxMissed) missed.add(symbol);
    },
    get completedAt() {
      return completedAt;
    },
  };
}

const restartAfter = 5;

/** Undefined when the lists have no end, which no market's have. */
function withPage(
  draft: DirectoryDraft,
  page: ListingPage,
  lists: number,
): DirectoryDraft | 'complete' | undefined {
  const symbols = mergedSymbols(draft, page);
  const pages = draft.pages + 1;
  const { maxPages, maxSymbols } = directoryFigures;
  const count = countOf(symbols);
  if (pages > maxPages || count > maxSymbols) return undefined;
  // A page that brings nothing and names another one goes in circles.
  if (page.next !== undefined && count === countOf(draft.symbols)) return undefined;
  const list = page.next === undefined ? draft.list + 1 : draft.list;
  if (list >= lists) return 'complete';
  const { cursor: _, ...rest } = draft;
  const next = { ...rest, revision: draft.revision + 1, list, pages, symbols, notBefore: 0 };
  return page.next === undefined ? next : { ...next, cursor: page.next };
}

const countOf = (symbols: DirectoryDraft['symbols']): number =>
  [...symbols.values()].reduce((total, { length }) => total + length, 0);

function mergedSymbols(
  { symbols }: DirectoryDraft,
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

/** Half of what was there before: that is a fault of the upstream rather than a market that vanished. */
const isPlausible = ({ symbols }: Directory, before: ReadonlyMap<string, ReadonlySet<string>>): boolean =>
  symbols.size > 0 &&
  [...before].every(([category, all]) => (symbols.get(category)?.length ?? 0) >= all.size / 2);
