/** An instance's reading of the store: the control item as last seen, and each entry of the journal once. */

import { StoreThrottled } from '../../store-throttled.ts';
import {
  calmPart,
  copyMs,
  crowdedMs,
  currentMs,
  entrySlackMs,
  flightMs,
  rejoinMs,
  type SnapshotOptions,
} from './options.ts';
import type { Runtime } from './ports.ts';
import {
  type Checkpoint,
  type Control,
  checkpointCopies,
  type Flight,
  noControl,
  type RefreshKind,
  type RefreshRecord,
  type SnapshotStore,
} from './store.ts';

/** After a failure of the store it is left alone for so long, and longer after each further one. */
const firstAwayMs = 1000;
const longestAwayMs = 2500;
/** The same when it throttles: it is there, and wants fewer requests. */
const firstSlowMs = 100;
const longestSlowMs = 2000;
/** Looks are so much further apart after having been throttled, and come closer again with each that is not. */
const mostPollScale = 32;
/** Without a store an instance refreshes for itself alone, this often. */
const alonePaceMs = 3000;
/** A time further ahead than this was written by a clock that is wrong. */
const mostAheadMs = 15_000;
/** Entries that are late and asked for one by one; more at once would be a journal with holes. */
const mostMissing = 8;
/** A late entry is asked for after so long, and then ever less often: each time is paid for. */
const minLateMs = 50;
const firstLateMs = { calm: 0, storm: 100 } as const;
/** Of the instances that find their copy of the checkpoint too old, one in so many writes it anew. */
const copyWriters = 4;
/** A copy that holds this part of the last checkpoint's records is as good. */
const enough = 0.998;
/** How often an instance looks for a checkpoint that holds what it left out. */
const catchUpMs = 600;
/** So many writers among the last entries are those of a fleet that one poll interval is good for. */
const fewWriters = 24;
const entriesOfWriters = 48;

export interface RefreshLog {
  readonly control: Control;
  /** How many instances began in the same second as this one did last, about. */
  readonly starts: number;
  /** Whether all that the store holds has been read, so that a checkpoint can be made of it. */
  readonly isComplete: boolean;
  /** All entries up to this turn were read, or will never come. */
  readUpTo(now: number): number;
  /** Whether what is known is what the store says now. */
  isCurrent(now: number): boolean;
  /** Whether it is time to look again. */
  isOld(now: number): boolean;
  /** Whether the store has failed, so that this instance is on its own for a while. */
  isAway(now: number): boolean;
  /** Whether so many instances began together, or the store throttles so, that no request should wait in one. */
  isCrowded(now: number): boolean;
  /**
   * Counts a request that is about to wait among the instances that begin in this second: either occupies one. Gives
   * whether it may. Never rejects.
   */
  mayWait(): Promise<boolean>;
  /** Looks now, together with whoever does already. Never rejects. */
  poll(): Promise<void>;
  /** Reads the last checkpoint if this instance left out what is in it, and gives whether it did. Never rejects. */
  catchUp(): Promise<boolean>;
  /** From when on a turn of a kind may be taken. */
  due(kind: RefreshKind, now: number): number;
  /** Turns that were taken and whose outcome may still come. */
  flights(now: number): readonly Flight[];
  saw(control: Control): void;
  /** What a refused write says: the control item as it certainly is. */
  lostTo(control: Control): void;
  /** What this instance did: in a turn, or (turn 0) for itself alone. */
  sawOwn(entry: RefreshRecord): void;
  failed(cause: unknown, now: number): void;
  /**
   * The same of what an instance can do without: misses and checkpoints. While control item and journal can be had
   * it is not on its own, so that only throttling counts.
   */
  failedAside(cause: unknown, now: number): void;
}

/** When a turn's entry was missed first, and when it is asked for again. */
interface Late {
  readonly since: number;
  askAt: number;
}

export interface RefreshLogReader {
  learn(entry: RefreshRecord, now: number): void;
  load(checkpoint: Checkpoint, now: number): void;
}

export function createRefreshLog(
  store: SnapshotStore,
  { clock, random }: Runtime,
  figures: SnapshotOptions,
  reader: RefreshLogReader,
): RefreshLog {
  const { staleAfterMs, paceMs, pollMs, upstreamTimeoutMs, instances } = figures;
  const calmStarts = Math.max(1, instances * calmPart);
  /** As many turns as there can be within the bound. */
  const lookBack = Math.ceil(staleAfterMs / paceMs);
  let control = noControl;
  let readAt = Number.NEGATIVE_INFINITY;
  let joinedAt = Number.NEGATIVE_INFINITY;
  let isComplete = false;
  /** When this instance began in a storm, until what it left out has come. */
  let skippedAt: number | undefined;
  let caughtUp = { turn: 0, notBefore: Number.NEGATIVE_INFINITY };
  let starts = 0;
  let crowdedUntil = Number.NEGATIVE_INFINITY;
  let awayUntil = Number.NEGATIVE_INFINITY;
  let awayMs = firstAwayMs;
  let slowUntil = Number.NEGATIVE_INFINITY;
  let slowMs = firstSlowMs;
  let pollScale = 1;
  let aloneDue = Number.NEGATIVE_INFINITY;
  let polling: Promise<void> | undefined;
  /** The last turn whose entry was read. */
  let upTo = 0;
  /** Turns before it whose entries were not there. */
  const missing = new Map<number, Late>();
  /** Turns whose entries were read, as far as any poll could still ask. */
  const read = new Set<number>();
  /** The instances that wrote the last entries. */
  const writers: string[] = [];

  function take(entries: readonly RefreshRecord[], now: number): void {
    for (const entry of [...entries].sort((a, b) => a.turn - b.turn)) {
      if (read.has(entry.turn)) continue;
      read.add(entry.turn);
      missing.delete(entry.turn);
      for (let turn = upTo + 1; turn < entry.turn; turn++) if (!read.has(turn)) miss(turn, now);
      upTo = Math.max(upTo, entry.turn);
      if (entry.by !== undefined) writers.push(entry.by);
      // Nobody could say how old its records are, and they would stand in the way of others.
      if (entry.sentAt <= now + mostAheadMs) reader.learn(entry, now);
    }
    writers.splice(0, writers.length - entriesOfWriters);
    for (const turn of read) if (turn < upTo - 2 * lookBack) read.delete(turn);
    for (const [turn, { since }] of missing)
      if (now - since > upstreamTimeoutMs + entrySlackMs) missing.delete(turn);
  }

  const miss = (turn: number, now: number) =>
    missing.set(turn, { since: now, askAt: now + firstLateMs[now < crowdedUntil ? 'storm' : 'calm'] });

  /** The late entries to ask for now. */
  function lateAt(now: number): readonly number[] {
    const due = [...missing].filter(([, { askAt }]) => askAt <= now).slice(-mostMissing);
    for (const [, late] of due) late.askAt = now + Math.max(minLateMs, now - late.since);
    return due.map(([turn]) => turn);
  }

  async function look(now: number): Promise<void> {
    if (now - readAt > rejoinMs || (!isComplete && now - joinedAt > rejoinMs)) return join(now);
    const news = await store.read(upTo, lateAt(now));
    take(news.entries, now);
    saw(news.control);
  }

  /**
   * An instance that begins, or was idle for long, takes a checkpoint instead of the journal. In a storm it takes
   * it from a copy, and leaves what was written since then: that comes again within seconds.
   */
  async function join(now: number): Promise<void> {
    starts = await countStart();
    const isStorm = starts > calmStarts;
    if (isStorm) crowdedUntil = now + crowdedMs;
    const copy = isStorm ? anyCopy() : 0;
    const [{ control: found }, first] = await Promise.all([store.read(undefined, []), readCheckpoint(copy)]);
    const checkpoint = isYoung(first, copy, found, now) ? first : await readPrimary(copy, found, now);
    if (checkpoint) load(checkpoint, now);
    isComplete = !isStorm || checkpoint !== undefined || now - lastTurnAt(found) > staleAfterMs;
    joinedAt = now;
    missing.clear();
    skippedAt = isStorm ? now : undefined;
    if (isStorm) {
      upTo = Math.max(upTo, found.turn);
      for (const { turn, at } of found.flights) if (now - at < flightMs && !read.has(turn)) miss(turn, now);
      saw(found);
      return;
    }
    upTo = Math.max(upTo, checkpoint?.turn ?? 0, found.turn - lookBack);
    const news = await store.read(upTo, []);
    take(news.entries, now);
    saw(news.control);
  }

  /**
   * What was written just before this instance began in a storm comes with the next checkpoint: asking the upstream
   * for it would be in vain, and waiting until it is refreshed takes long.
   */
  async function catchUp(now: number): Promise<boolean> {
    const { turn, at } = control.checkpoint;
    if (now < awayUntil || now < slowUntil) return false;
    if (skippedAt === undefined || at <= skippedAt || turn === caughtUp.turn || now < caughtUp.notBefore)
      return false;
    const copy = now < crowdedUntil ? anyCopy() : 0;
    const first = await readCheckpoint(copy);
    const isNew = first !== undefined && first.at > skippedAt && isYoung(first, copy, control, now);
    const checkpoint = isNew ? first : await readPrimary(copy, control, now);
    // The holder of its turn may not have written it yet.
    const hasCome = checkpoint !== undefined && checkpoint.at > skippedAt;
    caughtUp = { turn: hasCome ? turn : 0, notBefore: now + catchUpMs * (0.5 + random()) };
    if (checkpoint) load(checkpoint, now);
    if (hasCome && checkpoint.at > skippedAt + flightMs) skippedAt = undefined;
    return hasCome;
  }

  /** Without what a wrong clock dated: others could not replace it. */
  function load({ fetched, ...checkpoint }: Checkpoint, now: number): void {
    const sane = fetched.filter(({ sentAt }) => sentAt <= now + mostAheadMs);
    reader.load({ ...checkpoint, fetched: sane }, now);
  }

  const anyCopy = () => 1 + Math.floor(random() * checkpointCopies);

  function isYoung(
    checkpoint: Checkpoint | undefined,
    copy: number,
    { turn, checkpoint: last }: Control,
    now: number,
  ): boolean {
    if (!checkpoint || checkpoint.turn < turn - lookBack || checkpoint.turn > turn) return false;
    if (checkpoint.at > now + mostAheadMs) return false;
    if (copy === 0 || checkpoint.at >= last.at) return true;
    return now - checkpoint.at < copyMs && sizeOf(checkpoint) >= enough * last.records;
  }

  /** A copy that is too old is made anew by some of those that find it so. */
  async function readPrimary(copy: number, found: Control, now: number): Promise<Checkpoint | undefined> {
    if (copy === 0) return undefined;
    const checkpoint = await readCheckpoint(0);
    if (!checkpoint || !isYoung(checkpoint, 0, found, now)) return undefined;
    if (random() < 1 / copyWriters) await store.writeCheckpoint(copy, checkpoint).catch(() => {});
    return checkpoint;
  }

  /** An instance does without: it has the journal. */
  const readCheckpoint = (copy: number): Promise<Checkpoint | undefined> =>
    store.readCheckpoint(copy).catch((error: unknown) => {
      if (error instanceof StoreThrottled) crowdedUntil = Math.max(crowdedUntil, clock() + crowdedMs);
      return undefined;
    });

  /** One that cannot be counted is the only one, unless the store has too much to do. */
  const countStart = (): Promise<number> =>
    store.countStart().catch((error: unknown) => {
      if (!(error instanceof StoreThrottled)) return 1;
      crowdedUntil = Math.max(crowdedUntil, clock() + crowdedMs);
      return Number.POSITIVE_INFINITY;
    });

  function saw(found: Control): void {
    // An answer may be older than another that came before it.
    if (found.turn >= control.turn) control = found;
  }

  function lostTo(found: Control): void {
    if (found.turn < control.turn) {
      // A write does not see the past: the journal began anew.
      upTo = 0;
      missing.clear();
      read.clear();
    }
    control = found;
  }

  function failed(cause: unknown, now: number): void {
    if (cause instanceof StoreThrottled) {
      crowdedUntil = Math.max(crowdedUntil, now + crowdedMs);
      if (now < slowUntil) return;
      slowUntil = now + slowMs * (0.5 + random());
      slowMs = Math.min(longestSlowMs, 2 * slowMs);
      pollScale = Math.min(mostPollScale, 2 * pollScale);
      return;
    }
    if (now < awayUntil) return;
    // Not all instances at the same moment, and none before it has served from memory for a while.
    if (awayMs === firstAwayMs) aloneDue = now + (0.3 + 0.7 * random()) * alonePaceMs;
    awayUntil = now + awayMs;
    awayMs = Math.min(longestAwayMs, 2 * awayMs);
  }

  async function mayWait(now: number): Promise<boolean> {
    if (now < awayUntil) return true;
    if (now < crowdedUntil) return false;
    const count = await countStart();
    if (count <= calmStarts) return true;
    crowdedUntil = now + crowdedMs;
    return false;
  }

  /** The more instances serve, the further apart each looks, so that together they draw no more. */
  const pollEveryMs = () => pollMs * pollScale * Math.max(1, new Set(writers).size / fewWriters);

  const flightsAt = (now: number) =>
    control.flights.filter(({ turn, at }) => !read.has(turn) && Math.abs(now - at) < flightMs);

  return {
    get control() {
      return control;
    },
    get starts() {
      return starts;
    },
    get isComplete() {
      return isComplete;
    },
    isCurrent: (now) => now - readAt < currentMs,
    isOld: (now) => now - readAt >= pollEveryMs(),
    isAway: (now) => now < awayUntil,
    isCrowded: (now) => now < crowdedUntil,
    poll() {
      const now = clock();
      if (now < awayUntil || now < slowUntil) return Promise.resolve();
      polling ??= look(now)
        .then(
          () => {
            // From its end on, or a store that takes longer than what counts as current could never be looked at.
            readAt = clock();
            awayMs = firstAwayMs;
            slowMs = firstSlowMs;
            pollScale = Math.max(1, 0.95 * pollScale);
          },
          (cause: unknown) => failed(cause, clock()),
        )
        .finally(() => {
          polling = undefined;
        });
      return polling;
    },
    mayWait: () => mayWait(clock()),
    catchUp: () => catchUp(clock()),
    due(kind, now) {
      if (now < awayUntil && kind === 'refresh') return aloneDue;
      const due = control.due[kind];
      return due > now + mostAheadMs ? Number.NEGATIVE_INFINITY : due;
    },
    flights: flightsAt,
    readUpTo: (now) =>
      Math.min(
        upTo,
        ...[...missing.keys(), ...flightsAt(now).map(({ turn }) => turn)].map((turn) => turn - 1),
      ),
    saw,
    lostTo,
    sawOwn(entry) {
      const now = clock();
      if (entry.turn > 0) take([entry], now);
      else {
        reader.learn(entry, now);
        aloneDue = now + alonePaceMs;
      }
    },
    failed,
    failedAside(cause, now) {
      if (cause instanceof StoreThrottled) failed(cause, now);
    },
  };
}

/** When the last turn was taken, within a second or so. */
const lastTurnAt = ({ due, flights }: Control): number =>
  Math.max(due.refresh, due.wanted, ...flights.map(({ at }) => at));

const sizeOf = ({ fetched }: Checkpoint): number =>
  fetched.reduce((total, { records }) => total + records.size, 0);
