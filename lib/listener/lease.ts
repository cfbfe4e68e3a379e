/**
 * The lease of the one listener. Clocks of machines differ, so that no time of one machine is compared with a clock of
 * another: a contender takes over a lease whose record has not changed for a whole lease, by its own monotonic clock,
 * and the owner stops a margin before that, by its own, counted from before it asked for the renewal.
 */

import type { ListenerRuntime } from './runtime.ts';

/** Port: leases, and the knowledge that goes to a successor. Each method rejects when the store cannot be asked. */
export interface LeaseStore {
  /**
   * Acquires the lease, unless another owner holds it: the store compares no time with a clock. A read
   * sees every write that was answered before.
   */
  acquire(call: AcquireCall): Promise<Acquired>;
  /** False when the lease is another's: the owner must end its stream at once. */
  renew(lease: string, owner: string, state: LeaseState): Promise<boolean>;
  /** Frees the lease for a successor at once; what the state says of the stream stays. */
  release(lease: string, owner: string, state: LeaseState): Promise<void>;
}

export interface AcquireCall {
  /** The lease's name: one listener has it. What is known of orders and events is kept under it. */
  readonly lease: string;
  readonly owner: string;
  /** The lease's end by the caller's clock, like `endsAt`: other listeners compare the two with each other, and with no clock. */
  readonly until: number;
  /** When the caller means to hand over. */
  readonly endsAt: number;
  /** A record that has not changed for a whole lease: the lease is taken over, unless the record has changed since. */
  readonly expired?: LeaseRecord;
}

export type Acquired =
  | { readonly kind: 'acquired'; readonly state: LeaseState }
  | { readonly kind: 'held'; readonly record: LeaseRecord };

/** A lease as a contender sees it. Its owner changes `until` with each renewal. */
export interface LeaseRecord extends Pick<LeaseState, 'until' | 'endsAt'> {
  readonly owner: string;
}

/** Knowledge that goes from the owner to its successor. */
export interface LeaseState {
  /** The lease's end, and the announced hand-over, by the clock of its owner alone. */
  readonly until: number;
  readonly endsAt: number;
  /** Time of a stream's last sign of life: later messages may be lost. Absent before the first stream. */
  readonly lastSignAt?: number;
  /** No stream is opened before: the upstream asked for a pause. */
  readonly notBefore?: number;
  /** The keyed name of a secret that the upstream refused: not tried again before `notBefore`, unless another secret is there. */
  readonly refusedSecret?: string;
  /** Number of times in a row that the upstream asked for a pause: each doubles the next. */
  readonly refusals?: number;
  /**
   * Earlier changes that a read shows have been compared. Absent before the first stream. It counts for an account that no
   * comparison has met yet.
   */
  readonly comparedAt?: number;
  /** The same time of each account, by keyed name: an account that was away is behind the others when it comes back. */
  readonly comparedByAccount?: Readonly<Record<string, number>>;
  /**
   * Ids of the market stream's sessions. When the next listener connects with such an id, the upstream closes the
   * predecessor's connection, and does not count it.
   */
  readonly sessionIds?: readonly string[];
}

/** A lease that is not renewed for so long belongs to the next listener. In milliseconds, like all that follows. */
export const leaseMs = 12_000;
/** How often the owner renews it. */
const renewEveryMs = 3_000;
/** How often a successor looks whether the lease is free. */
const pollMs = 100;
/** A run waits so long for the lease: a little more than the schedule's minute. */
const waitMs = 75_000;
/** The owner counts its lease as lost so long before it runs out: time to close its stream. */
const marginMs = 2_000;

type LeaseFailure = { readonly kind: 'failed'; readonly step: 'store'; readonly cause: unknown };

export interface LeaseParts extends ListenerRuntime<LeaseFailure> {
  readonly store: LeaseStore;
}

export interface LeaseCall {
  readonly name: string;
  readonly owner: string;
  /** When this listener means to hand over, by its own clock. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
  /** Called when the lease will be free soon. A contender that is not prepared by then leaves it to one that is. */
  readonly prepare?: () => Promise<unknown>;
}

/**
 * Waits for the lease until just beyond the next start of the schedule. Gives up where the owner renews the lease and means
 * to keep it for longer.
 */
export async function acquireLease(parts: LeaseParts, call: LeaseCall): Promise<Lease | undefined> {
  const { store, clock, monotonic, report } = parts;
  const { name: lease, owner, endsAt, signal, prepare } = call;
  const watch = new LeaseWatch();
  const giveUpAt = monotonic() + Math.min(waitMs, endsAt - clock());
  let isPrepared = false;
  while (!signal.aborted && monotonic() < giveUpAt) {
    let pauseMs = 4 * pollMs;
    const askedAt = monotonic();
    try {
      const until = clock() + leaseMs;
      const expired = watch.expired(askedAt);
      const acquired = await store.acquire({ lease, owner, until, endsAt, ...(expired && { expired }) });
      if (acquired.kind === 'acquired') return new Lease(parts, call, acquired.state, askedAt);
      watch.see(acquired.record, askedAt, monotonic());
      const isOverSoon = watch.handsOverBy <= giveUpAt;
      if (watch.isRenewed && !isOverSoon) return undefined;
      if (!isPrepared && (isOverSoon || watch.isOverdue(monotonic()))) {
        await prepare?.();
        isPrepared = true;
      }
      pauseMs = watch.pauseMs(monotonic());
    } catch (cause) {
      report({ kind: 'failed', step: 'store', cause });
    }
    await parts.pause(pauseMs, signal);
  }
  return undefined;
}

/**
 * A contender's view of a lease that another listener holds. The record has times of the owner's clock, which may be off:
 * the contender compares them with each other alone, and measures by its own monotonic clock, like all times here, how long
 * the record stays.
 */
class LeaseWatch {
  /** Without a renewal since the first look, the owner may be dead. */
  isRenewed = false;
  #record: LeaseRecord | undefined;
  /** When the record was written at the latest: its owner counts its lease from before that. */
  #since = Number.POSITIVE_INFINITY;
  /** How much earlier it may have been written. */
  #ageMs = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** @param askedAt when the store was asked; it has answered at `now` */
  see(record: LeaseRecord, askedAt: number, now: number): void {
    const before = this.#record;
    if (record.owner !== before?.owner || record.until !== before.until) {
      this.isRenewed = before !== undefined;
      this.#since = now;
      this.#ageMs = Math.min(now - this.#lookedAt, renewEveryMs);
      this.#record = record;
    }
    this.#lookedAt = askedAt;
  }

  /** The record, if it stayed for a whole lease: its owner has stopped. */
  expired(now: number): LeaseRecord | undefined {
    return now - this.#since >= leaseMs ? this.#record : undefined;
  }

  /** Whether the owner missed two renewals: it may be dead. */
  isOverdue(now: number): boolean {
    return now - this.#since > 2 * renewEveryMs;
  }

  /** When the owner hands over at the latest, by the time that was left when it wrote the record. */
  get handsOverBy(): number {
    const { endsAt, until } = this.#record ?? { endsAt: 0, until: 0 };
    return this.#since + Math.max(0, endsAt - until + leaseMs);
  }

  /** Short when the owner may hand over; otherwise short enough to notice its death within the margin of a lease. */
  pauseMs(now: number): number {
    const handsOverAt = this.handsOverBy - this.#ageMs;
    const next = Math.min(handsOverAt - now, this.#since + leaseMs - now, renewEveryMs / 3);
    return Math.max(pollMs, next);
  }
}

export class Lease {
  readonly name: string;
  /** The next renewal writes it; `note` changes it. */
  state: LeaseState;
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  readonly #parts: LeaseParts;
  readonly #call: LeaseCall;
  readonly #losing = new AbortController();
  /** The lease's end by the monotonic clock. */
  #endsAt: number;
  /** One write after another, so that an older state never overwrites a newer one. */
  #writing: Promise<unknown> = Promise.resolve();

  /** @param askedAt when the store was asked for it, by the monotonic clock */
  constructor(parts: LeaseParts, call: LeaseCall, state: LeaseState, askedAt: number) {
    this.#parts = parts;
    this.#call = call;
    this.name = call.name;
    this.lost = this.#losing.signal;
    this.state = state;
    this.#endsAt = askedAt + leaseMs;
  }

  /** Whether the lease is held now, by this listener's clocks. Ask again after each step that may have taken long. */
  isHeld(): boolean {
    const { clock, monotonic } = this.#parts;
    // A monotonic clock stands still while its machine is suspended; the other one does not.
    const leftMs = Math.min(this.#endsAt - monotonic(), this.state.until - clock());
    if (leftMs <= marginMs) this.#losing.abort();
    return !this.lost.aborted;
  }

  /** Changes what the next renewal writes; a member that is undefined is left out. */
  note(change: { readonly [K in keyof LeaseState]?: LeaseState[K] | undefined }): void {
    const merged = Object.entries({ ...this.state, ...change }).filter(([, value]) => value !== undefined);
    this.state = Object.fromEntries(merged) as unknown as LeaseState;
  }

  /** Writes the state, and prolongs the lease. A failure is reported; the lease then runs out in its time. */
  renew(): Promise<void> {
    const writing = this.#writing.then(() => this.#renew());
    this.#writing = writing;
    return writing;
  }

  async #renew(): Promise<void> {
    const { store, clock, monotonic, report } = this.#parts;
    if (!this.isHeld()) return;
    const askedAt = monotonic();
    // Later with each renewal, also when the clock was set back: contenders see by it that the owner lives.
    const until = Math.max(clock() + leaseMs, this.state.until + 1);
    try {
      const isOurs = await store.renew(this.name, this.#call.owner, { ...this.state, until });
      if (isOurs) {
        this.#endsAt = askedAt + leaseMs;
        this.note({ until });
      } else this.#losing.abort();
    } catch (cause) {
      report({ kind: 'failed', step: 'store', cause });
    }
    this.isHeld();
  }

  /** Renews until the signal aborts, and watches the clock beside: a store may take long to answer. */
  async keep(signal: AbortSignal): Promise<void> {
    const { monotonic, pause } = this.#parts;
    const watch = async () => {
      while (!signal.aborted && this.isHeld()) await pause(this.#endsAt - marginMs - monotonic(), signal);
    };
    const renew = async () => {
      while (!signal.aborted && this.isHeld()) {
        await this.renew();
        await pause(renewEveryMs, signal);
      }
    };
    await Promise.all([watch(), renew()]);
  }

  /** Frees the lease for a successor. */
  async release(): Promise<void> {
    const { store, report } = this.#parts;
    await this.#writing;
    if (!this.isHeld()) return;
    try {
      await store.release(this.name, this.#call.owner, { ...this.state, until: 0 });
    } catch (cause) {
      report({ kind: 'failed', step: 'store', cause });
    }
    this.#losing.abort();
  }
}
