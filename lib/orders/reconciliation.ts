/** How far the reconciliation of a restored journal is, as the journal itself keeps it. */

import type { StoredCounter } from '../guard-rails/counter.ts';
import type { CountingJournal } from './journal.ts';

/** The counter in whose place it stands. Nothing counts in it. */
export const reconciliationKey = 'reconciliation';

export interface Progress {
  /** Nothing that was begun before then leaves later than a request takes. */
  readonly noticedAt: number;
  /** Of the last run: a journal that was restored in between has one that is old, and all begins anew. */
  readonly ranAt: number;
  /** To there the audit was read. */
  readonly readTo: number;
  /** The first look at the upstream that showed nothing unknown. */
  readonly lookedAt?: number;
}

/** Undefined where nothing is under way. @param counters those that a store has of the key */
export function readProgress(counters: readonly StoredCounter[]): Progress | undefined {
  const stored = counters.find(({ key }) => key === reconciliationKey);
  return stored ? ((JSON.parse(stored.state) as Progress | null) ?? undefined) : undefined;
}

export const isUnderWay = (counters: readonly StoredCounter[]): boolean =>
  readProgress(counters) !== undefined;

/** @param progress undefined when it is over: the next restore begins anew */
export async function keepProgress(
  journal: Pick<CountingJournal, 'counters' | 'change'>,
  progress: Progress | undefined,
): Promise<void> {
  const [stored] = await journal.counters([reconciliationKey]);
  const { revision = 0 } = stored ?? {};
  const change = { key: reconciliationKey, revision, next: JSON.stringify(progress ?? null) };
  await journal.change({ counters: [change], exposures: [] });
}
