/** The listener of the upstream's real-time channel: quotes below a second, without a request for each. */

export { createMarketStreamListener } from './listener.ts';
export type {
  MarketStreamListener,
  MarketStreamListenerOptions,
  MarketStreamReport,
  MarketStreamRun,
  MarketStreamTuning,
} from './listener-options.ts';
export { readMessage, type StreamMessage } from './messages.ts';
export {
  type AccountStream,
  type ConnectionCall,
  type Incoming,
  type LeaseStore,
  MarketStreamError,
  type MarketStreamTransport,
  type StreamDemand,
  type Subscription,
  type SubscriptionAnswer,
  type SubscriptionCalls,
  type WantedSymbol,
} from './ports.ts';
