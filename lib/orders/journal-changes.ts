/** A journal that tells its changes where its store has no stream: for one process. */

import type { EntryChange } from './audit-line.ts';
import type { JournalEntry, OrderJournal } from './journal.ts';

/**
 * The same journal, which tells each change that it has made, as the stream of a table does.
 *
 * @param clock in milliseconds since the epoch
 */
export function withChanges(
  journal: OrderJournal,
  changed: (change: EntryChange) => void,
  clock: () => number,
): OrderJournal {
  const known = new Map<string, JournalEntry>();
  let count = 0;
  const tell = (after: JournalEntry) => {
    const before = known.get(after.key);
    known.set(after.key, after);
    const sequence = String(++count);
    changed({ sequence, at: clock(), ...(before && { before }), after });
  };
  return {
    ...journal,
    async begin(entries, now) {
      const begun = await journal.begin(entries, now);
      if (begun === 'begun')
        for (const entry of entries) if (known.get(entry.key)?.attempt !== entry.attempt) tell(entry);
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
