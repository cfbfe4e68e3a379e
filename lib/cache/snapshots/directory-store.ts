/** The store of the directory of symbols that all instances share, and of the draft of the next one. */

export interface SymbolLists {
  /** When its last page was read, in milliseconds since the epoch. */
  readonly completedAt: number;
  /** By category. */
  readonly symbols: ReadonlyMap<string, readonly string[]>;
}

/** A directory of which not all pages have been read. */
export interface DirectoryDraft {
  /** One more with each write: a draft is written only over the one that it was made of. */
  readonly revision: number;
  /** When its first page was asked for, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Which of the upstream's lists comes next. */
  readonly list: number;
  /** Where in that list; absent at its beginning. */
  readonly cursor?: string;
  readonly pages: number;
  readonly symbols: ReadonlyMap<string, readonly string[]>;
  /** Pages that failed since a list was complete. */
  readonly failures: number;
  /** The next page is not asked for before: an instance has the lease of it, or the last one failed. */
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
  /** False when another instance has written since: what is stored has another revision than the one before this. */
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
