/** Refresh leases: one conditional write of the control item says which instance makes the next calls. */

import type { Priority } from '../../limiter/index.ts';
import { StoreThrottled } from '../../limiter/store-throttled.ts';
import type { SnapshotMemory } from './memory.ts';
import { checkpointMs, coalesceMs, minuteMs, type SnapshotOptions } from './options.ts';
import type { PlanInput, RefreshPlan } from './plan-refresh.ts';
import type { RefreshLog } from './refresh-log.ts';
import type { CheckpointMark, RefreshControl, RefreshFlight, RefreshKind, SnapshotStore } from './store.ts';
import { fingerprintOf } from './view-entries.ts';

/** Calls for misses that may follow each other within a minute without the pace of refreshes. */
const missBurst = 250;
/** This many remaining symbols trigger an early call. */
export const manyRemaining = 30;

export interface PlannedCall {
  readonly plan: RefreshPlan;
  readonly priority: Priority;
}

export interface RefreshLease {
  /** The sequence number of its first call; undefined without a store, when this instance calls for itself alone. */
  readonly first: number | undefined;
  /** Whether its holder writes the next checkpoint. */
  readonly writesCheckpoint: boolean;
}

export const flightOf = (
  sequence: number,
  { kind, view, symbols, caller, isUnlistedProbe }: RefreshPlan,
  now: number,
): RefreshFlight => ({
  sequence,
  at: now,
  view,
  fingerprints: symbols.map(fingerprintOf),
  ...(kind === 'probe' && caller !== undefined && { caller }),
  isUnlistedProbe,
});

export class RefreshLeases {
  readonly #store: SnapshotStore;
  readonly #log: RefreshLog;
  readonly #memory: SnapshotMemory;
  readonly #options: SnapshotOptions;
  readonly #clock: () => number;

  constructor(
    store: SnapshotStore,
    log: RefreshLog,
    memory: SnapshotMemory,
    options: SnapshotOptions,
    clock: () => number,
  ) {
    this.#store = store;
    this.#log = log;
    this.#memory = memory;
    this.#options = options;
    this.#clock = clock;
  }

  /** Undefined when another instance has it. */
  async acquire(
    kind: RefreshKind,
    calls: readonly PlannedCall[],
    { flights, now }: PlanInput,
  ): Promise<RefreshLease | undefined> {
    const alone = { first: undefined, writesCheckpoint: false };
    if (this.#log.isStoreDown(now)) return alone;
    const { sequence: after, checkpoint } = this.#log.control;
    const sequence = after + calls.length;
    const writesCheckpoint = this.#log.isComplete && this.#isCheckpointDue(sequence, now);
    const next: RefreshControl = {
      sequence,
      ...this.#pacingAfter(kind, calls, now),
      flights: [...flights, ...calls.map(({ plan }, index) => flightOf(after + 1 + index, plan, now))],
      checkpoint: writesCheckpoint ? this.#checkpointAfter(sequence, now) : checkpoint,
    };
    try {
      const answer = await this.#store.acquire(next, after);
      if (!answer.acquired) {
        this.#log.replaceControl(answer.control);
        return undefined;
      }
      this.#log.updateControl(next);
      return { first: after + 1, writesCheckpoint };
    } catch (cause) {
      this.#log.reportFailure(cause, this.#clock());
      // A store that throttles is there: another instance may have the lease, and this one must not act alone.
      return cause instanceof StoreThrottled ? undefined : alone;
    }
  }

  #isCheckpointDue(sequence: number, now: number): boolean {
    const { checkpoint } = this.#log.control;
    const everyMs = this.#log.isCrowded(now) ? checkpointMs.storm : checkpointMs.calm;
    return sequence >= checkpoint.sequence + checkpoint.gap || now - checkpoint.at >= everyMs;
  }

  /** After a pause there is little to write, and many may begin: at first each lease writes one, then ever fewer do. */
  #checkpointAfter(sequence: number, now: number): CheckpointMark {
    const { at, gap } = this.#log.control.checkpoint;
    const { refreshesPerCheckpoint } = this.#options;
    const next = now - at > 2 * checkpointMs.calm ? 1 : Math.min(refreshesPerCheckpoint, 2 * gap);
    return { sequence, at: now, records: this.#memory.recordsInUse(now), gap: next };
  }

  /** When the next calls are due, after these of one kind. */
  #pacingAfter(
    kind: RefreshKind,
    calls: readonly PlannedCall[],
    now: number,
  ): Pick<RefreshControl, 'due' | 'probes'> {
    const { paceMs } = this.#options;
    const last = calls.at(-1)!;
    const isInteractive = last.priority === 'interactive';
    const due = { ...this.#log.control.due };
    let { probes } = this.#log.control;
    // Evenly, neither making up for a pause nor paying for what came in between: the limiter sees to that.
    if (kind === 'refresh' || (kind === 'miss' && isInteractive)) {
      const next = Math.max(this.#log.due('refresh', now) + paceMs, now + paceMs / 2);
      due.refresh = Math.min(next, now + paceMs);
    }
    // Not at the same moment, or one waits for the other's permit; and not ever later, with probe after probe. Calls
    // for events delay nothing.
    if (kind === 'probe' && isInteractive)
      due.refresh = Math.min(Math.max(due.refresh, now) + paceMs / 2, now + paceMs);
    const soonMs = (last.plan.remaining ?? 0) >= manyRemaining ? coalesceMs.many : coalesceMs.few;
    const isInBurst = this.#memory.upstream.recentCount('miss', now) < missBurst;
    if (kind === 'miss') due.miss = now + (isInBurst ? soonMs : paceMs);
    if (kind === 'probe') {
      probes = this.#probesAfter(calls.length, now);
      due.probe = now + Math.max(soonMs, (1 - probes.left) * this.#msPerProbe);
    }
    return { due, probes };
  }

  #probesAfter(count: number, now: number): RefreshControl['probes'] {
    const { left, at } = this.#log.control.probes;
    const refilled = Math.max(0, now - at) / this.#msPerProbe;
    return { left: Math.min(this.#options.probeBurst, left + refilled) - count, at: now };
  }

  get #msPerProbe(): number {
    return minuteMs / this.#options.probesPerMinute;
  }
}
