/**
 * The lease of the one listener. Clocks of machines differ, so that no time of one machine is compared with a clock of
 * another: a contender takes over a lease whose record has not changed for a whole lease, by its own monotonic clock,
 * and the owner stops a margin before that, by its own, counted from before it asked for the renewal.
 */

import { LeaseWatch } from './lease-watch.ts';
import type { TradeEventTuning } from './listener-options.ts';
import type { Parts } from './parts.ts';
import type { LeaseState, TradeEventStore } from './ports.ts';

/** What a lease is kept with. */
export interface LeaseParts extends Pick<Parts, 'clock' | 'monotonic' | 'pause'> {
  readonly store: Pick<TradeEventStore, 'acquire' | 'renew' | 'release'>;
  readonly tuning: Pick<TradeEventTuning, 'leaseMs' | 'renewEveryMs' | 'pollMs' | 'waitMs' | 'marginMs'>;
  /** Never throws. */
  readonly report: (failure: {
    readonly kind: 'failed';
    readonly step: 'store';
    readonly cause: unknown;
  }) => void;
}

export interface LeaseCall {
  readonly name: string;
  readonly owner: string;
  /** When this listener means to hand over, by its own clock. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
  /** The lease will be free soon. One who is not prepared by then leaves it to one who is. */
  readonly prepare?: () => Promise<unknown>;
}

/**
 * Waits for the lease as long as that makes sense: until just beyond the next start of the schedule. A lease whose owner
 * renews it and goes on after that is left to it.
 */
export async function acquireLease(parts: LeaseParts, call: LeaseCall): Promise<Lease | undefined> {
  const { store, clock, monotonic, tuning, report } = parts;
  const { name: lease, owner, endsAt, signal, prepare } = call;
  const watch = new LeaseWatch(tuning);
  const giveUpAt = monotonic() + Math.min(tuning.waitMs, endsAt - clock());
  let isPrepared = false;
  while (!signal.aborted && monotonic() < giveUpAt) {
    let pauseMs = 4 * tuning.pollMs;
    const askedAt = monotonic();
    try {
      const until = clock() + tuning.leaseMs;
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

export class Lease {
  readonly name: string;
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  readonly #parts: LeaseParts;
  readonly #call: LeaseCall;
  readonly #losing = new AbortController();
  #state: LeaseState;
  /** By the monotonic clock. */
  #endsAt: number;
  /** One write after another, so that an older state never overwrites a newer one. */
  #writing: Promise<unknown> = Promise.resolve();

  /** @param askedAt when the store was asked for it, by the monotonic clock */
  constructor(parts: LeaseParts, call: LeaseCall, state: LeaseState, askedAt: number) {
    this.#parts = parts;
    this.#call = call;
    this.name = call.name;
    this.lost = this.#losing.signal;
    this.#state = state;
    this.#endsAt = askedAt + parts.tuning.leaseMs;
  }

  get state(): LeaseState {
    return this.#state;
  }

  /** By this listener's clocks, now. Ask again after everything that may have taken long. */
  isHeld(): boolean {
    const { clock, monotonic, tuning } = this.#parts;
    // A monotonic clock stands still while its machine is suspended; the other one does not.
    const leftMs = Math.min(this.#endsAt - monotonic(), this.#state.until - clock());
    if (leftMs <= tuning.marginMs) this.#losing.abort();
    return !this.lost.aborted;
  }

  /** What the next renewal says; a member that is undefined is left out. */
  note(change: { readonly [K in keyof LeaseState]?: LeaseState[K] | undefined }): void {
    const merged = Object.entries({ ...this.#state, ...change }).filter(([, value]) => value !== undefined);
    this.#state = Object.fromEntries(merged) as unknown as LeaseState;
  }

  /** Writes the state, and prolongs the lease. A failure is reported; the lease then runs out in its time. */
  renew(): Promise<void> {
    const writing = this.#writing.then(() => this.#renew());
    this.#writing = writing;
    return writing;
  }

  async #renew(): Promise<void> {
    const { store, clock, monotonic, tuning, report } = this.#parts;
    if (!this.isHeld()) return;
    const askedAt = monotonic();
    // Another one with each renewal, also when the clock was set back: contenders see by it that the owner lives.
    const until = Math.max(clock() + tuning.leaseMs, this.#state.until + 1);
    try {
      const isOurs = await store.renew(this.name, this.#call.owner, { ...this.#state, until });
      if (isOurs) {
        this.#endsAt = askedAt + tuning.leaseMs;
        this.note({ until });
      } else this.#losing.abort();
    } catch (cause) {
      report({ kind: 'failed', step: 'store', cause });
    }
    this.isHeld();
  }

  /** Renews until the signal aborts, and watches the clock beside: a store may take long to answer. */
  async keep(signal: AbortSignal): Promise<void> {
    const { monotonic, tuning, pause } = this.#parts;
    const watch = async () => {
      while (!signal.aborted && this.isHeld())
        await pause(this.#endsAt - tuning.marginMs - monotonic(), signal);
    };
    const renew = async () => {
      while (!signal.aborted && this.isHeld()) {
        await this.renew();
        await pause(tuning.renewEveryMs, signal);
      }
    };
    await Promise.all([watch(), renew()]);
  }

  /** A successor may have it at once. */
  async release(): Promise<void> {
    const { store, report } = this.#parts;
    await this.#writing;
    if (!this.isHeld()) return;
    try {
      await store.release(this.name, this.#call.owner, { ...this.#state, until: 0 });
    } catch (cause) {
      report({ kind: 'failed', step: 'store', cause });
    }
    this.#losing.abort();
  }
}
