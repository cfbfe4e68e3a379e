/**
 * Checkpoints, by which a table that was restored to an earlier time is known. Each minute the settlement writes one text
 * into the tables that decide about orders, in one transaction. A table that has not the newest one, or has another name
 * than that says, is as it was earlier, and nobody need remember to say so.
 */

/** What a restore can set back: entries and counters; limits and stops; who may do what. */
export type CheckpointTable = 'journal' | 'controls' | 'users';
export type TableNames = Readonly<Partial<Record<CheckpointTable, string>>>;

export interface Checkpoint {
  /** 1, 2, 3 … */
  readonly number: number;
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number;
  /** The tables that had it then: AWS restores a table under another name. */
  readonly tables: TableNames;
}

/** The texts as they are in the tables; none of a table without one. */
export type StoredCheckpoints = ReadonlyMap<CheckpointTable, string>;

/** Port: one checkpoint in each table. */
export interface CheckpointStore {
  /** As they are now. Rejects when a table is away. */
  read(): Promise<StoredCheckpoints>;
  /**
   * Writes it into these tables, or into none where one of them is not as it was read.
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
 * The tables that are as they were earlier. One that no checkpoint knows is new; where there is none at all, the stage is.
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
 * Writes the next checkpoint into the tables that are as they should be, and into those that are taken as they are from now
 * on. What is restored keeps the one that it has, and so stays known as such.
 *
 * @returns false where another one came between
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

/** For tests, and for one process. @param tables the checkpoints by the names of their tables */
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
