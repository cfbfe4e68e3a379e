/** Trade and position events: the stream's messages, and a listener over ports that publishes them at least once. */

export {
  createGatewayOrderReads,
  type GatewayOrderReadsOptions,
  OrderReadError,
  orderReadOperations,
} from '../gateway/orders/reads.ts';
export type { AcquireCall, Acquired, LeaseRecord, LeaseState } from '../listener/lease.ts';
export type { LeasedListener as TradeEventListener, RunReport } from '../listener/shift.ts';
export type { OrderReads, ReadOrder } from '../orders/order-reads.ts';
export type { OrderState } from '../orders/order-state.ts';
export {
  createMemorySeenEvents,
  createRepetitionFilter,
  type OrderChanged,
  type ParsedTradeEvent,
  type PositionChanged,
  parseTradeEvent,
  type RepetitionFilter,
  type SeenEvents,
  type TradeEventReceived,
  tradeEventNames,
} from './bus-events.ts';
export { type FollowEventsOptions, followOrderEvents, type OrderEventUpdate } from './follow-events.ts';
export { createTradeEventListener } from './listener.ts';
export { createMemoryTradeEventStore } from './memory-store.ts';
export {
  decodeSubscribeResponse,
  encodeSubscribeRequest,
  eventServicePath,
  parseStreamMessage,
  type StreamMessage,
  type StreamMessageKind,
  type SubscribeRequest,
  type SubscribeResponse,
  subscribeTypes,
} from './messages.ts';
export {
  type AddCall,
  type KnownOrder,
  type OrderChange,
  type StreamCall,
  type StreamCredential,
  type StreamEnd,
  StreamError,
  type TradeEvent,
  type TradeEventBus,
  type TradeEventListenerOptions,
  type TradeEventListenerWiring,
  type TradeEventReport,
  type TradeEventStore,
  type TradeEventTransport,
  type TradeEventTuning,
} from './ports.ts';
export {
  nextStreamState,
  openStream,
  type Reconnect,
  reconnectPause,
  type StreamInput,
  type StreamState,
} from './stream.ts';
