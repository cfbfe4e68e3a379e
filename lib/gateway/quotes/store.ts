/**
 * What all instances know of each other: one control item, which says whose turn it is, and a journal of what
 * came of each turn. Whoever takes a turn asks the upstream once and writes what it said; everybody else
 * reads it there.
 */

import type { TurnPriority } from './ports.ts';

/** Why the upstream is asked: to keep quotes fresh, because somebody waits, or to learn whether a symbol exists. */
export type TurnKind = 'refresh' | 'wanted' | 'test';

export interface Control {
  /** The number of the last turn that was taken; 0 before the first. */
  readonly turn: number;
  /** From when on the next turn of a kind may be taken, in milliseconds since the epoch. */
  readonly due: Readonly<Record<TurnKind, number>>;
  /** How many tests may come at once, as of a moment. */
  readonly tests: { readonly left: number; readonly at: number };
  /** Turns whose outcome was not known to whoever took the last one. */
  readonly flights: readonly Flight[];
  /** Quotes that somebody waits for, by `wantKey`, until a turn takes them along. */
  readonly wants: readonly string[];
}

export interface Flight {
  readonly turn: number;
  /** When it was taken, in milliseconds since the epoch. */
  readonly at: number;
  readonly view: string;
  /** The symbols that it asks for, each as 16 bits: two of one mark count as one for so long. */
  readonly marks: readonly number[];
}

export const noControl: Control = {
  turn: 0,
  due: { refresh: 0, wanted: 0, test: 0 },
  // All of them: nobody tested anything before.
  tests: { left: Number.MAX_SAFE_INTEGER, at: 0 },
  flights: [],
  wants: [],
};

/** What becomes of the control item when a turn is taken. */
export interface Turn extends Omit<Control, 'wants'> {
  /** Wants that the turn takes along. */
  readonly takesWants: readonly string[];
}

/** The upstream's own words when it refused. */
export interface UpstreamSays {
  readonly status: number;
  readonly errorCode?: string;
  readonly message?: string;
  /** What it means to whoever wrote it down; opaque here. */
  readonly code?: string;
}

export type TurnOutcome =
  /** Records by symbol, as the upstream sent each; `unknown` were asked for and did not come. */
  | {
      readonly kind: 'answer';
      readonly records: ReadonlyMap<string, Uint8Array>;
      readonly unknown: readonly string[];
    }
  /** At least one of the symbols is refused. */
  | { readonly kind: 'rejected'; readonly says: UpstreamSays }
  /** Nobody gets this view for a while, whatever the symbols. */
  | { readonly kind: 'denied'; readonly says: UpstreamSays; readonly until: number }
  /** Nothing was learnt, and nobody should ask before. */
  | { readonly kind: 'failed'; readonly notBefore: number; readonly upstream: boolean };

/** What came of a turn, for all instances. */
export interface Entry {
  readonly turn: number;
  readonly kind: TurnKind;
  readonly view: string;
  /** The moment just before the upstream was asked, in milliseconds since the epoch: quotes count their age from it. */
  readonly sentAt: number;
  /** What the upstream was asked for. */
  readonly symbols: readonly string[];
  readonly outcome: TurnOutcome;
  /** The other half of a group that was refused whole; if this half is good, that one is not. */
  readonly sibling?: readonly string[];
  /** Symbols that somebody wanted and the writer knows to be unknown, by view, until when. */
  readonly unknown?: readonly (readonly [view: string, symbol: string, until: number])[];
  /** How often clients asked the writer for a symbol since it last said so. */
  readonly asked: readonly (readonly [view: string, symbol: string, times: number])[];
  /** Whose wish caused the turn. */
  readonly caller?: string;
  /** With which the turn asked for its permission; absent when interactive. */
  readonly priority?: Exclude<TurnPriority, 'interactive'>;
  /** The writer has seen that the upstream's words name what is unknown. */
  readonly namesUnknown?: true;
  /** Which callers' tests failed lately, and how many of them are not forgiven yet. */
  readonly failedTests?: readonly (readonly [caller: string, level: number])[];
}

export interface StoreNews {
  readonly control: Control;
  readonly entries: readonly Entry[];
}

/**
 * Port. Rejects when the store cannot be asked or takes too long; it never hangs. What `read` gives may be
 * some milliseconds behind; `take` and `want` decide on what is.
 */
export interface QuoteStore {
  /**
   * The control item and the entries of the turns after `after`, without it of none; beside them those of
   * `missing`, as far as they exist by now.
   */
  read(after: number | undefined, missing: readonly number[]): Promise<StoreNews>;
  /** Succeeds for one of those who want the same turn; the others get the control item as it is. */
  take(turn: Turn): Promise<{ readonly taken: true } | { readonly taken: false; readonly control: Control }>;
  /** Adds to the wants, as long as they stay below `mostWants`; what is there already is no failure. */
  want(keys: readonly string[]): Promise<Control>;
  /** Entries may be dropped a few minutes after they were written. */
  write(entry: Entry): Promise<void>;
}

/** Keeps the control item small: every write of it is paid for by its size. */
export const mostWants = 300;

/** Longer ones are no symbols of anything; they are answered as unknown without asking anybody. */
export const longestSymbol = 32;

export interface Want {
  readonly caller: string;
  readonly view: string;
  readonly symbol: string;
  /** Wanted by somebody whom events drive; clients come first. */
  readonly byEvents?: true;
}

const eventsMark = '~';

export const wantKey = ({ caller, view, symbol, byEvents }: Want): string =>
  `${byEvents ? eventsMark : ''}${caller}/${view}/${symbol}`;

/** The symbol comes last, so that whatever stands in it changes nothing else. */
export function readWant(key: string): Want {
  const [first = '', view = '', ...symbol] = key.split('/');
  const byEvents = first.startsWith(eventsMark);
  return {
    caller: byEvents ? first.slice(eventsMark.length) : first,
    view,
    symbol: symbol.join('/'),
    ...(byEvents && { byEvents }),
  };
}
