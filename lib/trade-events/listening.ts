/** A listener while it has the lease: a plain value of its ports and of what it knows. Its steps are functions that take it. */

import type { Lease } from '../listener/lease.ts';
import { Bell } from '../listener/runtime.ts';
import type { Shift } from '../listener/shift.ts';
import type { StreamCredential, TradeEventParts } from './ports.ts';
import type { EventStream } from './stream.ts';

export interface EventListening extends TradeEventParts {
  readonly shift: Shift;
  readonly lease: Lease;
  readonly accountList: AccountList;
  readonly upstreamClock: UpstreamClock;
  readonly agenda: ComparisonAgenda;
  /** Rings when an event is added to the outbox. */
  readonly outboxBell: Bell;
  credential: StreamCredential;
  /** The present stream, or the last one. */
  stream: EventStream | undefined;
  /** Resolves when that stream is closed. */
  streaming: Promise<unknown>;
  /** Resolves when each message that was received is written, or given up. */
  writing: Promise<void>;
}

/** Accounts that were read longer ago are read again at the next stream: an operator may have opened another one. */
const freshMs = 600_000;

/**
 * The accounts of one app key. They are read while another listener still has the lease, and known ones are good enough for
 * a stream: a hand-over must not wait for the limiter.
 */
export class AccountList {
  readonly #parts: TradeEventParts;
  /** Empty before the first read. */
  known: readonly string[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<boolean> | undefined;

  constructor(parts: TradeEventParts) {
    this.#parts = parts;
  }

  /** Resolves to whether any account is known; at once where one is. Never rejects. */
  async ready(): Promise<boolean> {
    if (this.known.length === 0) return this.#refresh();
    if (this.#parts.clock() - this.#readAt > freshMs) void this.#refresh();
    return true;
  }

  /** Reads them again for the next stream. Resolves at once where some are known. Never rejects. */
  async prepare(): Promise<void> {
    const reading = this.#refresh();
    if (this.known.length === 0) await reading;
  }

  /** Makes one read at a time. */
  #refresh(): Promise<boolean> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<boolean> {
    const { accounts, orders, report, clock } = this.#parts;
    try {
      const found = accounts ?? (await orders.accounts());
      if (found.length === 0) throw new Error('the app key has no account');
      this.known = found;
      this.#readAt = clock();
      return true;
    } catch (cause) {
      report({ kind: 'failed', step: 'accounts', cause });
      return false;
    }
  }
}

/** A listener that signs cannot be off by more: the upstream would refuse its signatures. */
const maxOffsetMs = 600_000;

/** The upstream's time, as far as its messages show it: changes are dated by it, and a listener's own clock may be off. */
export class UpstreamClock {
  readonly #clock: () => number;
  #offset: number | undefined;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock() + (this.#offset ?? 0);
  }

  /** A message is never older than it seems: the least delayed one shows the most. */
  note(timestamp: number, receivedAt: number): void {
    const offset = timestamp - receivedAt;
    if (Math.abs(offset) <= maxOffsetMs) this.#offset = Math.max(offset, this.#offset ?? offset);
  }
}

export interface LookUp {
  readonly account: string;
  readonly clientOrderId: string;
  readonly at: number;
  readonly failures: number;
}

/** A replacement is followed by another one within this time more often than later. */
const lookAfterMs = 1_000;

/** Comparison and look-ups that are due, and when. */
export class ComparisonAgenda {
  readonly bell = new Bell();
  compareAt = Number.POSITIVE_INFINITY;
  /** One for each order. */
  readonly lookUps = new Map<string, LookUp>();
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get nextAt(): number {
    return Math.min(this.compareAt, ...[...this.lookUps.values()].map(({ at }) => at));
  }

  /** Asks for a comparison at once, because changes may have been missed. */
  compareNow(): void {
    this.compareAt = this.#clock();
    this.bell.ring();
  }

  lookUpSoon({ account, clientOrderId }: Pick<LookUp, 'account' | 'clientOrderId'>): void {
    const at = this.#clock() + lookAfterMs;
    this.lookUps.set(JSON.stringify([account, clientOrderId]), { account, clientOrderId, at, failures: 0 });
    this.bell.ring();
  }
}
