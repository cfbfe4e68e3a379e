/** Ports of lookups by event: a store of requests, a queue and a bus. Each is an object of plain functions. */

/** Port: store of the requests of the last days, with their replies. Each method rejects when the store fails. */
export interface LookupStore {
  /** Acquires a request for `owner`, unless another owner holds it or it is completed. */
  claim(call: ClaimCall): Promise<Claim>;
  /**
   * Saves the reply; a reply that is not saved must not be published. `lost` when another owner has acquired the
   * request meanwhile, `too_large` when the store has no room for the reply.
   */
  saveReply(id: string, owner: string, reply: StoredReply): Promise<'saved' | 'lost' | 'too_large'>;
  /** Records that the bus has accepted all events of the reply. */
  complete(id: string, now: number): Promise<void>;
  /** Ends a claim, so that any owner can acquire the request at once. */
  release(id: string, owner: string): Promise<void>;
}

export interface ClaimCall {
  /** Key of the request: its requester and its id as one text. The store's other methods expect the same key. */
  readonly id: string;
  /** Hash of the request's content: the same key with another hash is a conflict. */
  readonly hash: string;
  readonly owner: string;
  readonly now: number;
  /** Until this time no other owner can acquire the request; later its owner counts as dead. */
  readonly leaseUntil: number;
  /** Time from which the store may forget the request. */
  readonly expiresAt: number;
}

export type Claim =
  /** `reply` is present when an earlier owner saved it and died before it was published. */
  | { readonly kind: 'acquired'; readonly reply?: StoredReply }
  | { readonly kind: 'in_progress'; readonly until: number }
  | { readonly kind: 'completed'; readonly reply: StoredReply }
  /** The key belongs to another request. */
  | { readonly kind: 'conflict' };

/** A reply as it is published: the same texts every time. */
export interface StoredReply {
  readonly detailType: string;
  /** JSON, one for each event. */
  readonly details: readonly string[];
  /** Marks a reply that must not be stored in the clear. */
  readonly isAccountData?: true;
}

/** A message of the queue. */
export interface LookupMessage {
  /** Id of this delivery, for the list of failed ones. */
  readonly id: string;
  readonly body: string;
  /** Time at which it first entered the queue, in milliseconds since the epoch. */
  readonly sentAt: number;
  /** Number of times that it was put back to wait. */
  readonly waits: number;
  /** Whether it was sent to the queue, not to the bus: then its sender may have written any source. Default false. */
  readonly isDirect?: boolean;
}

/** Port: the queue. */
export interface LookupQueue {
  /**
   * Puts copies of messages into the queue that become visible later.
   * @returns the messages whose copy failed
   */
  putAgain(waits: readonly Wait[]): Promise<ReadonlySet<LookupMessage>>;
  /** @throws unless the message is certainly among the dead letters */
  deadLetter(message: LookupMessage, reason: string): Promise<void>;
}

export interface Wait {
  readonly message: LookupMessage;
  /** Delay, 1 to 900. */
  readonly seconds: number;
}

/** Port: the bus. */
export interface LookupBus {
  /** @returns for each entry whether the bus has accepted it */
  publish(entries: readonly BusDetail[]): Promise<readonly boolean[]>;
}

export interface BusDetail {
  readonly detailType: string;
  readonly detail: string;
}

/** Result of a batch, for metrics. */
export interface LookupReport {
  readonly answered: number;
  readonly failed: number;
  /** Messages put back to wait. */
  readonly waiting: number;
  /** Messages that copy a completed request, or one in progress. */
  readonly duplicates: number;
  readonly poisoned: number;
  /** Messages left to the queue's redelivery: a store, the queue, the bus or the gateway failed. */
  readonly undone: number;
  /** Number of calls to the gateway. */
  readonly calls: number;
  /** Time from the queue to the reply, for each message that was answered or failed, in milliseconds. */
  readonly ages: readonly number[];
  /** Errors that left messages undone. */
  readonly causes: readonly unknown[];
}
