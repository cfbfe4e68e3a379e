/** Progress of the reconciliation of a restored journal, stored in the journal itself. */

import type { StoredCounter } from '../guard-rails/counter.ts';
import type { CountingJournal } from './journal.ts';

/** Key of the counter that holds the progress; nothing is counted in it. */
export const reconciliationKey = 'reconciliation';

export interface Progress {
  /** When the restore was noticed and orders were closed, in milliseconds since the epoch. */
  readonly noticedAt: number;
  /** Time of the last run; an old time means that the journal was restored again, and the reconciliation starts anew. */
  readonly ranAt: number;
  /** Moment up to which the audit was read. */
  readonly readTo: number;
  /** Time of the first look at the upstream that showed nothing unknown. */
  readonly lookedAt?: number;
}

/** The progress; undefined while no reconciliation is under way. @param counters the stored counters of the key */
export function readProgress(counters: readonly StoredCounter[]): Progress | undefined {
  const stored = counters.find(({ key }) => key === reconciliationKey);
  return stored ? ((JSON.parse(stored.state) as Progress | null) ?? undefined) : undefined;
}

export const isUnderWay = (counters: readonly StoredCounter[]): boolean =>
  readProgress(counters) !== undefined;

/** @param progress undefined when the reconciliation is over, so that the next restore begins anew */
export async function keepProgress(
  journal: Pick<CountingJournal, 'counters' | 'change'>,
  progress: Progress | undefined,
): Promise<void> {
  const [stored] = await journal.counters([reconciliationKey]);
  const { revision = 0 } = stored ?? {};
  const change = { key: reconciliationKey, revision, next: JSON.stringify(progress ?? null) };
  await journal.change({ counters: [change], exposures: [] });
}
