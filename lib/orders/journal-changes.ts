/** Reports a journal's changes within one process, for stores without a stream of changes. */

import type { EntryChange } from './audit-line.ts';
import type { CountingJournal, JournalEntry } from './journal.ts';

/**
 * Wraps a journal so that it reports each of its changes, as the stream of a table does.
 *
 * @param clock returns milliseconds since the epoch
 */
export function withChanges<Journal extends CountingJournal>(
  journal: Journal,
  changed: (change: EntryChange) => void,
  clock: () => number,
): Journal {
  const known = new Map<string, JournalEntry>();
  let count = 0;
  const tell = (after: JournalEntry) => {
    const before = known.get(after.key);
    known.set(after.key, after);
    const sequence = String(++count);
    changed({ sequence, at: clock(), ...(before && { before }), after });
  };
  const tellNew = (entries: readonly JournalEntry[]) => {
    for (const entry of entries) if (known.get(entry.key)?.attempt !== entry.attempt) tell(entry);
  };
  // Changes of counters alone are no changes of orders.
  return {
    ...journal,
    async begin(entries, now) {
      const begun = await journal.begin(entries, now);
      if (begun === 'begun') tellNew(entries);
      return begun;
    },
    async beginCounted(entries, now, changes) {
      const begun = await journal.beginCounted(entries, now, changes);
      if (begun === 'begun') tellNew(entries);
      return begun;
    },
    async finish(outcome) {
      const isWritten = await journal.finish(outcome);
      const before = known.get(outcome.key);
      if (isWritten && before) tell({ ...before, state: outcome.state, record: outcome.record });
      return isWritten;
    },
  };
}
