/** What lookups by event need: a store of requests, a queue, a bus. Each is a port of plain functions. */

/** Port: the requests of the last days, with their replies. Rejects when it cannot tell. */
export interface LookupStore {
  /** Acquires a request for `owner`, unless another owner holds it or it is completed. */
  claim(call: ClaimCall): Promise<Claim>;
  /**
   * Saves the reply; a reply that is not saved must not be published. `lost` when another owner has acquired the
   * request meanwhile, `too_large` when the store has no room for the reply.
   */
  saveReply(id: string, owner: string, reply: StoredReply): Promise<'saved' | 'lost' | 'too_large'>;
  /** The bus has taken all events of the reply. */
  complete(id: string, now: number): Promise<void>;
  /** Ends a claim, so that any owner can acquire the request at once. */
  release(id: string, owner: string): Promise<void>;
}

export interface ClaimCall {
  /** The request's key: its requester and its id as one text. Other methods of the store take the same. */
  readonly id: string;
  /** Of the request's content: the same key with another hash is a conflict. */
  readonly hash: string;
  readonly owner: string;
  readonly now: number;
  /** Until then no other owner can acquire the request; later its owner counts as dead. */
  readonly leaseUntil: number;
  /** When the store may forget the request. */
  readonly expiresAt: number;
}

export type Claim =
  /** `reply` is present when an earlier owner saved it and died before it was published. */
  | { readonly kind: 'acquired'; readonly reply?: StoredReply }
  | { readonly kind: 'in_progress'; readonly until: number }
  | { readonly kind: 'completed'; readonly reply: StoredReply }
  /** The key belongs to another request. */
  | { readonly kind: 'conflict' };

/** Exactly what is published: the same texts every time. */
export interface StoredReply {
  readonly detailType: string;
  /** JSON, one for each event. */
  readonly details: readonly string[];
  /** Not to be stored in the clear. */
  readonly isAccountData?: true;
}

/** A message of the queue. */
export interface LookupMessage {
  /** Of this delivery, for the list of failed ones. */
  readonly id: string;
  readonly body: string;
  /** When it entered the queue for the first time, in milliseconds since the epoch. */
  readonly sentAt: number;
  /** How often it was put back to wait. */
  readonly waits: number;
  /** Sent to the queue, not to the bus: the source in its envelope is its sender's own word. Default false. */
  readonly isDirect?: boolean;
}

/** Port: the queue. */
export interface LookupQueue {
  /**
   * Puts copies into the queue that become visible later.
   * @returns the messages of which it could not put a copy
   */
  putAgain(waits: readonly Wait[]): Promise<ReadonlySet<LookupMessage>>;
  /** @throws unless the message is certainly among the dead letters */
  deadLetter(message: LookupMessage, reason: string): Promise<void>;
}

export interface Wait {
  readonly message: LookupMessage;
  /** 1 to 900. */
  readonly seconds: number;
}

/** Port: the bus. */
export interface LookupBus {
  /** @returns for each entry whether the bus has taken it */
  publish(entries: readonly BusDetail[]): Promise<readonly boolean[]>;
}

export interface BusDetail {
  readonly detailType: string;
  readonly detail: string;
}

/** The result of a batch, for metrics. */
export interface LookupReport {
  readonly answered: number;
  readonly failed: number;
  /** Put back to wait. */
  readonly waiting: number;
  /** Copies of requests that are completed or in progress. */
  readonly duplicates: number;
  readonly poisoned: number;
  /** Left to the queue's redelivery: a store, the queue, the bus or the gateway failed. */
  readonly undone: number;
  /** How often the batch asked the gateway. */
  readonly calls: number;
  /** From the queue to the reply, for each that was answered or failed, in milliseconds. */
  readonly ages: readonly number[];
  /** Why something was left undone. */
  readonly causes: readonly unknown[];
}
