/**
 * The safe hand-over of orders: a journal that keeps what was sent, and the ways to learn what became of it.
 *
 * @example
 * const gateway = createGateway({ ...options, orders: { journal: createMemoryOrderJournal(), names } });
 */

export {
  type CountingJournal,
  type EntryState,
  type JournalEntry,
  JournalUnavailable,
  type OrderJournal,
  type UnsettledList,
} from './journal.ts';
export { type CancelOutcome, createMassCancels, type MassCancelReport } from './mass-cancel.ts';
export { createMemoryOrderJournal } from './memory-journal.ts';
export { createSettlement } from './settle.ts';
