/** An instance's reading of the store: the control item as last seen, and each entry of the journal once. */

import { currentMs, entrySlackMs, type Figures, flightMs } from './figures.ts';
import type { Runtime } from './ports.ts';
import { type Control, type Entry, type Flight, noControl, type QuoteStore, type TurnKind } from './store.ts';

/** After a failure of the store it is left alone for so long, and longer after each further one. */
const firstAwayMs = 1000;
const longestAwayMs = 2500;
/** Without a store an instance refreshes for itself alone, this often. */
const alonePaceMs = 3000;
/** A time further ahead than this was written by a clock that is wrong. */
const mostAheadMs = 15_000;
/** Entries that are late and asked for one by one; more at once would be a journal with holes. */
const mostMissing = 8;

export interface Journal {
  readonly control: Control;
  /** Whether what is known is what the store says now. */
  isCurrent(now: number): boolean;
  /** Whether it is time to look again. */
  isOld(now: number): boolean;
  /** Whether the store has failed, so that this instance is on its own for a while. */
  isAway(now: number): boolean;
  /** Looks now, together with whoever does already. Never rejects. */
  poll(): Promise<void>;
  /** From when on a turn of a kind may be taken. */
  due(kind: TurnKind, now: number): number;
  /** Turns that were taken and whose outcome may still come. */
  flights(now: number): readonly Flight[];
  saw(control: Control): void;
  /** What a refused write says: the control item as it certainly is. */
  lostTo(control: Control): void;
  /** What this instance did: in a turn, or (turn 0) for itself alone. */
  sawOwn(entry: Entry): void;
  failed(now: number): void;
}

export function createJournal(
  store: QuoteStore,
  { clock, random }: Runtime,
  figures: Figures,
  learn: (entry: Entry, now: number) => void,
): Journal {
  const { boundMs, paceMs, pollMs, upstreamTimeoutMs } = figures;
  /** As many turns as there can be within the bound. */
  const lookBack = Math.ceil(boundMs / paceMs);
  let control = noControl;
  let readAt = Number.NEGATIVE_INFINITY;
  let awayUntil = Number.NEGATIVE_INFINITY;
  let awayMs = firstAwayMs;
  let aloneDue = Number.NEGATIVE_INFINITY;
  let polling: Promise<void> | undefined;
  /** The last turn whose entry was read. */
  let upTo = 0;
  /** Turns before it whose entries were not there, and since when they are missed. */
  const missing = new Map<number, number>();
  /** Turns whose entries were read, as far as anybody could still ask. */
  const read = new Set<number>();

  function take(entries: readonly Entry[], now: number): void {
    for (const entry of [...entries].sort((a, b) => a.turn - b.turn)) {
      if (read.has(entry.turn)) continue;
      read.add(entry.turn);
      missing.delete(entry.turn);
      for (let turn = upTo + 1; turn < entry.turn; turn++) if (!read.has(turn)) missing.set(turn, now);
      upTo = Math.max(upTo, entry.turn);
      // Nobody could say how old its records are, and they would stand in the way of others.
      if (entry.sentAt <= now + mostAheadMs) learn(entry, now);
    }
    for (const turn of read) if (turn < upTo - 2 * lookBack) read.delete(turn);
    for (const [turn, since] of missing)
      if (now - since > upstreamTimeoutMs + entrySlackMs) missing.delete(turn);
  }

  async function look(now: number): Promise<void> {
    // Whoever was away for long has nothing to catch up with that would still be served.
    if (now - readAt > boundMs) {
      const { control: found } = await store.read(undefined, []);
      upTo = Math.max(upTo, found.turn - lookBack);
      missing.clear();
    }
    const news = await store.read(upTo, [...missing.keys()].slice(-mostMissing));
    take(news.entries, now);
    saw(news.control);
    // From its end on, or a store that takes longer than what counts as current could never be looked at.
    readAt = clock();
    awayMs = firstAwayMs;
  }

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

  function failed(now: number): void {
    if (now < awayUntil) return;
    // Not all instances at the same moment, and none before it has served from memory for a while.
    if (awayMs === firstAwayMs) aloneDue = now + (0.3 + 0.7 * random()) * alonePaceMs;
    awayUntil = now + awayMs;
    awayMs = Math.min(longestAwayMs, 2 * awayMs);
  }

  return {
    get control() {
      return control;
    },
    isCurrent: (now) => now - readAt < currentMs,
    isOld: (now) => now - readAt >= pollMs,
    isAway: (now) => now < awayUntil,
    poll() {
      const now = clock();
      if (now < awayUntil) return Promise.resolve();
      polling ??= look(now)
        .catch(() => failed(clock()))
        .finally(() => {
          polling = undefined;
        });
      return polling;
    },
    due(kind, now) {
      if (now < awayUntil && kind === 'refresh') return aloneDue;
      const due = control.due[kind];
      return due > now + mostAheadMs ? Number.NEGATIVE_INFINITY : due;
    },
    flights: (now) =>
      control.flights.filter(({ turn, at }) => !read.has(turn) && Math.abs(now - at) < flightMs),
    saw,
    lostTo,
    sawOwn(entry) {
      const now = clock();
      if (entry.turn > 0) take([entry], now);
      else {
        learn(entry, now);
        aloneDue = now + alonePaceMs;
      }
    },
    failed,
  };
}
