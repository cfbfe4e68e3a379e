/**
 * Each function and worker, once: how its settings are read from its environment, what it is composed of, and what it
 * does while its environment is wrong. Lambda, the local run and tests start these with ports of theirs.
 */

export { authorizer } from './authorizer.ts';
export { canary } from './canary.ts';
export { group } from './group.ts';
export { lookups } from './lookups.ts';
export { marketStream } from './market-stream.ts';
export { massCancels } from './mass-cancels.ts';
export { orderAudit } from './order-audit.ts';
export { orderStreams } from './order-streams.ts';
export { quoteStreams } from './quote-streams.ts';
export { settlement } from './settlement.ts';
export { start } from './start.ts';
export { tokenCheck } from './token-check.ts';
export { tradeEvents } from './trade-events.ts';
export { tradingStop } from './trading-stop.ts';
