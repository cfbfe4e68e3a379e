/** The listener of the upstream's real-time channel: quotes below a second, without a request for each. */

export type { LeaseStore } from '../listener/lease.ts';
export type {
  LeasedListener as MarketStreamListener,
  RunReport as MarketStreamRun,
} from '../listener/shift.ts';
export { createMarketStreamListener } from './listener.ts';
export type {
  MarketStreamListenerOptions,
  MarketStreamReport,
  MarketStreamTuning,
} from './listener-options.ts';
export { readMessage, type StreamMessage } from './messages.ts';
export {
  type AccountStream,
  type ConnectionCall,
  type Incoming,
  MarketStreamError,
  type MarketStreamTransport,
  type StreamDemand,
  type Subscription,
  type SubscriptionAnswer,
  type SubscriptionCalls,
  type WantedSymbol,
} from './ports.ts';
