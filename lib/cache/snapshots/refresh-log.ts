/** An instance's reading of the store: the control item as last seen, and each record of the refresh log once. */

import { StoreThrottled } from '../../limiter/store-throttled.ts';
import { StoreHealth } from './health.ts';
import { type Runtime, type SnapshotOptions, upstreamTimeoutMs } from './ports.ts';
import {
  checkpointCopies,
  maxAheadMs,
  noControl,
  type RefreshControl,
  type RefreshFlight,
  type RefreshKind,
  type RefreshRecord,
  type SnapshotCheckpoint,
  type SnapshotStore,
} from './store.ts';
import type { StreamedReader } from './streamed.ts';

/** How much later than the upstream's last possible answer a record may come. */
const recordSlackMs = 1000;

/** How many late records one read asks for. */
const maxMissing = 8;
/** A late record is asked for after this time, and then ever less often: each time is paid for. */
const minLateMs = 50;

/** When a record was missed first, and when it is asked for again. */
interface MissingRecord {
  readonly since: number;
  askAt: number;
}

/** Tells records of the log that this instance has read from late ones: holders of leases write when they are done. */
class LogPosition {
  /** How many records an instance looks back at most. */
  readonly lookBack: number;
  #upTo = 0;
  /** Records up to `upTo` that had not been written when they were read. */
  readonly #missing = new Map<number, MissingRecord>();
  /** Records that were read, as far back as any poll could still ask. */
  readonly #read = new Set<number>();

  constructor(lookBack: number) {
    this.lookBack = lookBack;
  }

  /** The last record that was read. */
  get upTo(): number {
    return this.#upTo;
  }

  get missing(): readonly number[] {
    return [...this.#missing.keys()];
  }

  hasRead(sequence: number): boolean {
    return this.#read.has(sequence);
  }

  /** Takes note of a record and of the gap before it, whose records are asked for `lateMs` from now on. */
  setRead(sequence: number, now: number, lateMs: number): void {
    this.#read.add(sequence);
    this.#missing.delete(sequence);
    for (let earlier = this.#upTo + 1; earlier < sequence; earlier++)
      if (!this.#read.has(earlier)) this.setMissing(earlier, now, lateMs);
    this.skipTo(sequence);
  }

  setMissing(sequence: number, now: number, lateMs: number): void {
    this.#missing.set(sequence, { since: now, askAt: now + lateMs });
  }

  /** Gives up missing records: an instance that begins anew has them from a checkpoint. */
  clearMissing(): void {
    this.#missing.clear();
  }

  /** Skips unread records up to this one. */
  skipTo(sequence: number): void {
    this.#upTo = Math.max(this.#upTo, sequence);
  }

  /** The log began anew. */
  reset(): void {
    this.#upTo = 0;
    this.#missing.clear();
    this.#read.clear();
  }

  /** Forgets records that no poll asks for any more, and gives up those that can no longer come. */
  prune(now: number): void {
    for (const sequence of this.#read)
      if (sequence < this.#upTo - 2 * this.lookBack) this.#read.delete(sequence);
    for (const [sequence, { since }] of this.#missing)
      if (now - since > upstreamTimeoutMs + recordSlackMs) this.#missing.delete(sequence);
  }

  /** The late records to ask for now. */
  takeDueMissing(now: number): readonly number[] {
    const due = [...this.#missing].filter(([, { askAt }]) => askAt <= now).slice(-maxMissing);
    for (const [, late] of due) late.askAt = now + Math.max(minLateMs, now - late.since);
    return due.map(([sequence]) => sequence);
  }
}

/** After this time no request counts on the outcome of a call any more; it may still come. */
const flightMs = 1500;
/**
 * After this time without a poll an instance begins again: ten log records, at 206 ms each, cost as much as a
 * checkpoint of a thousand symbols.
 */
const rejoinMs = 2000;
/** Part of the instances that may begin or wait within a second without a storm; each wait is four seconds at most. */
const calmPart = 1 / 32;
export const defaultPollMs = 70;
/** A read that is younger than this counts as the store's current state. */
const currentMs = 15;

/** In a storm a missing record is asked for later than at once. */
const firstLateMs = { calm: 0, storm: 100 } as const;
/** How often an instance asks for a checkpoint with the records that it skipped. */
const catchUpMs = 600;
/** The poll interval is made for a fleet with this many writers among the last records. */
const fewWriters = 24;
const writersToCount = 48;

interface RefreshLogPorts {
  readonly store: SnapshotStore;
  readonly runtime: Runtime;
  readonly streamed?: Pick<StreamedReader, 'poll'> | undefined;
  /** How old an instance's knowledge of the log may be. Default `defaultPollMs`. */
  readonly pollMs?: number | undefined;
}

/** Receives each record once, and checkpoints. */
interface RefreshLogListener {
  apply(record: RefreshRecord, now: number): void;
  load(checkpoint: SnapshotCheckpoint, now: number): void;
}

export class RefreshLog {
  readonly health: StoreHealth;
  readonly #ports: RefreshLogPorts;
  readonly #options: SnapshotOptions;
  readonly #listener: RefreshLogListener;
  readonly #position: LogPosition;
  /** A second with more starts is a storm. */
  readonly #calmStarts: number;
  /** The instances that wrote the last records. */
  readonly #writers: string[] = [];
  #control = noControl;
  #readAt = Number.NEGATIVE_INFINITY;
  #joinedAt = Number.NEGATIVE_INFINITY;
  #isComplete = false;
  #concurrentStarts = 0;
  /** When this instance began in a storm; undefined once a checkpoint has brought the records that it skipped. */
  #skippedAt: number | undefined;
  #caughtUp = { sequence: 0, notBefore: Number.NEGATIVE_INFINITY };
  #polling: Promise<void> | undefined;

  constructor(ports: RefreshLogPorts, options: SnapshotOptions, listener: RefreshLogListener) {
    const { staleAfterMs, paceMs, instances } = options;
    this.#ports = ports;
    this.#options = options;
    this.#listener = listener;
    this.#calmStarts = Math.max(1, instances * calmPart);
    this.health = new StoreHealth(ports.runtime.random);
    // As many records as there can be within the soft bound.
    this.#position = new LogPosition(Math.ceil(staleAfterMs / paceMs));
  }

  get control(): RefreshControl {
    return this.#control;
  }

  /** About how many instances began in the second in which this one last did. */
  get concurrentStarts(): number {
    return this.#concurrentStarts;
  }

  /** Whether the instance has read all that the store holds, so that it can write a checkpoint. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The record up to which all were read, or will never come. */
  readUpTo(now: number): number {
    const open = [...this.#position.missing, ...this.flights(now).map(({ sequence }) => sequence)];
    return Math.min(this.#position.upTo, ...open.map((sequence) => sequence - 1));
  }

  /** Whether the last read counts as the store's current state. */
  isJustRead(now: number): boolean {
    return now - this.#readAt < currentMs;
  }

  /** Whether it is time to poll. The more instances serve, the less often each polls: the total read cost stays. */
  isPollDue(now: number): boolean {
    const fleet = Math.max(1, new Set(this.#writers).size / fewWriters);
    const { pollMs = defaultPollMs } = this.#ports;
    return now - this.#readAt >= pollMs * this.health.pollScale * fleet;
  }

  /** From when on a lease of a kind may be acquired. */
  due(kind: RefreshKind, now: number): number {
    if (this.health.isDown(now) && kind === 'refresh') return this.health.aloneDue;
    const due = this.#control.due[kind];
    return due > now + maxAheadMs ? Number.NEGATIVE_INFINITY : due;
  }

  /** Calls under way whose outcome may still come. */
  flights(now: number): readonly RefreshFlight[] {
    return this.#control.flights.filter(
      ({ sequence, at }) => !this.#position.hasRead(sequence) && Math.abs(now - at) < flightMs,
    );
  }

  /**
   * Counts a request that is about to wait among the instances that begin in this second: either occupies one.
   * Returns whether it may. Never rejects.
   */
  async mayWait(): Promise<boolean> {
    const now = this.#ports.runtime.clock();
    if (this.health.isDown(now)) return true;
    if (this.health.isCrowded(now)) return false;
    const count = await this.#countStart();
    if (count <= this.#calmStarts) return true;
    this.health.setCrowded(now);
    return false;
  }

  /** Reads new records; concurrent polls share one read. Never rejects. */
  poll(): Promise<void> {
    const { clock } = this.#ports.runtime;
    const now = clock();
    if (!this.health.mayAsk(now)) return Promise.resolve();
    this.#polling ??= Promise.all([this.#readNew(now), this.#readStreamed(now)])
      .then(
        () => {
          // Counts from the end of the read, or a slow store's state would never be current.
          this.#readAt = clock();
          this.health.succeed();
        },
        (cause: unknown) => this.health.fail(cause, clock()),
      )
      .finally(() => {
        this.#polling = undefined;
      });
    return this.#polling;
  }

  /**
   * Reads the last checkpoint if this instance skipped records that it holds, and returns whether it did. Records that
   * were written just before an instance began in a storm come with the next checkpoint: asking the upstream for them
   * would be in vain, and waiting until they are refreshed takes long. Never rejects.
   */
  async catchUp(): Promise<boolean> {
    const now = this.#ports.runtime.clock();
    const { sequence, at } = this.#control.checkpoint;
    if (!this.health.mayAsk(now) || this.#skippedAt === undefined || at <= this.#skippedAt) return false;
    if (sequence === this.#caughtUp.sequence || now < this.#caughtUp.notBefore) return false;
    const copy = this.#chooseCopy(this.health.isCrowded(now));
    const first = await this.#readCheckpoint(copy);
    const found = first && first.at > this.#skippedAt ? first : undefined;
    const checkpoint = await this.#usableCheckpoint(found, copy, this.#control, now);
    // The holder of its lease may not have written it yet.
    const hasCome = checkpoint !== undefined && checkpoint.at > this.#skippedAt;
    const notBefore = now + catchUpMs * (0.5 + this.#ports.runtime.random());
    this.#caughtUp = { sequence: hasCome ? sequence : 0, notBefore };
    if (checkpoint) this.#load(checkpoint, now);
    if (hasCome && checkpoint.at > this.#skippedAt + flightMs) this.#skippedAt = undefined;
    return hasCome;
  }

  updateControl(found: RefreshControl): void {
    // An answer may be older than another that came before it.
    if (found.sequence >= this.#control.sequence) this.#control = found;
  }

  /** Takes the control item of a refused write: that is the current one for certain. */
  replaceControl(found: RefreshControl): void {
    // A write does not see the past: the log began anew.
    if (found.sequence < this.#control.sequence) this.#position.reset();
    this.#control = found;
  }

  /** Applies a refresh of this instance: with a lease, or (sequence 0) for itself alone. */
  applyOwn(record: RefreshRecord): void {
    const now = this.#ports.runtime.clock();
    if (record.sequence > 0) {
      this.#applyNew([record], now);
      return;
    }
    this.#listener.apply(record, now);
    this.health.setRefreshedAlone(now);
  }

  /** Never rejects: an instance can do without streamed values. */
  async #readStreamed(now: number): Promise<void> {
    try {
      await this.#ports.streamed?.poll(now);
    } catch (cause) {
      this.health.failOptional(cause, now);
    }
  }

  async #readNew(now: number): Promise<void> {
    const isLate = now - this.#readAt > rejoinMs;
    if (isLate || (!this.#isComplete && now - this.#joinedAt > rejoinMs)) return this.#join(now);
    const update = await this.#ports.store.read(this.#position.upTo, this.#position.takeDueMissing(now));
    this.#applyNew(update.records, now);
    this.updateControl(update.control);
  }

  /**
   * An instance that begins, or was idle for long, reads a checkpoint instead of the log. In a storm it reads a copy,
   * and skips records that were written since then: their symbols are refreshed within seconds.
   */
  async #join(now: number): Promise<void> {
    this.#concurrentStarts = await this.#countStart();
    const isStorm = this.#concurrentStarts > this.#calmStarts;
    if (isStorm) this.health.setCrowded(now);
    const copy = this.#chooseCopy(isStorm);
    const [{ control }, first] = await Promise.all([
      this.#ports.store.read(undefined, []),
      this.#readCheckpoint(copy),
    ]);
    const checkpoint = await this.#usableCheckpoint(first, copy, control, now);
    if (checkpoint) this.#load(checkpoint, now);
    const isIdle = now - lastLeaseAt(control) > this.#options.staleAfterMs;
    this.#isComplete = !isStorm || checkpoint !== undefined || isIdle;
    this.#joinedAt = now;
    this.#position.clearMissing();
    this.#skippedAt = isStorm ? now : undefined;
    if (isStorm) return this.#skipTo(control, now);
    this.#position.skipTo(Math.max(checkpoint?.sequence ?? 0, control.sequence - this.#position.lookBack));
    const update = await this.#ports.store.read(this.#position.upTo, []);
    this.#applyNew(update.records, now);
    this.updateControl(update.control);
  }

  /** Skips the records that were written so far, except those of calls under way. */
  #skipTo(control: RefreshControl, now: number): void {
    this.#position.skipTo(control.sequence);
    for (const { sequence, at } of control.flights)
      if (now - at < flightMs && !this.#position.hasRead(sequence))
        this.#position.setMissing(sequence, now, this.#lateMs(now));
    this.updateControl(control);
  }

  #applyNew(records: readonly RefreshRecord[], now: number): void {
    for (const record of [...records].sort((a, b) => a.sequence - b.sequence)) {
      if (this.#position.hasRead(record.sequence)) continue;
      this.#position.setRead(record.sequence, now, this.#lateMs(now));
      if (record.writer !== undefined) this.#writers.push(record.writer);
      // A wrong clock dated others: their age would be unknown, and later records could not replace them.
      if (record.sentAt <= now + maxAheadMs) this.#listener.apply(record, now);
    }
    this.#writers.splice(0, this.#writers.length - writersToCount);
    this.#position.prune(now);
  }

  #lateMs(now: number): number {
    return firstLateMs[this.health.isCrowded(now) ? 'storm' : 'calm'];
  }

  /** Any copy in a storm; otherwise 0, the primary. */
  #chooseCopy(isStorm: boolean): number {
    return isStorm ? 1 + Math.floor(this.#ports.runtime.random() * checkpointCopies) : 0;
  }

  /** Undefined when there is none or it cannot be read: an instance does without, because it has the log. */
  #readCheckpoint(copy: number): Promise<SnapshotCheckpoint | undefined> {
    return this.#ports.store.readCheckpoint(copy).catch((error: unknown) => {
      if (error instanceof StoreThrottled) this.health.setCrowded(this.#ports.runtime.clock());
      return undefined;
    });
  }

  /** The checkpoint that was read if it is young enough, otherwise the primary; some of the readers then renew the copy. */
  async #usableCheckpoint(
    found: SnapshotCheckpoint | undefined,
    copy: number,
    control: RefreshControl,
    now: number,
  ): Promise<SnapshotCheckpoint | undefined> {
    const { store, runtime } = this.#ports;
    if (isUsable(found, copy, control, now, this.#position.lookBack)) return found;
    if (copy === 0) return undefined;
    const primary = await this.#readCheckpoint(0);
    if (!primary || !isUsable(primary, 0, control, now, this.#position.lookBack)) return undefined;
    if (runtime.random() < 1 / copyWriters) await store.writeCheckpoint(copy, primary).catch(() => {});
    return primary;
  }

  /** Loads a checkpoint without what a wrong clock dated: other records could not replace it. */
  #load({ fetched, ...checkpoint }: SnapshotCheckpoint, now: number): void {
    const sane = fetched.filter(({ sentAt }) => sentAt <= now + maxAheadMs);
    this.#listener.load({ ...checkpoint, fetched: sane }, now);
  }

  /** An instance that cannot be counted counts as the only one, unless the store throttles. */
  #countStart(): Promise<number> {
    return this.#ports.store.countStart().catch((error: unknown) => {
      if (!(error instanceof StoreThrottled)) return 1;
      this.health.setCrowded(this.#ports.runtime.clock());
      return Number.POSITIVE_INFINITY;
    });
  }
}

/** When the last lease was acquired, within a second or so. */
const lastLeaseAt = ({ due, flights }: RefreshControl): number =>
  Math.max(due.refresh, due.miss, ...flights.map(({ at }) => at));

/** A copy of the checkpoint that is younger than this need not be the last one: what it lacks is refreshed within seconds. */
const copyMs = 8000;
/** One in this many instances that find their copy too old writes it anew. */
const copyWriters = 4;
/** A copy with this part of the last checkpoint's records will do. */
const sufficientPart = 0.998;

function isUsable(
  checkpoint: SnapshotCheckpoint | undefined,
  copy: number,
  { sequence, checkpoint: last }: RefreshControl,
  now: number,
  lookBack: number,
): boolean {
  if (!checkpoint || checkpoint.sequence < sequence - lookBack || checkpoint.sequence > sequence)
    return false;
  if (checkpoint.at > now + maxAheadMs) return false;
  if (copy === 0 || checkpoint.at >= last.at) return true;
  return now - checkpoint.at < copyMs && sizeOf(checkpoint) >= sufficientPart * last.records;
}

const sizeOf = ({ fetched }: SnapshotCheckpoint): number =>
  fetched.reduce((total, { records }) => total + records.size, 0);
