/**
 * The store that all instances share: one control item, which grants refresh leases, and a log of the outcome of each refresh.
 * The instance that acquires a lease asks the upstream once and writes the result; all others read it in the log. An
 * instance that begins reads a checkpoint, which holds the state that the log led to: the log itself would cost many
 * times as much to read, and in a storm a thousand instances begin within a second.
 */

import type { Priority } from '../../limiter/index.ts';
import type { UpstreamError } from './ports.ts';

/** Why the upstream is asked: to keep entries fresh, to serve pending misses, or to learn whether symbols exist. */
export type RefreshKind = 'refresh' | 'miss' | 'probe';

export interface RefreshControl {
  /** The number of the last lease that was acquired; 0 before the first. */
  readonly sequence: number;
  /** The time from which the next lease of a kind may be acquired, in milliseconds since the epoch. */
  readonly due: Readonly<Record<RefreshKind, number>>;
  /** How many probes may be sent at once, as of a moment. */
  readonly probes: { readonly left: number; readonly at: number };
  /** Calls under way, whose outcome the holder of the last lease did not know. */
  readonly flights: readonly RefreshFlight[];
  readonly checkpoint: CheckpointMark;
}

/** The last checkpoint: the lease and the time of its making, and the number of leases until the next is due. */
export interface CheckpointMark {
  readonly sequence: number;
  readonly at: number;
  /** How many records it held, about. */
  readonly records: number;
  readonly gap: number;
}

/** A call to the upstream that is under way. */
export interface RefreshFlight {
  readonly sequence: number;
  /** When its lease was acquired, in milliseconds since the epoch. */
  readonly at: number;
  readonly view: string;
  /** The symbols that it asks for, each as 16 bits: two with one fingerprint count as one while the call lasts. */
  readonly fingerprints: readonly number[];
  /** The caller whose quota a probe counts against. */
  readonly caller?: string;
  /** A probe that asks for a symbol that the directory does not list. */
  readonly isUnlistedProbe?: true | undefined;
}

export const noControl: RefreshControl = {
  sequence: 0,
  due: { refresh: 0, miss: 0, probe: 0 },
  // No probe has been sent before.
  probes: { left: Number.MAX_SAFE_INTEGER, at: 0 },
  flights: [],
  checkpoint: { sequence: 0, at: 0, records: 0, gap: 1 },
};

export type RefreshOutcome =
  /** Records by symbol, as the upstream sent each; `unknown` were asked for and did not come. */
  | {
      readonly kind: 'answer';
      readonly records: ReadonlyMap<string, Uint8Array>;
      readonly unknown: readonly string[];
    }
  /** The upstream refuses at least one of the symbols. */
  | { readonly kind: 'rejected'; readonly error: UpstreamError }
  /** The upstream refuses every symbol of this view for a while. */
  | { readonly kind: 'forbidden'; readonly error: UpstreamError; readonly until: number }
  /** The call brought nothing, and no instance should ask before `notBefore`. */
  | { readonly kind: 'failed'; readonly notBefore: number; readonly upstream: boolean };

/** A symbol that is negative-cached in a view, until when. */
export type NegativeItem = readonly [view: string, symbol: string, until: number];

/** How much of its quota of invalid symbols a caller has used. */
export type QuotaLevel = readonly [caller: string, level: number];

/** The outcome of one refresh, for all instances. */
export interface RefreshRecord {
  /** The number of its lease; 0 for a refresh that an instance made without the store, for itself alone. */
  readonly sequence: number;
  readonly kind: RefreshKind;
  readonly view: string;
  /** Just before the upstream was asked, in milliseconds since the epoch: entries count their age from it. */
  readonly sentAt: number;
  /** The symbols that the upstream was asked for. */
  readonly symbols: readonly string[];
  readonly outcome: RefreshOutcome;
  /** The other half of a group that was refused whole; if this half is valid, that one is not. */
  readonly sibling?: readonly string[];
  /** Requested symbols that the writer knows to be unknown to the upstream. */
  readonly negative?: readonly NegativeItem[];
  /** How often clients requested a symbol of the writer since it last flushed the count. */
  readonly demand: readonly (readonly [view: string, symbol: string, times: number])[];
  /** The caller whose request caused the refresh. */
  readonly caller?: string | undefined;
  /** The priority of its permit; absent when interactive. */
  readonly priority?: Exclude<Priority, 'interactive'>;
  /** The writer has seen that the upstream's error messages name the unknown symbol. */
  readonly namesUnknown?: true;
  /** It asked for a symbol that the directory does not list. */
  readonly isUnlistedProbe?: true;
  /** The callers whose probes failed lately. */
  readonly failedProbes?: readonly QuotaLevel[];
  /** A short name of the instance that wrote it. */
  readonly writer?: string;
}

/** The knowledge of an instance, for instances that begin. */
export interface SnapshotCheckpoint {
  /** It holds the outcome of all refreshes up to this one. */
  readonly sequence: number;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  readonly fetched: readonly FetchedRecords[];
  /** How much each symbol is in demand, and when a client last requested it. */
  readonly demand: readonly (readonly [view: string, symbol: string, times: number, requestedAt: number])[];
  readonly negative: readonly NegativeItem[];
  /** Refreshes of the last minute. */
  readonly recent: readonly (readonly [at: number, kind: RefreshKind, caller: string])[];
  readonly failedProbes: readonly QuotaLevel[];
  /** The upstream asked for a pause, or left the last calls without an answer. */
  readonly pause?: UpstreamPause;
  /** Views that the upstream refuses to every caller for a while. */
  readonly forbidden?: readonly (readonly [view: string, error: UpstreamError, until: number])[];
}

interface UpstreamPause {
  readonly notBefore: number;
  /** How many calls in a row the upstream failed, and when the last of them was sent. */
  readonly failures: number;
  readonly at: number;
  readonly downUntil: number;
}

/** Records of one view that are of the same moment. */
export interface FetchedRecords extends Pick<RefreshRecord, 'view' | 'sentAt' | 'namesUnknown'> {
  readonly records: ReadonlyMap<string, Uint8Array>;
  /** The upstream refused a call for them since: they are probed before they are asked for with others. */
  readonly isSuspect?: true;
}

export interface RefreshLogUpdate {
  readonly control: RefreshControl;
  readonly records: readonly RefreshRecord[];
}

export type LeaseAnswer =
  | { readonly acquired: true }
  /** Another instance was faster; the control item as it certainly is. */
  | { readonly acquired: false; readonly control: RefreshControl };

/**
 * Port. Rejects with `StoreThrottled` when the store wants fewer requests, with anything else when it cannot be
 * asked or takes too long; it never hangs. What is read may be some milliseconds behind; `acquire` decides on the
 * current state.
 *
 * The control item and the log may share a partition of the store. Checkpoint copies, counts of starts and misses
 * must be spread over others, because in a storm each instance reads or writes one of them.
 */
export interface SnapshotStore {
  /**
   * The control item and the log's records after `after` (none when it is undefined); beside them those of
   * `missing`, as far as they exist by now.
   */
  read(after: number | undefined, missing: readonly number[]): Promise<RefreshLogUpdate>;
  /**
   * Acquires the leases after `after` up to the sequence number of the new control item. Of concurrent attempts
   * exactly one succeeds.
   */
  acquire(next: RefreshControl, after: number): Promise<LeaseAnswer>;
  /** The store may drop a record a few minutes after it was written. */
  write(record: RefreshRecord): Promise<void>;
  /** Counts an instance that begins, or begins again, and gives about how many did in this second. */
  countStart(): Promise<number>;
  /** @param copy 0 is the primary, which holders of leases write; 1 to `checkpointCopies` are copies of it */
  readCheckpoint(copy: number): Promise<SnapshotCheckpoint | undefined>;
  writeCheckpoint(copy: number, checkpoint: SnapshotCheckpoint): Promise<void>;
  /** Publishes the misses of a request, by `missKey`, to the requests that acquire leases in the next seconds. */
  writeMisses(keys: readonly string[]): Promise<void>;
  /** The misses of the last `missMs`; only the latest when there are very many. */
  readMisses(): Promise<readonly string[]>;
}

/** Partitions that instances which begin in a storm read from: at 7.5 units each for 1,000 symbols, eight serve 3,000 a second. */
export const checkpointCopies = 8;

/** How long a pending miss lasts: a client that comes again publishes anew what it misses. */
export const missMs = 2000;

/**
 * The name of a store's partition, which one operation of one account shares.
 *
 * @param account by a name that does not show its app key, and contains no `#`
 */
export const snapshotPartition = (
  account: string,
  { id, hasAccountPartition }: { readonly id: string; readonly hasAccountPartition?: true },
): string => (hasAccountPartition ? account : `${account}#${id}`);

/** A later time was written by a clock that is wrong. */
export const maxAheadMs = 15_000;

/** A longer text is no symbol; it is answered as unknown without asking the upstream. */
export const maxSymbolLength = 32;

export interface PendingMiss {
  readonly caller: string;
  /** Tells the requests of one caller apart. */
  readonly request?: string;
  readonly view: string;
  readonly symbol: string;
  /** Events wait for it and no client: clients come first. */
  readonly isEventDriven?: true;
}

/** Neither occurs in the name of a caller. */
const eventsMark = '~';
const requestMark = '.';

export const missKey = ({ caller, request, view, symbol, isEventDriven }: PendingMiss): string =>
  `${isEventDriven ? eventsMark : ''}${caller}${request ? `${requestMark}${request}` : ''}/${view}/${symbol}`;

/** The symbol comes last, so that any character in it leaves the other parts intact. */
export function readMiss(key: string): PendingMiss {
  const [first = '', view = '', ...symbol] = key.split('/');
  const isEventDriven = first.startsWith(eventsMark);
  const [caller = '', request] = (isEventDriven ? first.slice(eventsMark.length) : first).split(requestMark);
  return {
    caller,
    ...(request && { request }),
    view,
    symbol: symbol.join('/'),
    ...(isEventDriven && { isEventDriven }),
  };
}

/** Far more records than any instance looks back. */
const maxRecords = 1024;
const maxMisses = 500;

export function createMemorySnapshotStore(clock: () => number = Date.now): SnapshotStore {
  let control: RefreshControl = noControl;
  const log = new Map<number, RefreshRecord>();
  const checkpoints = new Map<number, SnapshotCheckpoint>();
  let misses: { readonly at: number; readonly keys: readonly string[] }[] = [];
  return {
    async read(after, missing) {
      const records: RefreshRecord[] = [];
      for (const sequence of missing) {
        const record = log.get(sequence);
        if (record && (after === undefined || sequence <= after)) records.push(record);
      }
      if (after !== undefined) {
        const first = Math.max(after + 1, control.sequence - maxRecords);
        for (let sequence = first; sequence <= control.sequence; sequence++) {
          const record = log.get(sequence);
          if (record) records.push(record);
        }
      }
      return { control, records };
    },
    async acquire(next, after) {
      if (control.sequence !== after) return { acquired: false, control };
      control = next;
      return { acquired: true };
    },
    async write(record) {
      log.set(record.sequence, record);
      log.delete(record.sequence - maxRecords);
    },
    /** One process has room for all requests that wait: none of them occupies an instance. */
    async countStart() {
      return 1;
    },
    async readCheckpoint(copy) {
      return checkpoints.get(copy);
    },
    async writeCheckpoint(copy, checkpoint) {
      checkpoints.set(copy, checkpoint);
    },
    async writeMisses(keys) {
      misses = [...misses.slice(1 - maxMisses), { at: clock(), keys }];
    },
    async readMisses() {
      const since = clock() - missMs;
      misses = misses.filter(({ at }) => at > since);
      return [...new Set(misses.flatMap(({ keys }) => keys))];
    },
  };
}
