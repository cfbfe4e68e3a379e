/** One instance of the snapshot cache as a plain value, and when its calls of each kind are due. */

import { steadyClock } from '../../kernel/age.ts';
import { sleep as sleepWithTimer } from '../../kernel/pauses.ts';
import type { Priority } from '../../limiter/index.ts';
import { type DirectoryPorts, SymbolDirectory } from './directory.ts';
import { DemandShares } from './fairness.ts';
import { Contention } from './health.ts';
import { SnapshotMemory } from './memory.ts';
import {
  type AskUpstream,
  defaultSnapshotOptions,
  minuteMs,
  type RefreshPermits,
  type Runtime,
  type SnapshotOptions,
} from './ports.ts';
import { RefreshLog } from './refresh-log.ts';
import type { RefreshKind, SnapshotStore } from './store.ts';
import { type StreamedLog, StreamedReader } from './streamed.ts';

export interface SnapshotCacheOptions extends Partial<Runtime> {
  readonly store: SnapshotStore;
  readonly permits: RefreshPermits;
  readonly upstream: AskUpstream;
  /** The log of the market stream. Default: there is none. */
  readonly streamed?: StreamedLog | undefined;
  /** Says which symbols exist. Default: none, and every symbol is probed. */
  readonly directory?: Omit<DirectoryPorts, 'clock'>;
  readonly options?: Partial<SnapshotOptions>;
}

/** The value that the steps of a request and of a refresh work on. */
export interface Instance extends Pick<SnapshotCacheOptions, 'store' | 'permits' | 'upstream'> {
  readonly options: SnapshotOptions;
  readonly runtime: Runtime;
  readonly directory: SymbolDirectory | undefined;
  readonly memory: SnapshotMemory;
  readonly log: RefreshLog;
  readonly contention: Contention;
  readonly shares: DemandShares;
  /** The instance's short name in the refresh log. */
  readonly writer: string;
  /** When the instance last published a miss, by `missKey`. */
  readonly publishedAt: Map<string, number>;
  /** Whether one of its requests makes the refresh that is due. */
  isRefreshing: boolean;
}

/** @param pollMs how old its knowledge of the refresh log may be */
export function createInstance(ports: SnapshotCacheOptions, pollMs?: number): Instance {
  const { store, permits, upstream, streamed } = ports;
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
  return {
    store,
    permits,
    upstream,
    options,
    runtime,
    directory,
    memory,
    log: new RefreshLog({ store, runtime, streamed: reader, pollMs }, options, memory),
    contention: new Contention(random),
    shares: new DemandShares(),
    writer: Math.floor(random() * 2 ** 24).toString(36),
    publishedAt: new Map(),
    isRefreshing: false,
  };
}

/** How many probes may be sent at once. */
export const probeBurst = 240;

/** When a request of the instance may try to acquire a lease of this kind. */
export function dueAt(
  { log, memory, options, runtime }: Instance,
  kind: RefreshKind,
  priority: Priority,
): number {
  const now = runtime.clock();
  const due = Math.max(log.due(kind, now), memory.upstream.notBefore(kind, priority));
  if (kind !== 'probe' || priority === 'interactive') return due;
  // Half of the probes are reserved for clients.
  const { left, at } = log.control.probes;
  const untilHalf = ((probeBurst / 2 - left) * minuteMs) / options.probesPerMinute;
  return Math.max(due, Math.min(at, now) + untilHalf);
}

/** When a refresh is due: later for events, because where there are clients, one of their requests refreshes with more urgency. */
export const refreshDueAt = (instance: Instance, isEventDriven: boolean): number =>
  isEventDriven
    ? dueAt(instance, 'refresh', 'background') + 2 * instance.options.paceMs
    : dueAt(instance, 'refresh', 'interactive');

/** Whether this instance asks for no misses before `end`, and no call of any instance is under way. */
export const isPausedUntil = (instance: Instance, end: number, priority: Priority): boolean =>
  Math.min(dueAt(instance, 'miss', priority), dueAt(instance, 'probe', priority)) >= end &&
  instance.log.flights(instance.runtime.clock()).length === 0;
