/** The parts of the snapshot cache in one instance, and when its calls of each kind are due. */

import { steadyClock } from '../../kernel/age.ts';
import { sleep as sleepWithTimer } from '../../kernel/pauses.ts';
import type { Priority } from '../../limiter/index.ts';
import { type DirectoryPorts, SymbolDirectory } from './directory.ts';
import { Contention, type UpstreamStatus } from './health.ts';
import { SnapshotMemory, StreamedReader } from './memory.ts';
import {
  type AskUpstream,
  defaultSnapshotOptions,
  minuteMs,
  type RefreshPermits,
  type Runtime,
  type SnapshotOptions,
} from './ports.ts';
import { Refresher } from './refresh.ts';
import { RefreshLog } from './refresh-log.ts';
import type { RefreshKind, SnapshotStore } from './store.ts';
import type { StreamedLog } from './streamed.ts';

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

export interface SnapshotCacheOptions extends Partial<Runtime> {
  readonly store: SnapshotStore;
  readonly permits: RefreshPermits;
  readonly upstream: AskUpstream;
  /** What the listener of the market stream tells. Default: there is none. */
  readonly streamed?: StreamedLog | undefined;
  /** Says which symbols exist. Default: none, and every symbol is probed. */
  readonly directory?: Omit<DirectoryPorts, 'clock'>;
  readonly options?: Partial<SnapshotOptions>;
}

export interface Instance {
  readonly options: SnapshotOptions;
  readonly runtime: Runtime;
  readonly store: SnapshotStore;
  readonly directory: SymbolDirectory | undefined;
  readonly memory: SnapshotMemory;
  readonly log: RefreshLog;
  readonly schedule: RefreshSchedule;
  readonly refresher: Refresher;
  readonly contention: Contention;
}

export function createInstance(ports: SnapshotCacheOptions): Instance {
  const { store, streamed } = ports;
  const options: SnapshotOptions = { ...defaultSnapshotOptions, ...ports.options };
  const runtime: Runtime = {
    clock: steadyClock(ports.clock ?? Date.now),
    sleep: ports.sleep ?? sleepWithTimer,
    random: ports.random ?? Math.random,
  };
  const { clock, random } = runtime;
  const directory = ports.directory && new SymbolDirectory({ ...ports.directory, clock });
  const memory = new SnapshotMemory(options, directory, streamed !== undefined);
  const reader = streamed && new StreamedReader(streamed, memory.views);
  const log = new RefreshLog(store, runtime, options, memory, reader);
  const schedule = new RefreshSchedule(log, memory.upstream, options, clock);
  const refresher = new Refresher({ ...ports, runtime, directory }, log, memory, options);
  const contention = new Contention(random);
  return { options, runtime, store, directory, memory, log, schedule, refresher, contention };
}
