/**
 * How the store, the upstream and the competition for refresh leases do, as this instance knows: whether it may ask
 * now, or has to wait.
 */

import { type BackOff, backOffMs } from '../../kernel/pauses.ts';
import type { Priority } from '../../limiter/index.ts';
import { StoreThrottled } from '../../limiter/store-throttled.ts';
import { minuteMs, type UpstreamError } from './ports.ts';
import type { RefreshKind, RefreshRecord, SnapshotCheckpoint } from './store.ts';

/** How long an instance that began in a storm, or was throttled, keeps requests from waiting in it. */
const crowdedMs = 2000;

/** Wait after a failure, in which the store is not asked. */
const downBackOff: BackOff = { firstMs: 1000, maxMs: 2500 };
/** Wait after throttling: the store is there, and wants fewer requests. */
const throttledBackOff: BackOff = { firstMs: 100, maxMs: 2000 };
/** After throttling polls are up to this many times further apart, and come closer again with each success. */
const maxPollScale = 32;
/** Distance of the refreshes that an instance without a store makes for itself alone. */
const alonePaceMs = 3000;

/** Whether this instance may ask the store: back-off after failures, another after throttling, crowding in a storm. */
export class StoreHealth {
  readonly #random: () => number;
  #downUntil = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #throttledUntil = Number.NEGATIVE_INFINITY;
  #throttles = 0;
  #crowdedUntil = Number.NEGATIVE_INFINITY;
  #pollScale = 1;
  #aloneDue = Number.NEGATIVE_INFINITY;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Whether the store has failed, so that this instance is on its own for a while. */
  isDown(now: number): boolean {
    return now < this.#downUntil;
  }

  mayAsk(now: number): boolean {
    return now >= this.#downUntil && now >= this.#throttledUntil;
  }

  /** Whether so many instances began together, or the store throttles so, that no request should wait in this one. */
  isCrowded(now: number): boolean {
    return now < this.#crowdedUntil;
  }

  /** Factor by which polls are further apart than usual. */
  get pollScale(): number {
    return this.#pollScale;
  }

  /** When an instance without a store refreshes for itself. */
  get aloneDue(): number {
    return this.#aloneDue;
  }

  setCrowded(now: number): void {
    this.#crowdedUntil = Math.max(this.#crowdedUntil, now + crowdedMs);
  }

  setRefreshedAlone(now: number): void {
    this.#aloneDue = now + alonePaceMs;
  }

  succeed(): void {
    this.#failures = 0;
    this.#throttles = 0;
    this.#pollScale = Math.max(1, 0.95 * this.#pollScale);
  }

  fail(cause: unknown, now: number): void {
    if (cause instanceof StoreThrottled) {
      this.setCrowded(now);
      if (now < this.#throttledUntil) return;
      const pauseMs = backOffMs(throttledBackOff, this.#throttles++);
      this.#throttledUntil = now + pauseMs * (0.5 + this.#random());
      this.#pollScale = Math.min(maxPollScale, 2 * this.#pollScale);
      return;
    }
    if (now < this.#downUntil) return;
    // Instances begin at different moments, each after it has served from memory for a while.
    if (this.#failures === 0) this.#aloneDue = now + (0.3 + 0.7 * this.#random()) * alonePaceMs;
    this.#downUntil = now + backOffMs(downBackOff, this.#failures++);
  }

  /**
   * Takes note of a failure to read or write something that an instance can do without: misses, checkpoints and
   * streamed batches. An instance that can read control item and log is not on its own, so that only throttling counts.
   */
  failOptional(cause: unknown, now: number): void {
    if (cause instanceof StoreThrottled) this.fail(cause, now);
  }
}

interface PastRefresh {
  readonly at: number;
  readonly kind: RefreshKind;
  readonly caller: string | undefined;
}

/** After this many failures in a row the upstream is down, until `downMs` after the pause that follows. */
const failuresToDown = 3;
const downMs = 2000;
/** How long after a probe found no permit probes come before refreshes. */
const starvedMs = 2000;

/** How the upstream and the limiter do, as the refresh log tells all instances: what is refused, paused or down. */
export class UpstreamStatus {
  readonly #forbidden = new Map<string, { readonly error: UpstreamError; readonly until: number }>();
  /** Refreshes of the last minute. */
  #recent: PastRefresh[] = [];
  #notBefore = 0;
  /** Until then this instance alone does not ask. */
  #notBeforeHere = 0;
  readonly #permitsFrom = new Map<`${RefreshKind} ${Priority}`, number>();
  /** When a probe that a client waits for last found no permit. */
  #starvedAt = Number.NEGATIVE_INFINITY;
  #last = { at: 0, failures: 0, downUntil: 0 };

  apply(record: RefreshRecord, now: number): void {
    const { outcome, view } = record;
    if (outcome.kind === 'forbidden')
      this.#forbidden.set(view, { error: outcome.error, until: outcome.until });
    // No instance pauses for longer than a minute: a wrong clock wrote a later time.
    const until = outcome.kind === 'failed' ? Math.min(outcome.notBefore, now + minuteMs) : 0;
    if (outcome.kind === 'failed') this.#pause(record, outcome.upstream, until);
    this.#count(record, until + downMs);
  }

  #pause(record: RefreshRecord, byUpstream: boolean, notBefore: number): void {
    const { kind, priority = 'interactive', sentAt, isUnlistedProbe } = record;
    if (byUpstream) {
      this.#notBefore = Math.max(this.#notBefore, notBefore);
      return;
    }
    // Calls of another kind or priority may still find a permit.
    const key = `${kind} ${priority}` as const;
    this.#permitsFrom.set(key, Math.max(this.#permitsFrom.get(key) ?? 0, notBefore));
    // A probe of an unlisted symbol can wait: the symbol counts as unknown meanwhile.
    if (key === 'probe interactive' && !isUnlistedProbe) this.#starvedAt = Math.max(this.#starvedAt, sentAt);
  }

  #count({ kind, caller, sentAt, outcome }: RefreshRecord, downUntil: number): void {
    this.#recent.push({ at: sentAt, kind, caller });
    if (sentAt < this.#last.at) return;
    if (outcome.kind !== 'failed') this.#last = { at: sentAt, failures: 0, downUntil: 0 };
    else if (outcome.upstream) this.#last = { at: sentAt, failures: this.#last.failures + 1, downUntil };
  }

  /** Why the upstream refuses the view to every caller; undefined when it does not. */
  forbidden(viewId: string, now: number): UpstreamError | undefined {
    const found = this.#forbidden.get(viewId);
    return found && found.until > now ? found.error : undefined;
  }

  /** Keeps this instance from asking until then, for a reason that others may not have. */
  pauseHere(until: number): void {
    this.#notBeforeHere = Math.max(this.#notBeforeHere, until);
  }

  /** The time before which this instance makes no such call: there is no permit, or the upstream does not answer. */
  notBefore(kind: RefreshKind, priority: Priority): number {
    const permitsFrom = this.#permitsFrom.get(`${kind} ${priority}`) ?? 0;
    return Math.max(this.#notBefore, this.#notBeforeHere, permitsFrom);
  }

  /** How many calls in a row the upstream has left without an answer. */
  get failures(): number {
    return this.#last.failures;
  }

  /** Whether the last `failuresToDown` calls failed. */
  get isFailing(): boolean {
    return this.#last.failures >= failuresToDown;
  }

  /** Whether no request waits for the upstream, until it is time for one of them to try again. */
  isDown(now: number): boolean {
    return this.isFailing && now < this.#last.downUntil;
  }

  /** Whether probes find no permit, so that a refresh would take the next one from them. */
  areProbesStarved(now: number): boolean {
    return now - this.#starvedAt < starvedMs;
  }

  /** Refreshes of a kind in the last minute, for one caller or for all. */
  recentCount(kind: RefreshKind, now: number, caller?: string): number {
    return this.#lastMinute(now).filter(
      (one) => one.kind === kind && (caller === undefined || one.caller === caller),
    ).length;
  }

  /** The part of a checkpoint that tells an instance that begins how the upstream does. */
  checkpoint(now: number): Pick<SnapshotCheckpoint, 'recent' | 'forbidden' | 'pause'> {
    const forbidden = [...this.#forbidden].flatMap(([view, { error, until }]) =>
      until > now ? [[view, error, until] as const] : [],
    );
    const pause = { notBefore: this.#notBefore, ...this.#last };
    return {
      recent: this.#lastMinute(now).map(({ at, kind, caller = '' }) => [at, kind, caller] as const),
      ...(forbidden.length > 0 && { forbidden }),
      ...((pause.failures > 0 || pause.notBefore > now) && { pause }),
    };
  }

  load({ recent, forbidden = [], pause }: ReturnType<UpstreamStatus['checkpoint']>, now: number): void {
    const latest = Math.max(0, ...this.#recent.map(({ at }) => at));
    for (const [at, kind, caller] of recent)
      if (at > latest) this.#recent.push({ at, kind, caller: caller === '' ? undefined : caller });
    for (const [view, error, until] of forbidden)
      if (until > (this.#forbidden.get(view)?.until ?? now)) this.#forbidden.set(view, { error, until });
    if (!pause) return;
    // Bounded like the pause in a refresh record.
    this.#notBefore = Math.max(this.#notBefore, Math.min(pause.notBefore, now + minuteMs));
    const { failures, at, downUntil } = pause;
    if (at > this.#last.at)
      this.#last = { at, failures, downUntil: Math.min(downUntil, now + minuteMs + downMs) };
  }

  #lastMinute(now: number): readonly PastRefresh[] {
    if (this.#recent.some(({ at }) => at <= now - minuteMs))
      this.#recent = this.#recent.filter(({ at }) => at > now - minuteMs);
    return this.#recent;
  }
}

/** `acquired`: the outcome of the calls is known by now. `lost`: another instance has the lease. `idle`: nothing is to be asked for. */
export type AcquireResult = 'acquired' | 'lost' | 'idle';

const firstMs = 20;
const maxMs = 160;
/** Instances that begin in the same second and may all try. */
const startsAtOnce = 8;

/**
 * Back-off under contention for refresh leases. A lost attempt costs as much as a successful one, and in a storm
 * hundreds of instances would try at the same moment. An instance that is alone does not back off at all.
 */
export class Contention {
  readonly #random: () => number;
  #rangeMs = 0;
  #drawn = { sequence: -1, ms: 0 };

  constructor(random: () => number) {
    this.#random = random;
  }

  /** How long to wait when a refresh is due, in milliseconds; the same as long as the last lease is the same. */
  delayMs(lastSequence: number): number {
    if (this.#drawn.sequence !== lastSequence)
      this.#drawn = { sequence: lastSequence, ms: this.#random() * this.#rangeMs };
    return this.#drawn.ms;
  }

  /**
   * Whether a request may try to acquire a lease, in a storm in which `starts` instances began in a second: as many
   * of them as do not get in each other's way, and fewer after each loss.
   */
  mayTry(starts: number): boolean {
    return this.#random() * Math.max(starts / startsAtOnce, this.#rangeMs / firstMs) < 1;
  }

  record(result: AcquireResult): void {
    if (result === 'lost') this.#rangeMs = Math.min(maxMs, Math.max(firstMs, 2 * this.#rangeMs));
    else if (result === 'acquired') this.#rangeMs = this.#rangeMs < firstMs ? 0 : 0.8 * this.#rangeMs;
  }
}
