/** The guard rails of trading: pre-trade checks, and the kill switch. */

export {
  type AppliedControl,
  type ControlAbout,
  type ControlAdmin,
  type ControlAdminOptions,
  type ControlHistoryLine,
  createControlAdmin,
  type ListedControl,
} from './admin.ts';
export type {
  ControlAdminStore,
  ControlEntry,
  ControlHistoryEntry,
  ControlWrite,
} from './control-admin-store.ts';
export {
  type ControlChange,
  ControlChangeError,
  type ControlState,
  type ControlSubject,
} from './control-changes.ts';
export { type Control, type ControlStore, maxControlAgeMs, type Stop } from './controls.ts';
export type { GuardOptions } from './guard.ts';
export type { LastPrice, LastPrices } from './last-price.ts';
export {
  type CheckAction,
  type CheckName,
  type LimitChanges,
  readLimits,
  type TradingLimits,
} from './limits.ts';
export type { MassCancel, MassCancelStore } from './mass-cancels.ts';
export { createMemoryControls, type MemoryControls } from './memory-controls.ts';
