/**
 * Which symbols of a category may go along with others in a call. One that the upstream does not know may fail the
 * whole call, so that a symbol goes along once the directory lists it or the upstream gave a record of it. Until
 * then it is tested among others of which neither is known. A call that failed is halved: if one half is good, a bad
 * one is in the other, without asking. In the end a symbol is unknown only when it was refused alone, or when the
 * upstream's words name it and their words have proved right before. One that exists is doubted only in the view where it failed, and is unknown only when it fails there alone; one that is
 * served there, when it fails alone twice, and not in the same bad moment of the upstream's.
 */

import type { SnapshotOptions } from './options.ts';
import type { RefreshRecord, UpstreamError } from './store.ts';
import { namedBy, noMessage, withoutMessage } from './upstream-error.ts';
import { plainId } from './view.ts';

/** Symbols of a call that was refused. They are tested together, and not with others. */
export interface SuspectGroup {
  readonly symbols: readonly string[];
  /** If this group is good, then that one is not. */
  readonly sibling: readonly string[];
  readonly says: UpstreamError;
  /** In which view it was asked for, and for whom. */
  readonly view: string;
  readonly caller: string;
  /** When the call was sent. */
  readonly at: number;
  /** When a symbol that is served failed alone for the first time. */
  readonly failedAt?: number;
}

export interface NegativeEntry {
  /** In which it was asked for. */
  readonly view: string;
  readonly until: number;
  /** How the upstream refused it; absent when it left it out of its answer. */
  readonly says?: UpstreamError;
  /** It was served until now: it still counts as proven, and if it fails once more, is unknown for long. */
  readonly isFirst?: true;
}

export interface Served {
  /** In the entry's view. */
  here(symbol: string): boolean;
  elsewhere(symbol: string): boolean;
}

export interface SymbolStatus {
  /** Whether the upstream's words have named what is unknown so far, so that a refusal costs one call. */
  readonly isNamed: boolean;
  /**
   * How many new symbols go into one test: fewer, the more tests fail. Where the words name one of many that are
   * bad, each takes a call of its own; but calls of a few can be under way at the same time.
   */
  readonly perTest: number;
  /** Whether it may go along with others in the view. */
  isGood(symbol: string, view: string): boolean;
  /** Whether the upstream gave a record of it in some view. */
  isProven(symbol: string): boolean;
  /** Whether the directory lists it, or the upstream gave a record of it in some view. */
  exists(symbol: string): boolean;
  /** Whether the directory says that it does not exist, and no record says otherwise. */
  isUnlisted(symbol: string): boolean;
  unknown(symbol: string, view: string, now: number): NegativeEntry | undefined;
  /** What has to be tested with the symbol; undefined when it may go with any other unproven one. */
  groupOf(symbol: string, view: string, now: number): Pick<SuspectGroup, 'symbols' | 'sibling'> | undefined;
  /** Whether it failed alone so lately that the next test has to wait. */
  isPutOff(symbol: string, view: string, now: number): boolean;
  /** Groups that are to be tested now; of two halves the one to begin with. */
  pending(now: number): readonly SuspectGroup[];
  /**
   * Gives the symbols that are unknown in the entry's view from now on.
   *
   * @param now when the entry was read
   * @param served in which views there is a record of the symbol that may be served
   */
  learn(entry: RefreshRecord, now: number, served: Served): readonly string[];
  learnUnknown(symbol: string, view: string, until: number): void;
  /** When this instance heard last that it is unknown in the view; minus infinity if never. */
  refutedAt(symbol: string, view: string): number;
  /** When the call was sent after which it had to be tested in the view; minus infinity if it need not be. */
  doubtedAt(symbol: string, view: string): number;
  /** The latest that are unknown, to tell of. */
  latestUnknown(
    most: number,
    now: number,
  ): readonly (readonly [view: string, symbol: string, until: number])[];
}

/** @param lists whether the directory lists a symbol; undefined while it says nothing */
export function createSymbolStatus(
  {
    mostLines: mostProven,
    mostUnknown,
    unknownMs,
  }: Pick<SnapshotOptions, 'mostLines' | 'mostUnknown' | 'unknownMs'>,
  lists: (symbol: string) => boolean | undefined,
): SymbolStatus {
  const proven = new Set<string>();
  /** By symbol and view. */
  const unknown = new Map<string, Map<string, NegativeEntry>>();
  /** Of a symbol that exists by symbol and view, of others by symbol alone. */
  const groups = new Map<string, SuspectGroup>();
  let perTest = firstPerTest;
  /** Symbols that the upstream's words named, and how often that was right or wrong. */
  const hints = { named: new Set<string>(), right: 0, wrong: 0 };

  const isNamed = () => hints.right >= hintsToTrust && hints.wrong === 0;
  const exists = (symbol: string) => proven.has(symbol) || lists(symbol) === true;
  const find = (symbol: string, view: string) => groups.get(keyOf(symbol, view)) ?? groups.get(symbol);
  const isGood = (symbol: string, view: string) =>
    exists(symbol) && !groups.has(keyOf(symbol, view)) && !unknown.get(symbol)?.has(view);

  const isUnlisted = (symbol: string) => lists(symbol) === false && !proven.has(symbol);

  function release(symbol: string, view: string): void {
    groups.delete(keyOf(symbol, view));
    groups.delete(symbol);
  }

  function prove(symbol: string, view: string): void {
    release(symbol, view);
    const views = unknown.get(symbol);
    if (views?.delete(view) && views.size === 0) unknown.delete(symbol);
    if (hints.named.delete(symbol)) hints.wrong++;
    // Set anew at the end: what is refreshed stays, whatever else comes.
    proven.delete(symbol);
    proven.add(symbol);
    dropOldest(proven, mostProven);
  }

  function refute(symbol: string, one: NegativeEntry): void {
    release(symbol, one.view);
    if (hints.named.delete(symbol)) hints.right++;
    const views = unknown.get(symbol) ?? new Map<string, NegativeEntry>();
    views.set(one.view, one);
    // Set anew at the end, because the oldest are dropped first.
    unknown.delete(symbol);
    unknown.set(symbol, views);
    dropOldest(unknown, mostUnknown);
  }

  /**
   * At least one of these is bad: a single one for certain, unless it was good so far, which may be a fault of
   * the upstream. Gives those that this makes unknown.
   */
  function suspect(symbols: readonly string[], says: UpstreamError, of: Of): readonly string[] {
    const [only] = symbols;
    if (only !== undefined && symbols.length === 1) return single(only, says, of);
    const named = namedBy(says.message, symbols);
    if (named !== undefined && isNamed()) {
      for (const symbol of symbols) release(symbol, of.view);
      return exists(named) ? alone(named, says, of) : single(named, says, of);
    }
    if (named !== undefined && !exists(named)) hints.named.add(named);
    const [half, sibling] = named === undefined ? halves(symbols) : [without(symbols, named), [named]];
    const common = { view: of.view, caller: of.caller, at: of.at, says: withoutMessage(says) };
    for (const symbol of half) group(symbol, { ...common, symbols: half, sibling });
    for (const symbol of sibling) group(symbol, { ...common, symbols: sibling, sibling: half });
    return [];
  }

  /** It was asked for alone, or the words are to be trusted. */
  function single(symbol: string, says: UpstreamError | undefined, of: Of): readonly string[] {
    const { view, at, now } = of;
    if (isGood(symbol, view) && !of.isServed(symbol)) return alone(symbol, says ?? noMessage, of);
    const isServed = proven.has(symbol) && of.isServed(symbol);
    const failedAt = groups.get(keyOf(symbol, view))?.failedAt ?? at;
    if (isServed && at - failedAt < againMs) return alone(symbol, says ?? noMessage, { ...of, failedAt });
    // What is listed has a second chance soon: it may have been a bad moment of the upstream.
    const isSoon = isServed || (lists(symbol) === true && !unknown.get(symbol)?.has(view));
    const how = isSoon ? { until: now + soonMs, isFirst: true as const } : { until: now + unknownMs };
    refute(symbol, { view, ...how, ...(says && { says }) });
    return [symbol];
  }

  /** Once the words have proved right, so has what they said before. */
  function refuteNamed(until: number): readonly string[] {
    if (!isNamed()) return [];
    const named = [...hints.named].filter((symbol) => groups.get(symbol)?.symbols.length === 1);
    for (const symbol of named) {
      const { view, says } = groups.get(symbol)!;
      refute(symbol, { view, until, says });
    }
    return named;
  }

  /** What was suspected with the other half, of which nothing is known now. */
  function clear(sibling: readonly string[], of: Of): void {
    const [only] = sibling;
    const known = find(only ?? '', of.view);
    for (const symbol of sibling) release(symbol, of.view);
    // A single one stood apart for a reason. The others go with the unproven again.
    if (only !== undefined && sibling.length === 1 && (known || !exists(only)))
      alone(only, known?.says ?? noMessage, { ...of, ...(known?.failedAt && { failedAt: known.failedAt }) });
  }

  function alone(symbol: string, says: UpstreamError, { view, caller, at, failedAt }: Of): readonly string[] {
    group(symbol, { view, caller, at, symbols: [symbol], sibling: [], says, ...(failedAt && { failedAt }) });
    return [];
  }

  function group(symbol: string, one: SuspectGroup): void {
    release(symbol, one.view);
    groups.set(exists(symbol) ? keyOf(symbol, one.view) : symbol, one);
    dropOldest(groups, mostUnknown);
  }

  function learn(
    { symbols, sibling = [], outcome, ...entry }: RefreshRecord,
    now: number,
    isServed: (symbol: string) => boolean,
  ): readonly string[] {
    // Whoever was there earlier has seen more of the upstream's words.
    if (entry.namesUnknown) hints.right = Math.max(hints.right, hintsToTrust);
    const of: Of = { view: entry.view, caller: entry.caller ?? '', at: entry.sentAt, now, isServed };
    const isEmpty = outcome.kind === 'answer' && outcome.records.size === 0 && symbols.length > 1;
    const isNew = entry.kind === 'test' && sibling.length === 0 && symbols.length > 1;
    if (isNew && outcome.kind === 'rejected') perTest = Math.max(leastPerTest, 0.7 * perTest);
    if (isNew && outcome.kind === 'answer') perTest = Math.min(mostPerTest, 2 * perTest);
    if (outcome.kind === 'rejected' || isEmpty) {
      clear(sibling, of);
      return suspect(symbols, outcome.kind === 'rejected' ? outcome.says : noMessage, of);
    }
    if (outcome.kind !== 'answer') return [];
    const says = sibling.map((one) => find(one, of.view)?.says).find((one) => one) ?? noMessage;
    for (const symbol of outcome.records.keys()) prove(symbol, of.view);
    // What was there before and is left out among others is asked for again, and alone in the end.
    const doubtful = symbols.length > 1 ? outcome.unknown.filter(exists) : [];
    const refuted = outcome.unknown.filter((symbol) => !doubtful.includes(symbol));
    const gone = refuted.flatMap((symbol) => single(symbol, undefined, of));
    const [first, ...others] = doubtful;
    if (others.length > 0) suspect(doubtful, noMessage, of);
    else if (first !== undefined) alone(first, noMessage, of);
    const [bad, ...more] = sibling.filter((symbol) => !isGood(symbol, of.view));
    if (bad === undefined) return gone;
    if (more.length > 0) return [...gone, ...suspect([bad, ...more], says, of)];
    if (hints.named.has(bad)) return [...gone, ...single(bad, says, of)];
    alone(bad, says, of);
    return gone;
  }

  /** In what holds for its own view, or for a symbol without proof in the view without flags. */
  function refusal(symbol: string, view: string): NegativeEntry | undefined {
    const views = unknown.get(symbol);
    return views?.get(view) ?? (exists(symbol) ? undefined : views?.get(plainId(view)));
  }

  return {
    get isNamed() {
      return isNamed();
    },
    get perTest() {
      return Math.round(perTest);
    },
    isGood,
    isProven: (symbol) => proven.has(symbol),
    exists,
    isUnlisted,
    unknown(symbol, view, now) {
      const one = refusal(symbol, view);
      return one && one.until > now ? one : undefined;
    },
    groupOf(symbol, view, now) {
      const one = isUnlisted(symbol) ? undefined : find(symbol, view);
      if (one) return one;
      // It was unknown once, or is in another view, and may well be so here: tested alone, it costs nobody else.
      const isNew =
        (!unknown.has(symbol) && !isUnlisted(symbol)) ||
        isGood(symbol, view) ||
        (refusal(symbol, view)?.until ?? 0) > now;
      return isNew ? undefined : { symbols: [symbol], sibling: [] };
    },
    isPutOff: (symbol, view, now) => isPutOff(find(symbol, view), now),
    pending(now) {
      const found = new Set<SuspectGroup>();
      for (const [key, one] of groups) {
        // What was under suspicion before the directory came is decided by it.
        if (!key.includes(separator) && lists(key) !== undefined) {
          groups.delete(key);
          continue;
        }
        if (isPutOff(one, now)) continue;
        const isSecond = one.sibling.some((symbol) => found.has(find(symbol, one.view)!));
        if (!isSecond) found.add(one);
      }
      return [...found];
    },
    learn(entry, now, served) {
      const refuted = [...learn(entry, now, served.here), ...refuteNamed(now + unknownMs)];
      // Where it is served it goes on being so.
      for (const symbol of refuted)
        if (!served.elsewhere(symbol) && !unknown.get(symbol)?.get(entry.view)?.isFirst)
          proven.delete(symbol);
      return refuted;
    },
    learnUnknown(symbol, view, until) {
      if (!unknown.get(symbol)?.has(view)) refute(symbol, { view, until });
    },
    refutedAt(symbol, view) {
      const one = unknown.get(symbol)?.get(view);
      return one ? one.until - (one.isFirst ? soonMs : unknownMs) : Number.NEGATIVE_INFINITY;
    },
    doubtedAt: (symbol, view) => find(symbol, view)?.at ?? Number.NEGATIVE_INFINITY,
    latestUnknown: (most, now) =>
      [...unknown]
        .slice(-most)
        .flatMap(([symbol, views]) =>
          [...views.values()].flatMap(({ view, until, isFirst }) =>
            until > now && !isFirst ? [[view, symbol, until] as const] : [],
          ),
        ),
  };
}

/** A call that failed: for whom it was made, and when it was sent and read. */
interface Of extends Pick<SuspectGroup, 'view' | 'caller' | 'failedAt'> {
  readonly at: number;
  readonly now: number;
  /** In its view. */
  isServed(symbol: string): boolean;
}

/** A symbol that is served and failed alone is asked for again after so long. */
const againMs = 10_000;
/** What was served until now is unknown for so long at first. */
const soonMs = 30_000;

const isPutOff = (group: SuspectGroup | undefined, now: number) =>
  group?.failedAt !== undefined && now >= group.failedAt && now < group.failedAt + againMs;

/** No symbol has such a character. */
const separator = '\n';
const keyOf = (symbol: string, view: string) => `${view}${separator}${symbol}`;

const hintsToTrust = 3;
const firstPerTest = 40;
const leastPerTest = 12;
const mostPerTest = 100;

const without = (symbols: readonly string[], one: string) => symbols.filter((symbol) => symbol !== one);

function halves(symbols: readonly string[]): readonly [readonly string[], readonly string[]] {
  const middle = Math.ceil(symbols.length / 2);
  return [symbols.slice(0, middle), symbols.slice(middle)];
}

function dropOldest(from: Set<string> | Map<string, unknown>, most: number): void {
  if (from.size <= most) return;
  for (const oldest of from.keys()) {
    from.delete(oldest);
    if (from.size <= most) return;
  }
}
