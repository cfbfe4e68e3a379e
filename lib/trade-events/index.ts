/** Trade and position events: the stream's messages, and a listener over ports that publishes them at least once. */

export {
  createGatewayOrderReads,
  type GatewayOrderReadsOptions,
  OrderReadError,
  orderReadOperations,
} from '../gateway/order-reads.ts';
export type { AcquireCall, Acquired, LeaseRecord, LeaseState } from '../listener/lease.ts';
export type { LeasedListener as TradeEventListener, RunReport } from '../listener/shift.ts';
export type { OrderReads, ReadOrder } from '../orders/order-reads.ts';
export type { OrderState } from '../orders/order-state.ts';
export { type FollowEventsOptions, followOrderEvents, type OrderEventUpdate } from './follow-events.ts';
export { createTradeEventListener } from './listener.ts';
export type {
  StreamCredential,
  StreamEnd,
  TradeEventListenerOptions,
  TradeEventListenerWiring,
  TradeEventReport,
  TradeEventTuning,
} from './listener-options.ts';
export { createMemoryTradeEventStore } from './memory-store.ts';
export {
  decodeSubscribeResponse,
  encodeSubscribeRequest,
  eventServicePath,
  type SubscribeRequest,
  type SubscribeResponse,
  subscribeTypes,
} from './messages.ts';
export { parseStreamMessage, type StreamMessage, type StreamMessageKind } from './parse.ts';
export {
  type OrderChanged,
  type ParsedTradeEvent,
  type PositionChanged,
  parseTradeEvent,
  type TradeEventReceived,
} from './parse-event.ts';
export {
  type AddCall,
  type KnownOrder,
  type OrderChange,
  type StreamCall,
  StreamError,
  type TradeEvent,
  type TradeEventBus,
  type TradeEventStore,
  type TradeEventTransport,
} from './ports.ts';
export {
  createMemorySeenEvents,
  createRepetitionFilter,
  type RepetitionFilter,
  type SeenEvents,
} from './repetition-filter.ts';
export { tradeEventNames } from './schemas.ts';
export {
  nextStreamState,
  openStream,
  type Reconnect,
  reconnectPause,
  type StreamInput,
  type StreamState,
} from './stream-state.ts';
