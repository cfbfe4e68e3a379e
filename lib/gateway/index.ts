/** The gateway's core and its ports. */

export {
  type AnswerStore,
  createMemoryAnswerStore,
} from './answers/index.ts';
export { baseUrlFault } from './base-url.ts';
export {
  type Addition,
  type Budget,
  type BudgetItem,
  type BudgetOptions,
  type BudgetReport,
  type BudgetStore,
  createBudget,
  createMemoryBudgetStore,
  type Priority,
  StoreThrottled,
  type WriteAnswer,
} from './budget/index.ts';
export {
  budgetLimits,
  type OwnLimit,
  type OwnLimits,
  ownLimitsFault,
} from './budget-limits.ts';
export { type Caller, callerOf, defaultNetworkPrefix, type NetworkPrefix } from './caller.ts';
export { type CompactJson, compactJson } from './compact-json.ts';
export type { SecretSource, SecretVersion } from './credentials.ts';
export { createGateway, type Gateway, type GatewayOptions, type RequestReport } from './gateway.ts';
export type { GatewayRequest, GatewayResponse } from './http.ts';
export * from './lookups/index.ts';
export {
  createMemoryQuoteStore,
  type DirectoryStore,
  type QuoteStore,
} from './quotes/index.ts';
export {
  type Fault,
  type Refusal,
  type RefusalCode,
  refusalKinds,
  refusalResponse,
  type UpstreamRefusal,
} from './refusals.ts';
export {
  createFetchSend,
  type LetGo,
  type OutgoingRequest,
  type Send,
  type SendLimits,
  type SendResult,
} from './send.ts';
export {
  createMemorySharing,
  type SharingFigures,
  type SharingOptions,
  type TurnReport,
} from './sharing/index.ts';
export { type UpstreamPaths, upstreamPathsFault, upstreamPathsOf } from './upstream-paths.ts';
