/** Where instances keep the directory of symbols that they share, and the part of the next one that has been read. */

export interface Directory {
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
  /** The next page is not asked for before: an instance is at it, or the last one failed. */
  readonly notBefore: number;
}

/** Nothing has been read. */
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
 * Port. Rejects when the store cannot be asked. The directory is read by every instance that begins and has to know
 * whether a symbol exists, so that a store that bounds the reads of one key keeps several copies.
 */
export interface DirectoryStore {
  readDirectory(): Promise<Directory | undefined>;
  writeDirectory(directory: Directory): Promise<void>;
  readDraft(): Promise<DirectoryDraft | undefined>;
  /** False when another instance has written since: what is stored has another revision than the one before this. */
  writeDraft(draft: DirectoryDraft): Promise<boolean>;
}

/** For one process: the local run, and tests. */
export function createMemoryDirectoryStore(): DirectoryStore {
  let directory: Directory | undefined;
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
