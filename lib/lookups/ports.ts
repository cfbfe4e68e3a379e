/** Parts of lookups by event: the gateway, a store of requests, a queue and a bus; and the store in memory. */

import type { SnapshotOptions } from '../cache/snapshots/ports.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { Gateway } from '../gateway/gateway.ts';

/** Parts of every lookup, whether its requester waits for the reply or receives it by the bus. */
export interface LookupParts {
  readonly gateway: Pick<Gateway, 'ask'>;
  /** Should be the operations that the gateway offers. Lookups refuse those with a side effect. */
  readonly operations: readonly Operation[];
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  /**
   * The gateway's snapshot options, if they are not the default: the largest age of a quote when the request names no age,
   * and the smallest age that a request can name, in milliseconds.
   */
  readonly ages: Partial<Pick<SnapshotOptions, 'staleAfterMs' | 'minMaxAgeMs'>> | undefined;
  /** Called at the end of every batch and direct call. */
  readonly report: (report: LookupReport) => void;
  /** From 0 to below 1. Default `Math.random`; tests replace it. */
  readonly random?: () => number;
}

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

export const emptyReport = () => ({
  answered: 0,
  failed: 0,
  waiting: 0,
  duplicates: 0,
  poisoned: 0,
  undone: 0,
  calls: 0,
  ages: [] as number[],
  causes: [] as unknown[],
});

/** Sends a copy of a report. Metrics that fail must not cost a requester its reply. */
export function sendReport({ report }: LookupParts, counts: LookupReport): void {
  try {
    report({ ...counts });
  } catch {}
}

interface StoredLookup {
  readonly hash: string;
  owner: string;
  leaseUntil: number;
  readonly expiresAt: number;
  reply?: StoredReply;
  completedAt?: number;
}

/**
 * Creates a store in memory: for tests, and for one process.
 *
 * @param maxBytes size limit of a reply
 *
 * @example
 * const lookups = createLookups({ gateway, operations, store: createMemoryLookupStore(), queue, bus });
 */
export function createMemoryLookupStore(maxBytes = Number.POSITIVE_INFINITY): LookupStore {
  const items = new Map<string, StoredLookup>();
  return {
    async claim({ id, hash, owner, now, leaseUntil, expiresAt }) {
      const item = items.get(id);
      if (!item || item.expiresAt <= now) {
        items.set(id, { hash, owner, leaseUntil, expiresAt });
        return { kind: 'acquired' };
      }
      if (item.hash !== hash) return { kind: 'conflict' };
      if (item.reply && item.completedAt !== undefined) return { kind: 'completed', reply: item.reply };
      // The owner itself claims again if it lost the store's answer.
      if (item.owner !== owner) {
        if (item.leaseUntil > now) return { kind: 'in_progress', until: item.leaseUntil };
        Object.assign(item, { owner, leaseUntil });
      }
      return { kind: 'acquired', ...(item.reply && { reply: item.reply }) };
    },
    async saveReply(id, owner, reply) {
      const item = items.get(id);
      if (!item || item.owner !== owner || item.reply) return 'lost';
      if (JSON.stringify(reply).length > maxBytes) return 'too_large';
      item.reply = reply;
      return 'saved';
    },
    async complete(id, now) {
      const item = items.get(id);
      if (item) item.completedAt = now;
    },
    async release(id, owner) {
      const item = items.get(id);
      if (item?.owner === owner) item.leaseUntil = 0;
    },
  };
}
