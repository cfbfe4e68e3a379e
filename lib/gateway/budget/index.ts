/** The budget that all instances share, and its ports. */

export type { BudgetAnswer } from './account.ts';
export { type Budget, type BudgetCall, type BudgetOptions, createBudget } from './budget.ts';
export { type BudgetLimit, type Figures, figuresOf, type Margins } from './figures.ts';
export { budgetKey } from './key.ts';
export type { RefusalReason } from './line.ts';
export { createMemoryBudgetStore } from './memory-store.ts';
export type { OwnShareOptions } from './own-share.ts';
export type { Permission } from './permission.ts';
export { type Priority, priorities } from './priorities.ts';
export type { BudgetReport } from './report.ts';
export {
  type Addition,
  type BudgetItem,
  type BudgetStore,
  StoreThrottled,
  type WriteAnswer,
} from './store.ts';
export { type After, afterTimeout } from './store-time.ts';
