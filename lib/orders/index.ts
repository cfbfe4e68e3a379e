/**
 * Sends each order only once: the journal of sent requests, pre-trade checks and the kill switch, and the settlement of
 * orders whose answer was lost. Stores in memory are for one process, and for tests.
 *
 * @example
 * const journal = createMemoryOrderJournal();
 * const gateway = createGateway({ ...options, orders: { journal, names: createIdentity(async () => key).names } });
 */

export {
  type AppliedControl,
  type CheckName,
  type Control,
  type ControlAdmin,
  type ControlAdminOptions,
  type ControlAdminStore,
  type ControlChange,
  ControlChangeError,
  type ControlStore,
  type ControlSubject,
  createControlAdmin,
  createMemoryControls,
  type GuardOptions,
  type LastPrice,
  type LastPrices,
  type LimitChanges,
  type MassCancel,
  type MassCancelStore,
  type MemoryControls,
  maxControlAgeMs,
  type TradingLimits,
} from '../guard-rails/index.ts';
export type { OrdersOptions } from './hand-over.ts';
export {
  type CountingJournal,
  type EntryState,
  type JournalEntry,
  JournalUnavailable,
  type OrderJournal,
  type UnsettledList,
} from './journal.ts';
export {
  type CancelOutcome,
  createMassCancels,
  type MassCancelReport,
  type MassCancels,
  type MassCancelsOptions,
} from './mass-cancel.ts';
export { createMemoryOrderJournal } from './memory-journal.ts';
export type { OrderReads, ReadOrder } from './order-reads.ts';
export {
  createSettlement,
  type Settlement,
  type SettlementOptions,
  type SettlementReport,
} from './settle.ts';
