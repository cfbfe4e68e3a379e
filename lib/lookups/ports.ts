/** What lookups by event need: a memory of requests, a queue, a bus. Each is a port of plain functions. */

/** Port: which requests there were, and what each was answered. Rejects when it cannot tell. */
export interface LookupStore {
  /** Takes a request for `owner`, unless somebody has it or it is answered and published. */
  claim(call: ClaimCall): Promise<Claim>;
  /**
   * Keeps the reply; what is not kept must not be published. `lost` when somebody else took the request over
   * meanwhile, `too_large` when the store has no room for so much.
   */
  answer(id: string, owner: string, reply: StoredReply): Promise<'kept' | 'lost' | 'too_large'>;
  /** The bus has all of the reply. */
  published(id: string, now: number): Promise<void>;
  /** Gives a claim back, so that the request can be taken at once. */
  release(id: string, owner: string): Promise<void>;
}

export interface ClaimCall {
  readonly id: string;
  /** Of what is asked; a request is another one when it differs. */
  readonly hash: string;
  readonly owner: string;
  readonly now: number;
  /** Until when nobody else may take it; after that its owner counts as dead. */
  readonly leaseUntil: number;
  /** Until when the request is remembered. */
  readonly expiresAt: number;
}

export type Claim =
  /** `reply` is there when an earlier owner answered and died before he could publish it. */
  | { readonly kind: 'ours'; readonly reply?: StoredReply }
  | { readonly kind: 'busy'; readonly until: number }
  | { readonly kind: 'published'; readonly reply: StoredReply }
  /** The id belongs to a request for something else. */
  | { readonly kind: 'other' };

/** Exactly what is published: the same texts, however often. */
export interface StoredReply {
  readonly detailType: string;
  /** JSON, one for each event. */
  readonly details: readonly string[];
}

/** A message of the queue. */
export interface LookupMessage {
  /** Of this delivery, for the list of those that failed. */
  readonly id: string;
  readonly body: string;
  /** When it came into the queue first, in milliseconds since the epoch. */
  readonly sentAt: number;
  /** How often it has waited. */
  readonly waits: number;
}

/** Port: the queue. */
export interface LookupQueue {
  /**
   * Puts copies into the queue that appear later.
   * @returns those that could not be put there
   */
  putAgain(waits: readonly Wait[]): Promise<ReadonlySet<LookupMessage>>;
  /** @throws when the message is not there for certain */
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

/** What became of a batch, for metrics. */
export interface LookupReport {
  readonly answered: number;
  readonly failed: number;
  /** Put back to wait. */
  readonly waiting: number;
  /** Copies of requests that were answered already or are being answered. */
  readonly duplicates: number;
  readonly poisoned: number;
  /** Left to the queue's redelivery: something of ours did not work. */
  readonly undone: number;
  /** How often the gateway was asked for all of them. */
  readonly calls: number;
  /** From the queue to the reply, for each that was answered or failed, in milliseconds. */
  readonly ages: readonly number[];
  /** Why something was left undone. */
  readonly causes: readonly unknown[];
}
