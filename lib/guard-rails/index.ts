/** The guard rails of trading: pre-trade checks, and the kill switch. */

export {
  type AppliedControl,
  type ControlAdmin,
  type ControlAdminOptions,
  createControlAdmin,
} from './admin.ts';
export type { ControlAdminStore } from './control-admin-store.ts';
export { type ControlChange, ControlChangeError, type ControlSubject } from './control-changes.ts';
export { type Control, type ControlStore, maxControlAgeMs } from './controls.ts';
export type { GuardOptions } from './guard.ts';
export type { LastPrice, LastPrices } from './last-price.ts';
export type { CheckName, LimitChanges, TradingLimits } from './limits.ts';
export type { MassCancel, MassCancelStore } from './mass-cancels.ts';
export { createMemoryControls, type MemoryControls } from './memory-controls.ts';
