/**
 * Which symbols exist: the upstream's lists of instruments, read page by page and stored for all instances. The
 * directory is read anew each day, by instances that hold a refresh lease anyway; no other request waits for a page.
 * While no complete list is known, or the last one is too old, the directory says nothing, and symbols are probed.
 */

import { type BackOff, backOffMs } from '../../kernel/pauses.ts';
import { isPlausible, type ListingPage, mergedSymbols, withPage } from './directory-draft.ts';
import { type DirectoryDraft, type DirectoryStore, emptyDraft, type SymbolLists } from './directory-store.ts';

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
/** The same of an instance that has none. */
const loadMs = 2000;
const pageTimeoutMs = 3000;
/** Half of the limit that the pages count against: a new list takes half a minute, and callers find room meanwhile. */
const pageEveryMs = 2000;
/** The failures in a row count until a list is complete. */
const pagePause: BackOff = { firstMs: 2000, maxMs: 3_600_000 };
/** With so many valid symbols that it lacks, a list does not say what exists. */
const maxMissed = 20;
/** An instance that asks for a page has this long to come back with it. */
const leaseMs = 5000;
/** After this many failures in a row the draft begins anew: its cursor may have expired. */
const failuresToRestart = 5;

export class SymbolDirectory {
  readonly #ports: DirectoryPorts;
  #completedAt: number | undefined;
  #symbols: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  /** The upstream gave records of them, and the list lacks them. */
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

  /** Of concurrent attempts exactly one gets the draft, for a while. */
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
    // As old as its first page.
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
