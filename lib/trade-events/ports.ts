/** What the listener of trade events needs: a stream, the orders as the upstream shows them, a store, a bus. */

import { CountersignError } from '../signer/errors.ts';

/** Port: one call of the upstream's event service. It neither signs nor reconnects. */
export interface TradeEventTransport {
  /**
   * Opens a stream. Each item is one serialized message.
   *
   * @param call what to send: the signed metadata, and exactly the bytes that were signed
   * @throws StreamError (while iterating) when the stream does not open, or breaks
   */
  open(call: StreamCall): AsyncIterable<Uint8Array>;
}

export interface StreamCall {
  readonly metadata: Readonly<Record<string, string>>;
  readonly message: Uint8Array;
  /** Ends the stream, and the connection under it. */
  readonly signal: AbortSignal;
}

/** The stream did not open, or broke. */
export class StreamError extends CountersignError<'stream_ended'> {
  override readonly name = 'StreamError';
  /** The gRPC status, such as `UNAVAILABLE`; `UNKNOWN` where there was none. */
  readonly status: string;

  constructor(status: string, options?: ErrorOptions) {
    super('stream_ended', `the event stream ended: ${status}`, options);
    this.status = status;
  }
}

/** A change that goes to the bus. */
export interface TradeEvent {
  /** The same for each sight of the same change; reveals no account. */
  readonly id: string;
  readonly detailType: 'OrderChanged' | 'PositionChanged' | 'TradeEventReceived';
  /** JSON. Holds the account in clear: sealed in a store. */
  readonly detail: string;
}

/** Port: the lease of the one listener, what is known of orders, and the outbox. Each method rejects when it cannot tell. */
export interface TradeEventStore {
  /**
   * Acquires the lease, unless another owner holds it: the store compares no time with a clock. A read
   * sees every write that was answered before.
   */
  acquire(call: AcquireCall): Promise<Acquired>;
  /** False when the lease is another's: the owner must end its stream at once. */
  renew(lease: string, owner: string, state: LeaseState): Promise<boolean>;
  /** So that a successor acquires it at once; what the state says of the stream stays. */
  release(lease: string, owner: string, state: LeaseState): Promise<void>;

  /**
   * Writes an event to the outbox together with what it says of its order: both or nothing. `known` when an event of
   * this id was ever added (for as long as `expiresAt` of it says), `overtaken` when the order is no longer as expected.
   */
  add(call: AddCall): Promise<'added' | 'known' | 'overtaken'>;
  /** What is known of an order. */
  known(lease: string, orders: readonly string[]): Promise<ReadonlyMap<string, KnownOrder>>;
  /** Takes note of an order without an event. False when the order is no longer as expected. */
  note(lease: string, change: OrderChange): Promise<boolean>;
  /** All orders that are known to be open. */
  openOrders(lease: string): Promise<readonly KnownOrder[]>;

  /** The oldest events of the outbox that the bus has not taken. */
  unpublished(lease: string, limit: number): Promise<readonly TradeEvent[]>;
  /** The bus has taken them. */
  published(lease: string, ids: readonly string[]): Promise<void>;
}

export interface AcquireCall {
  /** Its name: one listener has it. What is known of orders and events is kept under it. */
  readonly lease: string;
  readonly owner: string;
  /** By the caller's clock, like the next: other listeners compare the two with each other, and not with a clock. */
  readonly until: number;
  /** When the caller means to hand over. */
  readonly endsAt: number;
  /** A record that has not changed for a whole lease: it is taken over, unless it has changed since. */
  readonly expired?: LeaseRecord;
}

export type Acquired =
  | { readonly kind: 'acquired'; readonly state: LeaseState }
  | { readonly kind: 'held'; readonly record: LeaseRecord };

/** What a contender sees of a lease. Its owner changes `until` with each renewal. */
export interface LeaseRecord extends Pick<LeaseState, 'until' | 'endsAt'> {
  readonly owner: string;
}

/** What a successor has to know. */
export interface LeaseState {
  /** The lease's end, and the announced hand-over, by the clock of its owner alone. */
  readonly until: number;
  readonly endsAt: number;
  /** The last sign of life of a stream: what came later may be lost. Absent before the first stream. */
  readonly lastSignAt?: number;
  /** No stream is opened before: the upstream asked for a pause. */
  readonly notBefore?: number;
  /** The keyed name of a secret that the upstream refused: not tried again before `notBefore`, unless another secret is there. */
  readonly refusedSecret?: string;
  /** How many times in a row the upstream asked for a pause: each doubles the next. */
  readonly refusals?: number;
  /**
   * What changed before, and is visible in a read, has been compared. Absent before the first stream. It is the time of an
   * account that no comparison has met yet.
   */
  readonly comparedAt?: number;
  /** The same of each account, by its keyed name: one that is away is behind the others when it comes back. */
  readonly comparedByAccount?: Readonly<Record<string, number>>;
  /**
   * Of the market stream's sessions. The upstream closes the connection of the listener before when the next one connects with
   * its id, and does not count it.
   */
  readonly sessionIds?: readonly string[];
}

/** One order, under its keyed name. */
export interface KnownOrder {
  readonly order: string;
  /** Another one with each write. */
  readonly revision: string;
  /** JSON of what is known; sealed in a store. */
  readonly state: string;
  readonly isOpen: boolean;
}

export interface OrderChange {
  readonly order: string;
  /** The revision that was read; undefined when the order was not known. */
  readonly expected: string | undefined;
  readonly state: string;
  readonly isOpen: boolean;
  /** When the store may forget it, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface AddCall {
  readonly lease: string;
  readonly event: TradeEvent;
  /** Absent for what is no order's. */
  readonly order?: OrderChange;
  readonly now: number;
  /** When the store may forget that the event was there. */
  readonly expiresAt: number;
}

/** Port: the bus. */
export interface TradeEventBus {
  /** @returns for each entry whether the bus has taken it */
  publish(events: readonly TradeEvent[]): Promise<readonly boolean[]>;
}
