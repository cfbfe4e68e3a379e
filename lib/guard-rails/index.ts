/** The guard rails of trading: pre-trade checks, and the kill switch. */

export { type Control, type ControlStore, maxControlAgeMs, type Stop } from './controls.ts';
export type { GuardOptions } from './guard.ts';
export type { LastPrice, LastPrices } from './last-price.ts';
export { type CheckName, readLimits, type TradingLimits } from './limits.ts';
export { createMemoryControls, type MemoryControls } from './memory-controls.ts';
