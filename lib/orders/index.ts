/**
 * The safe hand-over of orders: a journal that keeps what was sent, and the ways to learn what became of it.
 *
 * @example
 * const gateway = createGateway({ ...options, orders: { journal: createMemoryOrderJournal(), names } });
 */

export { createHandOver, type HandOver, type OrdersOptions } from './hand-over.ts';
export {
  type CountedChanges,
  type CountingJournal,
  type EntryOutcome,
  type EntryState,
  type ExposureChange,
  type JournalEntry,
  JournalUnavailable,
  type OrderJournal,
  type Stale,
} from './journal.ts';
export {
  type CancelOrder,
  type CancelOutcome,
  createMassCancels,
  type MassCancelReport,
  type MassCancels,
  type MassCancelsOptions,
} from './mass-cancel.ts';
export { createMemoryOrderJournal } from './memory-journal.ts';
export { type Evidence, type OrderRecord, type RecordedOutcome, readRecord } from './record.ts';
export {
  createSettlement,
  type Settlement,
  type SettlementOptions,
  type SettlementReport,
} from './settle.ts';
