/**
 * Checkpoints, which reveal a table that was restored to an earlier time. Each minute the settlement writes one text into
 * all tables that decide about orders, in one transaction. A table without the newest text, or with another name than the
 * text gives for it, was restored, so that no operator need remember to report a restore.
 */

/** Tables that a restore can set back: entries and counters; limits and stops; users and their grants. */
export type CheckpointTable = 'journal' | 'controls' | 'users';
export type TableNames = Readonly<Partial<Record<CheckpointTable, string>>>;

interface Checkpoint {
  /** 1, 2, 3 … */
  readonly number: number;
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number;
  /** Names of the tables when it was written: AWS restores a table under another name. */
  readonly tables: TableNames;
}

/** The checkpoint texts by table; a table without a checkpoint is missing. */
export type StoredCheckpoints = ReadonlyMap<CheckpointTable, string>;

/** Port to the tables' checkpoints, one in each table. */
export interface CheckpointStore {
  /** Reads the current checkpoints. Rejects when a table is away. */
  read(): Promise<StoredCheckpoints>;
  /**
   * Writes a checkpoint into the tables, or into none of them if the text of one has changed since it was read.
   *
   * @returns whether it was written
   */
  write(next: string, tables: readonly CheckpointTable[], read: StoredCheckpoints): Promise<boolean>;
}

export const readCheckpoint = (text: string): Checkpoint => JSON.parse(text) as Checkpoint;

function newestOf(stored: StoredCheckpoints): { readonly text: string; readonly is: Checkpoint } | undefined {
  const all = [...stored.values()].map((text) => ({ text, is: readCheckpoint(text) }));
  return all.reduce<(typeof all)[number] | undefined>(
    (newest, one) => (newest && newest.is.number >= one.is.number ? newest : one),
    undefined,
  );
}

/**
 * The tables that were restored to an earlier time. A table that no checkpoint names is new; without any checkpoint, the
 * whole stage is.
 *
 * @example
 * restoredTables({ journal: 'orders-restored' }, stored); // ['journal']
 */
export function restoredTables(names: TableNames, stored: StoredCheckpoints): readonly CheckpointTable[] {
  const newest = newestOf(stored);
  return tablesIn(names).filter((table) => {
    const named = newest?.is.tables[table];
    return named !== undefined && (named !== names[table] || stored.get(table) !== newest?.text);
  });
}

const tablesIn = (names: TableNames) => Object.keys(names) as CheckpointTable[];

/**
 * Writes the next checkpoint into the tables that were not restored, and into those of `taken`, which are accepted as they
 * are. Other restored tables keep their old checkpoint, and so are still recognised as restored.
 *
 * @returns false when another checkpoint was written meanwhile
 */
export async function nextCheckpoint(
  store: CheckpointStore,
  names: TableNames,
  now: number,
  taken: readonly CheckpointTable[] = [],
): Promise<boolean> {
  const stored = await store.read();
  const restored = restoredTables(names, stored).filter((table) => !taken.includes(table));
  const tables = tablesIn(names).filter((table) => !restored.includes(table));
  if (tables.length === 0) return false;
  const newest = newestOf(stored)?.is;
  const kept = restored.map((table) => [table, newest?.tables[table]] as const);
  const next: Checkpoint = {
    number: (newest?.number ?? 0) + 1,
    at: now,
    tables: Object.fromEntries([...tables.map((table) => [table, names[table]] as const), ...kept]),
  };
  return store.write(JSON.stringify(next), tables, stored);
}

/** Checkpoints in memory, for tests and for one process. @param tables the checkpoints by table name */
export const createMemoryCheckpoints = (names: TableNames, tables: Map<string, string>): CheckpointStore => {
  const read = async () =>
    new Map(
      tablesIn(names).flatMap((table) => {
        const text = tables.get(names[table] ?? '');
        return text === undefined ? [] : [[table, text] as const];
      }),
    );
  return {
    read,
    async write(next, written, before) {
      const now = await read();
      if (written.some((table) => now.get(table) !== before.get(table))) return false;
      for (const table of written) tables.set(names[table] ?? '', next);
      return true;
    },
  };
};
