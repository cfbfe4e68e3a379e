/**
 * Which symbols of a category exist. A symbol is proven once the upstream gave a record of it; until then it
 * is asked for only among others that are unproven, because one that the upstream does not know may fail the
 * whole call. A call that failed is halved: if one half is good, a bad one is in the other, without asking.
 * In the end a symbol is unknown only when it was refused alone, or when the upstream's words name it and
 * their words have proved right before.
 */

import type { Entry, UpstreamSays } from './store.ts';

/** Symbols of a call that was refused. They are tested together, and not with others. */
export interface Group {
  readonly symbols: readonly string[];
  /** If this group is good, then that one is not. */
  readonly sibling: readonly string[];
  readonly says: UpstreamSays;
  /** In which view it was asked for, and for whom. */
  readonly view: string;
  readonly caller: string;
}

export interface Unknown {
  readonly until: number;
  /** How the upstream refused it; absent when it left it out of its answer. */
  readonly says?: UpstreamSays;
}

export interface Symbols {
  /** Whether the upstream's words have named what is unknown so far, so that a refusal costs one call. */
  readonly isNamed: boolean;
  isProven(symbol: string): boolean;
  unknown(symbol: string, now: number): Unknown | undefined;
  /** What has to be tested with the symbol; undefined when it may go with any other unproven one. */
  groupOf(symbol: string, now: number): Pick<Group, 'symbols' | 'sibling'> | undefined;
  /** Groups that are still to be tested; of two halves the one to begin with. */
  pending(): readonly Group[];
  /**
   * Gives the symbols that are unknown from now on.
   *
   * @param now when the entry was read
   */
  learn(entry: Entry, now: number): readonly string[];
  learnUnknown(symbol: string, until: number): void;
}

export function createSymbols(mostProven: number, mostUnknown: number, unknownMs: number): Symbols {
  const proven = new Set<string>();
  const unknown = new Map<string, Unknown>();
  const groups = new Map<string, Group>();
  /** Symbols that the upstream's words named, and how often that was right or wrong. */
  const hints = { named: new Set<string>(), right: 0, wrong: 0 };

  const isNamed = () => hints.right >= hintsToTrust && hints.wrong === 0;

  function prove(symbol: string): void {
    groups.delete(symbol);
    unknown.delete(symbol);
    if (hints.named.delete(symbol)) hints.wrong++;
    // Set anew at the end: what is refreshed stays, whatever else comes.
    proven.delete(symbol);
    proven.add(symbol);
    dropOldest(proven, mostProven);
  }

  function refute(symbol: string, until: number, says?: UpstreamSays): void {
    groups.delete(symbol);
    proven.delete(symbol);
    if (hints.named.delete(symbol)) hints.right++;
    // Set anew at the end, because the oldest are dropped first.
    unknown.delete(symbol);
    unknown.set(symbol, { until, ...(says && { says }) });
    dropOldest(unknown, mostUnknown);
  }

  /** At least one of these is bad: a single one for certain. Gives those that this makes unknown. */
  function suspect(
    symbols: readonly string[],
    says: UpstreamSays,
    until: number,
    of: Pick<Group, 'view' | 'caller'>,
  ): readonly string[] {
    const [only] = symbols;
    if (only !== undefined && symbols.length === 1) {
      refute(only, until, says);
      return [only];
    }
    const named = namedBy(says.message, symbols);
    if (named !== undefined && isNamed()) {
      for (const symbol of symbols) groups.delete(symbol);
      refute(named, until, says);
      return [named];
    }
    if (named !== undefined) hints.named.add(named);
    const [half, sibling] = named === undefined ? halves(symbols) : [without(symbols, named), [named]];
    const common = { ...of, says: withoutMessage(says) };
    for (const symbol of half) group(symbol, { ...common, symbols: half, sibling });
    for (const symbol of sibling) group(symbol, { ...common, symbols: sibling, sibling: half });
    return [];
  }

  /** Once the words have proved right, so has what they said before. */
  function refuteNamed(until: number): readonly string[] {
    if (!isNamed()) return [];
    const named = [...hints.named].filter((symbol) => groups.get(symbol)?.symbols.length === 1);
    for (const symbol of named) refute(symbol, until, groups.get(symbol)?.says);
    return named;
  }

  /** What was suspected with the other half, of which nothing is known now. */
  function clear(sibling: readonly string[], of: Pick<Group, 'view' | 'caller'>): void {
    const [only] = sibling;
    const says = groups.get(only ?? '')?.says ?? noWords;
    for (const symbol of sibling) groups.delete(symbol);
    // A single one stood apart for a reason. The others go with the unproven again.
    if (only !== undefined && sibling.length === 1) alone(only, says, of);
  }

  function alone(symbol: string, says: UpstreamSays, of: Pick<Group, 'view' | 'caller'>): void {
    if (!proven.has(symbol)) group(symbol, { ...of, symbols: [symbol], sibling: [], says });
  }

  function group(symbol: string, one: Group): void {
    proven.delete(symbol);
    groups.delete(symbol);
    groups.set(symbol, one);
    dropOldest(groups, mostUnknown);
  }

  function learn(
    { symbols, sibling = [], outcome, view, caller = '', namesUnknown }: Entry,
    now: number,
  ): readonly string[] {
    // Whoever was there earlier has seen more of the upstream's words.
    if (namesUnknown) hints.right = Math.max(hints.right, hintsToTrust);
    const until = now + unknownMs;
    const of = { view, caller };
    if (outcome.kind === 'answer') {
      const says = sibling.map((one) => groups.get(one)?.says).find((one) => one) ?? noWords;
      for (const symbol of outcome.records.keys()) prove(symbol);
      for (const symbol of outcome.unknown) refute(symbol, until);
      const [bad, ...more] = sibling.filter((symbol) => !proven.has(symbol));
      if (bad === undefined) return outcome.unknown;
      if (more.length > 0) suspect([bad, ...more], says, until, of);
      else if (hints.named.has(bad)) {
        refute(bad, until, says);
        return [...outcome.unknown, bad];
      } else alone(bad, says, of);
      return outcome.unknown;
    }
    if (outcome.kind !== 'rejected') return [];
    clear(sibling, of);
    return suspect(symbols, outcome.says, until, of);
  }

  return {
    get isNamed() {
      return isNamed();
    },
    isProven: (symbol) => proven.has(symbol),
    unknown(symbol, now) {
      const one = unknown.get(symbol);
      return one && one.until > now ? one : undefined;
    },
    groupOf(symbol, now) {
      const one = groups.get(symbol);
      if (one) return one;
      const past = unknown.get(symbol);
      // It was unknown once and may well be so still: tested alone, it costs nobody else.
      return past && past.until <= now ? { symbols: [symbol], sibling: [] } : undefined;
    },
    pending() {
      const found = new Set<Group>();
      for (const one of groups.values()) {
        const isSecond = one.sibling.some((symbol) => found.has(groups.get(symbol)!));
        if (!isSecond) found.add(one);
      }
      return [...found];
    },
    learn(entry, now) {
      const refuted = learn(entry, now);
      return [...refuted, ...refuteNamed(now + unknownMs)];
    },
    learnUnknown(symbol, until) {
      if (!proven.has(symbol) && !unknown.has(symbol)) refute(symbol, until);
    },
  };
}

const hintsToTrust = 3;
const noWords: UpstreamSays = { status: 417, errorCode: 'INVALID_SYMBOL' };

/** The upstream's words were about a call of many, and may name another of them. */
const withoutMessage = ({ message: _, ...says }: UpstreamSays): UpstreamSays => says;

/** The one of the symbols that the words name; undefined when they name none, or several. */
function namedBy(words: string | undefined, symbols: readonly string[]): string | undefined {
  const said = new Set((words ?? '').split(/[\s,;:'"()[\]]+/));
  const named = symbols.filter((symbol) => said.has(symbol));
  return named.length === 1 ? named[0] : undefined;
}

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
