/** The parts of the snapshot cache in one instance, put together. */

import { steadyClock } from '../../kernel/age.ts';
import { sleep as sleepWithTimer } from '../../kernel/pauses.ts';
import { Contention } from './contention.ts';
import { type DirectoryPorts, SymbolDirectory } from './directory.ts';
import { SnapshotMemory } from './memory.ts';
import { defaultSnapshotOptions, type SnapshotOptions } from './options.ts';
import type { AskUpstream, RefreshPermits, Runtime } from './ports.ts';
import { Refresher } from './refresh.ts';
import { RefreshLog } from './refresh-log.ts';
import { RefreshSchedule } from './refresh-schedule.ts';
import type { SnapshotStore } from './store.ts';
import type { StreamedLog } from './streamed.ts';
import { StreamedReader } from './streamed-reader.ts';

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
