/** When calls of each kind are due for a requester of this instance. */

import type { Priority } from '../../limiter/index.ts';
import { minuteMs, type SnapshotOptions } from './options.ts';
import type { RefreshLog } from './refresh-log.ts';
import type { RefreshKind } from './store.ts';
import type { UpstreamStatus } from './upstream-status.ts';

export class RefreshSchedule {
  readonly #log: RefreshLog;
  readonly #upstream: UpstreamStatus;
  readonly #options: SnapshotOptions;
  readonly #clock: () => number;

  constructor(log: RefreshLog, upstream: UpstreamStatus, options: SnapshotOptions, clock: () => number) {
    this.#log = log;
    this.#upstream = upstream;
    this.#options = options;
    this.#clock = clock;
  }

  /** When a requester may try to acquire a lease of this kind. */
  dueAt(kind: RefreshKind, priority: Priority): number {
    const now = this.#clock();
    const due = Math.max(this.#log.due(kind, now), this.#upstream.notBefore(kind, priority));
    if (kind !== 'probe' || priority === 'interactive') return due;
    // Half of the probes are reserved for clients.
    const { left, at } = this.#log.control.probes;
    const { probeBurst, probesPerMinute } = this.#options;
    return Math.max(due, Math.min(at, now) + ((probeBurst / 2 - left) * minuteMs) / probesPerMinute);
  }

  /** When a refresh is due. Where there are clients, one of their requests refreshes, with more urgency. */
  refreshDueAt(isEventDriven: boolean): number {
    return isEventDriven
      ? this.dueAt('refresh', 'background') + 2 * this.#options.paceMs
      : this.dueAt('refresh', 'interactive');
  }

  /** Whether this instance asks the upstream for no misses before then, and no other does now. */
  isPausedUntil(end: number, priority: Priority): boolean {
    return (
      Math.min(this.dueAt('miss', priority), this.dueAt('probe', priority)) >= end &&
      this.#log.flights(this.#clock()).length === 0
    );
  }
}
