/**
 * What all instances know of each other: one control item, which says whose turn it is, and a journal of what
 * came of each turn. The instance that takes a turn asks the upstream once and writes what it said; all others
 * read it there. An instance that begins reads a checkpoint, which holds what the journal led to: reading the
 * journal instead would cost many times as much, and in a storm a thousand instances begin within a second.
 */

import type { RefreshPriority } from './ports.ts';

/** Why the upstream is asked: to keep quotes fresh, because somebody waits, or to learn whether a symbol exists. */
export type RefreshKind = 'refresh' | 'wanted' | 'test';

export interface Control {
  /** The number of the last turn that was taken; 0 before the first. */
  readonly turn: number;
  /** From when on the next turn of a kind may be taken, in milliseconds since the epoch. */
  readonly due: Readonly<Record<RefreshKind, number>>;
  /** How many tests may come at once, as of a moment. */
  readonly tests: { readonly left: number; readonly at: number };
  /** Turns whose outcome was not known to whoever took the last one. */
  readonly flights: readonly Flight[];
  readonly checkpoint: CheckpointMark;
}

/** The last checkpoint: with which turn and when it was made, and after how many turns the next is due. */
export interface CheckpointMark {
  readonly turn: number;
  readonly at: number;
  /** How many it held, about. */
  readonly records: number;
  readonly gap: number;
}

export interface Flight {
  readonly turn: number;
  /** When it was taken, in milliseconds since the epoch. */
  readonly at: number;
  readonly view: string;
  /** The symbols that it asks for, each as 16 bits: two of one mark count as one for so long. */
  readonly marks: readonly number[];
  /** Of a test: for whom it is made, and whether it asks for a symbol that the directory does not list. */
  readonly caller?: string;
  readonly isProbe?: true;
}

export const noControl: Control = {
  turn: 0,
  due: { refresh: 0, wanted: 0, test: 0 },
  // All of them: nobody tested anything before.
  tests: { left: Number.MAX_SAFE_INTEGER, at: 0 },
  flights: [],
  checkpoint: { turn: 0, at: 0, records: 0, gap: 1 },
};

/** The upstream's own words when it refused. */
export interface UpstreamError {
  readonly status: number;
  readonly errorCode?: string;
  readonly message?: string;
  /** What it means to whoever wrote it down; opaque here. */
  readonly code?: string;
}

export type RefreshOutcome =
  /** Records by symbol, as the upstream sent each; `unknown` were asked for and did not come. */
  | {
      readonly kind: 'answer';
      readonly records: ReadonlyMap<string, Uint8Array>;
      readonly unknown: readonly string[];
    }
  /** At least one of the symbols is refused. */
  | { readonly kind: 'rejected'; readonly says: UpstreamError }
  /** Nobody gets this view for a while, whatever the symbols. */
  | { readonly kind: 'denied'; readonly says: UpstreamError; readonly until: number }
  /** Nothing was learnt, and nobody should ask before. */
  | { readonly kind: 'failed'; readonly notBefore: number; readonly upstream: boolean };

/** What came of a turn, for all instances. */
export interface RefreshRecord {
  readonly turn: number;
  readonly kind: RefreshKind;
  readonly view: string;
  /** The moment just before the upstream was asked, in milliseconds since the epoch: quotes count their age from it. */
  readonly sentAt: number;
  /** What the upstream was asked for. */
  readonly symbols: readonly string[];
  readonly outcome: RefreshOutcome;
  /** The other half of a group that was refused whole; if this half is good, that one is not. */
  readonly sibling?: readonly string[];
  /** Symbols that somebody wanted and the writer knows to be unknown, by view, until when. */
  readonly unknown?: readonly (readonly [view: string, symbol: string, until: number])[];
  /** How often clients asked the writer for a symbol since it last said so. */
  readonly asked: readonly (readonly [view: string, symbol: string, times: number])[];
  /** Whose wish caused the turn. */
  readonly caller?: string;
  /** With which the turn asked for its permission; absent when interactive. */
  readonly priority?: Exclude<RefreshPriority, 'interactive'>;
  /** The writer has seen that the upstream's words name what is unknown. */
  readonly namesUnknown?: true;
  /** It asked for a symbol that the directory does not list. */
  readonly isProbe?: true;
  /** Which callers' tests failed lately, and how many of them are not forgiven yet. */
  readonly failedTests?: readonly (readonly [caller: string, level: number])[];
  /** A short name of the instance that wrote it. */
  readonly by?: string;
}

/** What an instance knows, for those that begin. */
export interface Checkpoint {
  /** All entries up to this turn are in it. */
  readonly turn: number;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  readonly fetched: readonly Fetched[];
  /** How much each symbol is in demand, and when a client last asked for it. */
  readonly demand: readonly (readonly [view: string, symbol: string, times: number, askedAt: number])[];
  readonly unknown: readonly (readonly [view: string, symbol: string, until: number])[];
  /** Turns of the last minute. */
  readonly past: readonly (readonly [at: number, kind: RefreshKind, caller: string])[];
  readonly failedTests: readonly (readonly [caller: string, level: number])[];
  /** The upstream wants to be left alone, or left the last turns without an answer. */
  readonly pause?: UpstreamPause;
  /** Views that the upstream refuses to every caller for a while. */
  readonly denials?: readonly (readonly [view: string, says: UpstreamError, until: number])[];
}

export interface UpstreamPause {
  readonly notBefore: number;
  /** How many turns in a row failed by the upstream, and when the last of them was sent. */
  readonly failures: number;
  readonly at: number;
  readonly downUntil: number;
}

/** Records of one view that are of the same moment. */
export interface Fetched extends Pick<RefreshRecord, 'view' | 'sentAt' | 'namesUnknown'> {
  readonly records: ReadonlyMap<string, Uint8Array>;
  /** The upstream refused a call for them since: they are tested before they go along with others. */
  readonly isDoubtful?: true;
}

export interface StoreNews {
  readonly control: Control;
  readonly entries: readonly RefreshRecord[];
}

/**
 * Port. Rejects with `StoreThrottled` when the store wants fewer requests, with anything else when it cannot be
 * asked or takes too long; it never hangs. What is read may be some milliseconds behind; `take` decides on what is.
 *
 * The control item and the journal may share a partition of the store. Checkpoint copies, counts of starts and
 * misses must be spread over others, because in a storm each instance reads or writes one of them.
 */
export interface SnapshotStore {
  /**
   * The control item and the entries of the turns after `after`, without it of none; beside them those of
   * `missing`, as far as they exist by now.
   */
  read(after: number | undefined, missing: readonly number[]): Promise<StoreNews>;
  /**
   * Takes the turns after `after` up to that of the new control item. Succeeds for one of those that try the same;
   * the others get the control item as it is.
   */
  take(
    next: Control,
    after: number,
  ): Promise<{ readonly taken: true } | { readonly taken: false; readonly control: Control }>;
  /** Entries may be dropped a few minutes after they were written. */
  write(entry: RefreshRecord): Promise<void>;
  /** Counts an instance that begins, or begins again, and gives about how many did in this second. */
  countStart(): Promise<number>;
  /** @param copy 0 is the one that the holders of turns write; 1 to `checkpointCopies` are copies of it */
  readCheckpoint(copy: number): Promise<Checkpoint | undefined>;
  writeCheckpoint(copy: number, checkpoint: Checkpoint): Promise<void>;
  /** Tells what a request misses, by `wantKey`, to those that take turns in the next seconds. */
  tellMisses(keys: readonly string[]): Promise<void>;
  /** What was told in the last `missMs`; of very much only the latest. */
  readMisses(): Promise<readonly string[]>;
}

/** Partitions that instances which begin in a storm read from: at 7.5 units each for 1,000 symbols, eight serve 3,000 a second. */
export const checkpointCopies = 8;

/** A client that was told to come again tells anew what it misses. */
export const missMs = 2000;

/** Longer ones are no symbols of anything; they are answered as unknown without asking anybody. */
export const longestSymbol = 32;

export interface PendingMiss {
  readonly caller: string;
  /** Tells the requests of one caller apart. */
  readonly request?: string;
  readonly view: string;
  readonly symbol: string;
  /** Wanted by somebody whom events drive; clients come first. */
  readonly byEvents?: true;
}

/** Neither stands in what names a caller. */
const eventsMark = '~';
const requestMark = '.';

export const missKey = ({ caller, request, view, symbol, byEvents }: PendingMiss): string =>
  `${byEvents ? eventsMark : ''}${caller}${request ? `${requestMark}${request}` : ''}/${view}/${symbol}`;

/** The symbol comes last, so that whatever stands in it changes nothing else. */
export function readMiss(key: string): PendingMiss {
  const [first = '', view = '', ...symbol] = key.split('/');
  const byEvents = first.startsWith(eventsMark);
  const [caller = '', request] = (byEvents ? first.slice(eventsMark.length) : first).split(requestMark);
  return {
    caller,
    ...(request && { request }),
    view,
    symbol: symbol.join('/'),
    ...(byEvents && { byEvents }),
  };
}
