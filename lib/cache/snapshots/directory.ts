/**
 * Says which symbols exist: the upstream's lists of instruments, read page by page and stored for all instances. The
 * directory is read anew each day, by instances that hold a refresh lease anyway; no other request waits for a page.
 * While no complete list is known, or the last one is too old, the directory says nothing, and symbols are probed.
 */

import { type BackOff, backOffMs } from '../../kernel/pauses.ts';

export interface SymbolLists {
  /** When its last page was read, in milliseconds since the epoch. */
  readonly completedAt: number;
  /** Symbols by category. */
  readonly symbols: ReadonlyMap<string, readonly string[]>;
}

/** A directory of which not all pages have been read. */
export interface DirectoryDraft {
  /** Grows by one with each write: a draft is written only over the revision that it was made from. */
  readonly revision: number;
  /** When its first page was asked for, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Index of the upstream's list that comes next. */
  readonly list: number;
  /** Where in that list; absent at its beginning. */
  readonly cursor?: string;
  readonly pages: number;
  readonly symbols: ReadonlyMap<string, readonly string[]>;
  /** Pages that failed since a list was complete. */
  readonly failures: number;
  /** No instance asks for the next page before: another has its lease, or the last page failed. */
  readonly notBefore: number;
}

/** The draft before its first page. */
export const emptyDraft: DirectoryDraft = {
  revision: 0,
  startedAt: 0,
  list: 0,
  pages: 0,
  symbols: new Map(),
  failures: 0,
  notBefore: 0,
};

/**
 * Port. Rejects when the store cannot be asked. Every instance that begins and has to know whether a symbol exists
 * reads the directory: a store that bounds the reads of one key keeps several copies.
 */
export interface DirectoryStore {
  readDirectory(): Promise<SymbolLists | undefined>;
  writeDirectory(directory: SymbolLists): Promise<void>;
  readDraft(): Promise<DirectoryDraft | undefined>;
  /** False when another instance has written since: the stored draft has another revision than the one before this. */
  writeDraft(draft: DirectoryDraft): Promise<boolean>;
}

/** For one process: the local run, and tests. */
export function createMemoryDirectoryStore(): DirectoryStore {
  let directory: SymbolLists | undefined;
  let draft: DirectoryDraft | undefined;
  return {
    async readDirectory() {
      return directory;
    },
    async writeDirectory(next) {
      directory = next;
    },
    async readDraft() {
      return draft;
    },
    async writeDraft(next) {
      if (draft && draft.revision !== next.revision - 1) return false;
      draft = next;
      return true;
    },
  };
}

/** One page of a list. */
export interface ListingPage {
  /** Symbols by category. */
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
function withPage(
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

function mergedSymbols(
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
const isPlausible = ({ symbols }: SymbolLists, before: ReadonlyMap<string, ReadonlySet<string>>): boolean =>
  symbols.size > 0 &&
  [...before].every(([category, all]) => (symbols.get(category)?.length ?? 0) >= all.size / 2);

const countOf = (symbols: DirectoryDraft['symbols']): number =>
  [...symbols.values()].reduce((total, { length }) => total + length, 0);

/**
 * Port: one request for a page of one of the upstream's lists. Resolves with undefined when there is none or it cannot
 * be read, and with `not_sent` when there is no permit for it now; never rejects.
 */
export interface Listings {
  /** How many lists there are. */
  readonly count: number;
  ask(
    list: number,
    cursor: string | undefined,
    timeoutMs: number,
  ): Promise<ListingPage | 'not_sent' | undefined>;
}

export interface DirectoryPorts {
  readonly store: DirectoryStore;
  readonly listings: Listings;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A list is read anew after this time. */
const renewMs = 24 * 3_600_000;
/** An older list says nothing any more. */
const staleMs = 72 * 3_600_000;
/** How often an instance asks the store for a newer list, once its own is due to be renewed. */
const reloadMs = 300_000;
/** How often an instance that has no list asks the store for one. */
const loadMs = 2000;
const pageTimeoutMs = 3000;
/** Half of the limit that the pages count against: a new list takes half a minute, and callers find room meanwhile. */
const pageEveryMs = 2000;
/** Wait after failed pages; failures count as a row until a list is complete. */
const pagePause: BackOff = { firstMs: 2000, maxMs: 3_600_000 };
/** A list that lacks this many valid symbols does not say what exists. */
const maxMissed = 20;
/** An instance that asks for a page has this long to come back with it. */
const leaseMs = 5000;
/** After this many failures in a row the draft begins anew: its cursor may have expired. */
const failuresToRestart = 5;

export class SymbolDirectory {
  readonly #ports: DirectoryPorts;
  #completedAt: number | undefined;
  #symbols: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  /** Symbols that the upstream gave records of and the list lacks. */
  readonly #missed = new Set<string>();
  #loadedAt = Number.NEGATIVE_INFINITY;
  #advanceNotBefore = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;

  constructor(ports: DirectoryPorts) {
    this.#ports = ports;
  }

  /** When the list that is in use was completed; undefined when none is. */
  get completedAt(): number | undefined {
    return this.#completedAt;
  }

  /** Whether the symbol exists in the category; undefined while the directory cannot say. */
  lists(symbol: string, category: string): boolean | undefined {
    const listed = this.#symbols.get(category);
    if (!listed || this.#isOlderThan(staleMs)) return undefined;
    if (listed.has(symbol)) return true;
    return this.#missed.size < maxMissed ? false : undefined;
  }

  /** Takes note of a symbol of which the upstream gave a record. */
  observe(symbol: string, category: string): void {
    const listed = this.#symbols.get(category);
    if (listed && !listed.has(symbol) && this.#missed.size < maxMissed) this.#missed.add(symbol);
  }

  /** Reads the list from the store unless this instance has a young one, or tried lately. Never rejects. */
  load(): Promise<void> {
    const isDue = this.#isOlderThan(renewMs);
    const everyMs = this.#completedAt === undefined ? loadMs : reloadMs;
    if (!isDue || this.#ports.clock() - this.#loadedAt < everyMs) return this.#loading ?? Promise.resolve();
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Asks the upstream for the next page if a list is due and no other instance does. Never rejects. */
  async advance(deadline: number): Promise<void> {
    const now = this.#ports.clock();
    if (!this.#isOlderThan(renewMs) || now < this.#advanceNotBefore) return;
    try {
      await this.load();
      if (!this.#isOlderThan(renewMs)) return;
      await this.#nextPage(deadline);
    } catch {
      this.#advanceNotBefore = now + pagePause.firstMs;
    }
  }

  #isOlderThan(ms: number): boolean {
    return this.#completedAt === undefined || this.#ports.clock() - this.#completedAt > ms;
  }

  async #read(): Promise<void> {
    const { store, clock } = this.#ports;
    this.#loadedAt = clock();
    try {
      const found = await store.readDirectory();
      // A list that a wrong clock dated would never be renewed.
      if (found && found.completedAt <= clock() + leaseMs) this.#use(found);
    } catch {
      // Without it symbols are probed.
    }
  }

  #use(directory: SymbolLists): void {
    if (directory.completedAt <= (this.#completedAt ?? 0)) return;
    this.#completedAt = directory.completedAt;
    this.#symbols = new Map([...directory.symbols].map(([category, all]) => [category, new Set(all)]));
    this.#missed.clear();
  }

  async #nextPage(deadline: number): Promise<void> {
    const { store, listings, clock } = this.#ports;
    const draft = await this.#leaseDraft();
    if (!draft || (await this.#isDone(draft))) return;
    const timeoutMs = Math.max(1, Math.min(pageTimeoutMs, deadline - clock()));
    const page = await listings.ask(draft.list, draft.cursor, timeoutMs).catch(() => undefined);
    if (page === 'not_sent') {
      // Nothing is wrong with the list. The lease runs out by itself: writing the draft costs more than waiting.
      this.#advanceNotBefore = draft.notBefore;
      return;
    }
    const after = page ? withPage(draft, page, listings.count) : undefined;
    if (!page || !after) return this.#failed(draft);
    if (after === 'complete') return this.#complete(draft, page);
    this.#advanceNotBefore = clock() + pageEveryMs;
    await store.writeDraft({ ...after, notBefore: this.#advanceNotBefore });
  }

  /** Leases the draft for a while; exactly one of concurrent attempts gets it. */
  async #leaseDraft(): Promise<DirectoryDraft | undefined> {
    const { store, clock } = this.#ports;
    const now = clock();
    const found = await store.readDraft();
    if (found && found.notBefore > now) {
      // Bounded, or a wrong clock would keep all instances from it.
      this.#advanceNotBefore = Math.min(found.notBefore, now + pagePause.maxMs);
      if (found.notBefore <= now + pagePause.maxMs) return undefined;
    }
    const isUsable = found && now - found.startedAt < renewMs;
    const { revision = 0, failures = 0 } = found ?? {};
    const draft = isUsable ? found : { ...emptyDraft, revision, failures, startedAt: now };
    const leased = { ...draft, revision: draft.revision + 1, notBefore: now + leaseMs };
    if (await store.writeDraft(leased)) return leased;
    this.#advanceNotBefore = now + pagePause.firstMs;
    return undefined;
  }

  /** Another instance may have completed a list since this one loaded its own. */
  async #isDone(draft: DirectoryDraft): Promise<boolean> {
    if (draft.pages > 0) return false;
    await this.#read();
    if (this.#isOlderThan(renewMs)) return false;
    await this.#ports.store.writeDraft({ ...emptyDraft, revision: draft.revision + 1 });
    return true;
  }

  async #complete(draft: DirectoryDraft, page: ListingPage): Promise<void> {
    const { store, clock } = this.#ports;
    // The list is as old as its first page.
    const completedAt = Math.min(draft.startedAt, clock());
    const directory = { completedAt, symbols: mergedSymbols(draft, page) };
    const before = this.#isOlderThan(staleMs) ? new Map() : this.#symbols;
    if (!isPlausible(directory, before)) return this.#failed({ ...draft, pages: 0 });
    // An instance that was frozen meanwhile must not write over a list that is newer.
    const last = { ...draft, revision: draft.revision + 1, notBefore: clock() + leaseMs };
    if (!(await store.writeDraft(last))) return;
    try {
      await store.writeDirectory(directory);
    } catch {
      return this.#failed(last);
    }
    this.#use(directory);
    // The next list begins anew.
    await store.writeDraft({ ...emptyDraft, revision: last.revision + 1 });
  }

  async #failed(draft: DirectoryDraft): Promise<void> {
    const { store, clock } = this.#ports;
    const failures = draft.failures + 1;
    const notBefore = clock() + backOffMs(pagePause, failures - 1);
    this.#advanceNotBefore = notBefore;
    const isOver = draft.pages === 0 || failures % failuresToRestart === 0;
    const from = isOver ? { ...emptyDraft, startedAt: clock() } : draft;
    await store.writeDraft({ ...from, revision: draft.revision + 1, failures, notBefore });
  }
}
