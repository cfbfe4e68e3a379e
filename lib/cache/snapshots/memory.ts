/** What an instance knows: the quotes, which symbols exist, and how the upstream and the callers do. */

import type { SymbolDirectory } from './directory.ts';
import { createInvalidSymbolQuota, type InvalidSymbolQuota } from './invalid-symbol-quota.ts';
import { minuteMs, type SnapshotOptions } from './options.ts';
import type { RefreshPriority } from './ports.ts';
import {
  type Checkpoint,
  type Fetched,
  longestSymbol,
  type RefreshKind,
  type RefreshRecord,
  type UpstreamError,
} from './store.ts';
import { createSymbolStatus, type NegativeEntry, type SymbolStatus } from './symbol-status.ts';
import { ViewEntries } from './view-entries.ts';

interface Past {
  readonly at: number;
  readonly kind: RefreshKind;
  readonly caller: string | undefined;
}

/** How many unknown symbols a checkpoint tells of, the latest. */
const mostUnknownKept = 300;
/** How many unknown symbols that are asked for an entry tells again, for instances that are new. */
const mostUnknownTold = 20;
/** After so many failures in a row the upstream is down, until so long after the pause that follows. */
const downAfter = 3;
const downMs = 2000;
/** So long after a test found no permission, tests come before refreshes. */
const starvedMs = 2000;
/** A view whose quotes were answered with nothing is not refreshed for so long. */
const restMs = 5000;

export class SnapshotMemory {
  readonly sheets = new Map<string, ViewEntries>();
  readonly junk: InvalidSymbolQuota;
  readonly #figures: SnapshotOptions;
  readonly #directory: Pick<SymbolDirectory, 'lists' | 'saw'> | undefined;
  readonly #categories = new Map<string, SymbolStatus>();
  readonly #denials = new Map<string, { readonly says: UpstreamError; readonly until: number }>();
  readonly #rests = new Map<string, number>();
  /** Turns of the last minute. */
  #past: Past[] = [];
  /** Unknown symbols that clients ask for here, by view and symbol, and when the journal last told of each. */
  readonly #askedUnknown = new Map<string, { view: string; symbol: string; toldAt: number }>();
  #notBefore = 0;
  /** When a test that a client waits for last found no permission. */
  #starvedAt = Number.NEGATIVE_INFINITY;
  readonly #permissionsFrom = new Map<`${RefreshKind} ${RefreshPriority}`, number>();
  /** When the upstream last refused a call with a symbol of which only the directory says that it exists. */
  #listRefusedAt = Number.NEGATIVE_INFINITY;
  #lastOutcome = { at: 0, failures: 0, downUntil: 0 };

  /** @param directory default none: then every symbol is tested */
  constructor(figures: SnapshotOptions, directory?: Pick<SymbolDirectory, 'lists' | 'saw'>) {
    this.#figures = figures;
    this.#directory = directory;
    this.junk = createInvalidSymbolQuota(figures);
  }

  sheet(viewId: string): ViewEntries {
    const known = this.sheets.get(viewId);
    if (known) return known;
    const sheet = new ViewEntries(viewId, this.#figures);
    this.sheets.set(viewId, sheet);
    return sheet;
  }

  symbols(category: string): SymbolStatus {
    const known = this.#categories.get(category);
    if (known) return known;
    const symbols = createSymbolStatus(this.#figures, (symbol) => this.#directory?.lists(symbol, category));
    this.#categories.set(category, symbols);
    return symbols;
  }

  /** Of the view's category. */
  symbolsOf(viewId: string): SymbolStatus {
    return this.symbols(this.sheet(viewId).view.category);
  }

  /** Takes in what came of a turn, in whatever order turns are heard of. */
  learn(entry: RefreshRecord, now: number): void {
    const { outcome } = entry;
    const sheet = this.sheet(entry.view);
    const known = this.symbolsOf(entry.view);
    // Failures of symbols that exist are not charged to the caller's quota.
    const isDoubt = entry.symbols.some((symbol) => known.exists(symbol));
    if (outcome.kind === 'answer')
      for (const [symbol, record] of outcome.records) {
        sheet.put(symbol, record, entry.sentAt);
        this.#directory?.saw(symbol, sheet.view.category);
      }
    const isListedOnly = entry.symbols.some((symbol) => known.exists(symbol) && !known.isProven(symbol));
    if (outcome.kind === 'rejected' && isListedOnly) this.#listRefusedAt = entry.sentAt;
    if (this.#isEmptied(entry, now)) this.#rests.set(entry.view, entry.sentAt + restMs);
    else this.#learnSymbols(entry, now);
    for (const [place, symbol, until] of entry.unknown ?? []) {
      if (!this.sheet(place).lines.has(symbol)) this.symbolsOf(place).learnUnknown(symbol, place, until);
      const asked = this.#askedUnknown.get(`${place}/${symbol}`);
      if (asked) asked.toldAt = Math.max(asked.toldAt, entry.sentAt);
    }
    for (const [view, symbol, times] of entry.asked) this.sheet(view).hear(symbol, times, entry.sentAt);
    if (outcome.kind === 'denied')
      this.#denials.set(entry.view, { says: outcome.says, until: outcome.until });
    // Nobody pauses for longer, so that whatever says more was written by a clock that is wrong.
    const until = outcome.kind === 'failed' ? Math.min(outcome.notBefore, now + minuteMs) : 0;
    if (outcome.kind === 'failed') this.#pause(entry, outcome.upstream, until);
    this.junk.learn(entry, isDoubt);
    this.#count(entry, until + downMs);
  }

  /** How many records a checkpoint would hold. */
  recordsInUse(now: number): number {
    let total = 0;
    for (const sheet of this.sheets.values())
      for (const { sentAt } of sheet.inUse(now)) if (now - sentAt <= this.#figures.expireAfterMs) total++;
    return total;
  }

  /** How many records are held, of all views. */
  get records(): number {
    let total = 0;
    for (const { lines } of this.sheets.values()) total += lines.size;
    return total;
  }

  /** Whether tests of symbols find no permission, so that a refresh would take the next one from them. */
  isStarved(now: number): boolean {
    return now - this.#starvedAt < starvedMs;
  }

  /** What an instance that begins has to know, of records that may still be served. */
  checkpoint(turn: number, now: number): Checkpoint {
    const fetched: Fetched[] = [];
    const demand: Checkpoint['demand'][number][] = [];
    const { expireAfterMs } = this.#figures;
    for (const [view, sheet] of this.sheets) {
      const symbols = this.symbolsOf(view);
      const groups = new Map<string, Fetched & { readonly records: Map<string, Uint8Array> }>();
      for (const { symbol, record, sentAt, demand: times, askedAt } of sheet.inUse(now)) {
        if (now - sentAt > expireAfterMs) continue;
        const isDoubtful = !symbols.isGood(symbol, view);
        const key = `${sentAt}${isDoubtful ? ' doubtful' : ''}`;
        const group = groups.get(key) ?? {
          view,
          sentAt,
          records: new Map<string, Uint8Array>(),
          ...(isDoubtful && { isDoubtful }),
          ...(symbols.isNamed && { namesUnknown: true as const }),
        };
        group.records.set(symbol, record);
        groups.set(key, group);
        demand.push([view, symbol, times, askedAt]);
      }
      fetched.push(...groups.values());
    }
    const unknown = [...this.#categories.values()].flatMap((one) => one.latestUnknown(mostUnknownKept, now));
    const past = this.#lastMinute(now).map(({ at, kind, caller = '' }) => [at, kind, caller] as const);
    const denials = [...this.#denials].flatMap(([view, { says, until }]) =>
      until > now ? [[view, says, until] as const] : [],
    );
    const pause = { notBefore: this.#notBefore, ...this.#lastOutcome };
    return {
      turn,
      at: now,
      fetched,
      demand,
      unknown,
      past,
      failedTests: this.junk.tell(now),
      ...(denials.length > 0 && { denials }),
      ...((pause.failures > 0 || pause.notBefore > now) && { pause }),
    };
  }

  load(checkpoint: Checkpoint, now: number): void {
    const { at: madeAt, fetched, demand, unknown, past, failedTests, pause, denials = [] } = checkpoint;
    for (const { view, sentAt, records: all, namesUnknown, isDoubtful } of fetched) {
      const sheet = this.sheet(view);
      const known = this.symbolsOf(view);
      // What this instance heard of a symbol after its record was made goes before the record.
      const told = [...all].filter(([symbol]) => known.refutedAt(symbol, view) < sentAt);
      for (const [symbol, record] of told) sheet.put(symbol, record, sentAt);
      if (isDoubtful) continue;
      const records = new Map(told.filter(([symbol]) => known.doubtedAt(symbol, view) < sentAt));
      const outcome = { kind: 'answer', records, unknown: [] } as const;
      const symbols = [...records.keys()];
      const entry = { turn: 0, kind: 'refresh', view, sentAt, symbols, outcome, asked: [] } as const;
      this.#learnSymbols({ ...entry, ...(namesUnknown && { namesUnknown }) }, now);
    }
    for (const [view, symbol, times, askedAt] of demand) this.sheet(view).expect(symbol, times, askedAt);
    for (const [view, symbol, until] of unknown)
      if (!this.sheet(view).lines.has(symbol)) this.symbolsOf(view).learnUnknown(symbol, view, until);
    const latest = Math.max(0, ...this.#past.map(({ at }) => at));
    for (const [at, kind, caller] of past)
      if (at > latest) this.#past.push({ at, kind, caller: caller === '' ? undefined : caller });
    // As of then: what was forgiven since is not owed again.
    this.junk.hear(failedTests, Math.min(madeAt, now));
    for (const [view, says, until] of denials)
      if (until > (this.#denials.get(view)?.until ?? now)) this.#denials.set(view, { says, until });
    if (!pause) return;
    // Bounded as in what is read of a turn.
    this.#notBefore = Math.max(this.#notBefore, Math.min(pause.notBefore, now + minuteMs));
    const { failures, at, downUntil } = pause;
    if (at > this.#lastOutcome.at)
      this.#lastOutcome = { at, failures, downUntil: Math.min(downUntil, now + minuteMs + downMs) };
  }

  #pause({ kind, priority, sentAt, isProbe }: RefreshRecord, upstream: boolean, notBefore: number): void {
    if (upstream) this.#notBefore = Math.max(this.#notBefore, notBefore);
    // Who asks for another kind of turn waits longer, and who is more urgent is served all the same.
    const key = `${kind} ${priority ?? 'interactive'}` as const;
    // A probe can wait: what it is for counts as unknown meanwhile.
    if (!upstream && key === 'test interactive' && !isProbe)
      this.#starvedAt = Math.max(this.#starvedAt, sentAt);
    if (!upstream) this.#permissionsFrom.set(key, Math.max(this.#permissionsFrom.get(key) ?? 0, notBefore));
  }

  /**
   * Whether the upstream gave nothing at all of what it gave before: that is a fault of its own. An answer
   * about one symbol says little by itself, but in such a time it says no more about the symbol either.
   */
  #isEmptied({ view, symbols, outcome, sentAt }: RefreshRecord, now: number): boolean {
    if (outcome.kind !== 'answer' || outcome.records.size > 0) return false;
    const wasEmptied = sentAt < (this.#rests.get(view) ?? Number.NEGATIVE_INFINITY) + restMs;
    if (symbols.length < 2 && !wasEmptied) return false;
    const sheet = this.sheet(view);
    const known = this.symbolsOf(view);
    return symbols.some((symbol) => known.isGood(symbol, view) && this.#isServed(sheet, symbol, now));
  }

  #isServed({ lines }: ViewEntries, symbol: string, now: number): boolean {
    const line = lines.get(symbol);
    return line !== undefined && now - line.sentAt <= this.#figures.expireAfterMs;
  }

  #learnSymbols(entry: RefreshRecord, now: number): void {
    const own = this.sheet(entry.view);
    const { category } = own.view;
    const others = [...this.sheets.values()].filter((one) => one.view.category === category && one !== own);
    const symbols = this.symbols(category);
    const served = {
      here: (symbol: string) => this.#isServed(own, symbol, now),
      elsewhere: (symbol: string) => others.some((one) => this.#isServed(one, symbol, now)),
    };
    for (const symbol of symbols.learn(entry, now, served)) {
      own.drop(symbol);
      if (!symbols.exists(symbol)) for (const other of others) other.drop(symbol);
    }
  }

  #count({ kind, caller, sentAt, outcome }: RefreshRecord, downUntil: number): void {
    this.#past.push({ at: sentAt, kind, caller });
    if (sentAt < this.#lastOutcome.at) return;
    if (outcome.kind !== 'failed') this.#lastOutcome = { at: sentAt, failures: 0, downUntil: 0 };
    else if (outcome.upstream)
      this.#lastOutcome = { at: sentAt, failures: this.#lastOutcome.failures + 1, downUntil };
  }

  /** Whether the directory says that it does not exist, and no record says otherwise. */
  isUnlisted(view: string, symbol: string): boolean {
    return this.symbolsOf(view).isUnlisted(symbol);
  }

  unknown(view: string, symbol: string, now: number): NegativeEntry | undefined {
    return this.symbolsOf(view).unknown(symbol, view, now);
  }

  /** A client asked here for a symbol that is unknown. */
  countUnknown(viewId: string, symbol: string, now: number): void {
    // Everybody sees by himself that a text is too long, and it may be very long.
    if (symbol.length > longestSymbol || this.isUnlisted(viewId, symbol)) return;
    const view = this.unknown(viewId, symbol, now)?.view ?? viewId;
    const key = `${view}/${symbol}`;
    if (this.#askedUnknown.has(key) || this.#askedUnknown.size >= this.#figures.mostUnknown) return;
    this.#askedUnknown.set(key, { view, symbol, toldAt: 0 });
  }

  /** Unknown symbols to tell of, longest untold first, so that new instances need not find out again. */
  tellUnknown(now: number): NonNullable<RefreshRecord['unknown']> {
    const asked = [...this.#askedUnknown.values()].sort((a, b) => a.toldAt - b.toldAt);
    return asked.slice(0, mostUnknownTold).flatMap(({ view, symbol }) => {
      // Asked for again, it comes back.
      this.#askedUnknown.delete(`${view}/${symbol}`);
      const unknown = this.unknown(view, symbol, now);
      return unknown ? [[unknown.view, symbol, unknown.until] as const] : [];
    });
  }

  /** Whether there is no sense in asking for what is known of a view: it is denied, or gave nothing lately. */
  isResting(viewId: string, now: number): boolean {
    return (this.#rests.get(viewId) ?? 0) > now || this.denial(viewId, now) !== undefined;
  }

  denial(viewId: string, now: number): UpstreamError | undefined {
    const denial = this.#denials.get(viewId);
    return denial && denial.until > now ? denial.says : undefined;
  }

  /** Whether what is only listed may go along with what is served, which would fail with it. */
  trustsList(now: number): boolean {
    return now - this.#listRefusedAt > this.#figures.unknownMs;
  }

  /** Before then nobody asks the upstream for that: there is no permission, or it does not answer. */
  notBefore(kind: RefreshKind, priority: RefreshPriority): number {
    return Math.max(this.#notBefore, this.#permissionsFrom.get(`${kind} ${priority}`) ?? 0);
  }

  /** How many turns in a row the upstream has left without an answer. */
  get failures(): number {
    return this.#lastOutcome.failures;
  }

  /** So many in a row that nobody waits for it, until it is time for somebody to try again. */
  isDown(now: number): boolean {
    return this.isDoubtful && now < this.#lastOutcome.downUntil;
  }

  /** Whether it failed that often, and nothing has come since. */
  get isDoubtful(): boolean {
    return this.#lastOutcome.failures >= downAfter;
  }

  /** Of the last minute: turns of a kind, of one caller or of all. */
  turns(kind: RefreshKind, now: number, caller?: string): number {
    return this.#lastMinute(now).filter(
      (one) => one.kind === kind && (caller === undefined || one.caller === caller),
    ).length;
  }

  #lastMinute(now: number): readonly Past[] {
    if (this.#past.some(({ at }) => at <= now - minuteMs))
      this.#past = this.#past.filter(({ at }) => at > now - minuteMs);
    return this.#past;
  }
}
