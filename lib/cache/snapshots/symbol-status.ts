/**
 * The status of each symbol of a category: valid, negative-cached, suspect, or none of these yet. A symbol that the
 * upstream does not know may fail a whole call, so that a symbol goes along with others only once the directory lists
 * it or the upstream gave a record of it. Until then it is probed, among others of unknown status. A call that failed
 * is bisected: if one half is valid, an invalid symbol is in the other, without asking. In the end a symbol is
 * negative-cached only when it was refused alone, or when the upstream's message names it and messages have proved
 * right before. A symbol that exists is suspect only in the view where it failed, and negative-cached only when it
 * fails there alone; one that is served there only after two isolated failures at least 10 s apart.
 */

import { halves } from '../../kernel/bisect.ts';
import { dropOldest } from '../../kernel/bounded-map.ts';
import { maxEntries } from './entries.ts';
import {
  firstNegativeMs,
  MessageHints,
  NegativeCache,
  type NegativeEntry,
  namedBy,
  negativeMs,
  noMessage,
  retryAloneMs,
  type SuspectGroup,
  SuspectGroups,
  withoutMessage,
} from './failed-symbols.ts';
import type { UpstreamError } from './ports.ts';
import type { RefreshRecord } from './store.ts';
import { plainId } from './view.ts';

/** Says in which views memory has a record of a symbol that may be served. */
interface ServedViews {
  /** In the view of the record that is applied. */
  here(symbol: string): boolean;
  elsewhere(symbol: string): boolean;
}

/** Symbols that are probed in one call, and the caller that brought them if they failed before. */
interface ProbeGroup extends Pick<SuspectGroup, 'symbols' | 'sibling'> {
  readonly caller?: string;
}

export const aloneGroup = (symbol: string): ProbeGroup => ({ symbols: [symbol], sibling: [] });

/** A call of which a symbol failed: for whom it was made, and when it was sent and read. */
interface FailedCall extends Pick<SuspectGroup, 'view' | 'caller' | 'at' | 'failedAt'> {
  readonly now: number;
  /** In its view. */
  isServed(symbol: string): boolean;
}

const firstProbeSize = 40;
const minProbeSize = 12;
const maxProbeSize = 100;

export class SymbolStatus {
  readonly negative = new NegativeCache();
  readonly suspects = new SuspectGroups((symbol) => this.exists(symbol));
  readonly #lists: (symbol: string) => boolean | undefined;
  readonly #valid = new Set<string>();
  readonly #hints = new MessageHints();
  #probeSize = firstProbeSize;

  /** @param lists whether the directory lists a symbol; undefined while it says nothing */
  constructor(lists: (symbol: string) => boolean | undefined) {
    this.#lists = lists;
  }

  /** Whether the upstream's messages have named the unknown symbol so far, so that a refusal costs one call. */
  get namesUnknown(): boolean {
    return this.#hints.areTrusted;
  }

  /**
   * How many new symbols one probe asks for: fewer, the more probes fail. Where the message names one of many invalid
   * symbols, each takes a call of its own; but calls of a few symbols can be under way at the same time.
   */
  get probeSize(): number {
    return Math.round(this.#probeSize);
  }

  /** Whether it may share a call with others in the view. */
  mayShareCall(symbol: string, view: string): boolean {
    return this.exists(symbol) && !this.suspects.hasInView(symbol, view) && !this.negative.get(symbol, view);
  }

  /** Whether the upstream gave a record of it in some view. */
  isValid(symbol: string): boolean {
    return this.#valid.has(symbol);
  }

  /** Whether the directory lists it, or the upstream gave a record of it in some view. */
  exists(symbol: string): boolean {
    return this.#valid.has(symbol) || this.#lists(symbol) === true;
  }

  /** Whether the directory says that it does not exist, and no record says otherwise. */
  isUnlisted(symbol: string): boolean {
    return this.#lists(symbol) === false && !this.#valid.has(symbol);
  }

  negativeEntry(symbol: string, view: string, now: number): NegativeEntry | undefined {
    const entry = this.#negativeFor(symbol, view);
    return entry && entry.until > now ? entry : undefined;
  }

  /** Takes over a negative entry of another instance. */
  addNegative(symbol: string, view: string, until: number): void {
    if (!this.negative.get(symbol, view)) this.#setNegative(symbol, { view, until });
  }

  /** Groups to probe now; of two halves the first. What was suspect before the directory came is decided by it. */
  suspectGroups(now: number): readonly SuspectGroup[] {
    return this.suspects.pending(now, (symbol) => this.#lists(symbol) !== undefined);
  }

  /** The group that has to be probed with the symbol; undefined when it may share a probe with any other of unknown status. */
  groupToProbe(symbol: string, view: string, now: number): ProbeGroup | undefined {
    const isUnlisted = this.isUnlisted(symbol);
    const group = isUnlisted ? undefined : this.suspects.find(symbol, view);
    if (group) return group;
    // A symbol that was negative once, or is in another view, may well be so here: probed alone, it costs no other.
    const isNew =
      (!this.negative.hasAny(symbol) && !isUnlisted) ||
      this.mayShareCall(symbol, view) ||
      (this.#negativeFor(symbol, view)?.until ?? 0) > now;
    return isNew ? undefined : aloneGroup(symbol);
  }

  /**
   * Applies the outcome of a refresh. Returns the symbols that are negative in its view from now on.
   *
   * @param now when the record was read
   */
  apply(record: RefreshRecord, now: number, served: ServedViews): readonly string[] {
    const { view, caller = '', sentAt } = record;
    const call = { view, caller, at: sentAt, now, isServed: served.here };
    // The writer has seen more of the upstream's messages.
    if (record.namesUnknown) this.#hints.trust();
    const negative = [...this.#applyOutcome(record, call), ...this.#resolveNamed(now)];
    // A symbol that another view serves stays valid there.
    for (const symbol of negative)
      if (!served.elsewhere(symbol) && !this.negative.get(symbol, view)?.isFirst) this.#valid.delete(symbol);
    return negative;
  }

  #applyOutcome(record: RefreshRecord, call: FailedCall): readonly string[] {
    const { symbols, sibling = [], outcome } = record;
    this.#adaptProbeSize(record);
    const isEmpty = outcome.kind === 'answer' && outcome.records.size === 0 && symbols.length > 1;
    if (outcome.kind === 'rejected' || isEmpty) {
      this.#releaseSibling(sibling, call);
      return this.#suspect(symbols, outcome.kind === 'rejected' ? outcome.error : noMessage, call);
    }
    if (outcome.kind !== 'answer') return [];
    const error = sibling.map((one) => this.suspects.find(one, call.view)?.error).find((one) => one);
    for (const symbol of outcome.records.keys()) this.#setValid(symbol, call.view);
    const negative = this.#applyLeftOut(symbols, outcome.unknown, call);
    return [...negative, ...this.#applyToSibling(sibling, error ?? noMessage, call)];
  }

  #adaptProbeSize({ kind, symbols, sibling = [], outcome }: RefreshRecord): void {
    if (kind !== 'probe' || sibling.length > 0 || symbols.length < 2) return;
    if (outcome.kind === 'rejected') this.#probeSize = Math.max(minProbeSize, 0.7 * this.#probeSize);
    if (outcome.kind === 'answer') this.#probeSize = Math.min(maxProbeSize, 2 * this.#probeSize);
  }

  /** Applies that an answer left symbols out. Those that exist are asked for again if others came, and alone in the end. */
  #applyLeftOut(symbols: readonly string[], leftOut: readonly string[], call: FailedCall): readonly string[] {
    const suspects = symbols.length > 1 ? leftOut.filter((symbol) => this.exists(symbol)) : [];
    const rest = leftOut.filter((symbol) => !suspects.includes(symbol));
    const negative = rest.flatMap((symbol) => this.#failAlone(symbol, undefined, call));
    const [first, ...others] = suspects;
    if (others.length > 0) this.#suspect(suspects, noMessage, call);
    else if (first !== undefined) this.#isolate(first, noMessage, call);
    return negative;
  }

  /** Applies that one half was valid: an invalid symbol is in the other. */
  #applyToSibling(sibling: readonly string[], error: UpstreamError, call: FailedCall): readonly string[] {
    const [bad, ...more] = sibling.filter((symbol) => !this.mayShareCall(symbol, call.view));
    if (bad === undefined) return [];
    if (more.length > 0) return this.#suspect([bad, ...more], error, call);
    return this.#hints.named.has(bad) ? this.#failAlone(bad, error, call) : this.#isolate(bad, error, call);
  }

  /**
   * At least one of these is invalid: a single one for certain, unless it was valid so far, which may be a fault of
   * the upstream. Returns those that this makes negative.
   */
  #suspect(symbols: readonly string[], error: UpstreamError, call: FailedCall): readonly string[] {
    const [only] = symbols;
    if (only !== undefined && symbols.length === 1) return this.#failAlone(only, error, call);
    const named = namedBy(error.message, symbols);
    if (named !== undefined && this.#hints.areTrusted) {
      for (const symbol of symbols) this.suspects.remove(symbol, call.view);
      return this.exists(named) ? this.#isolate(named, error, call) : this.#failAlone(named, error, call);
    }
    if (named !== undefined && !this.exists(named)) this.#hints.named.add(named);
    const [half, sibling] =
      named === undefined ? halves(symbols) : [symbols.filter((symbol) => symbol !== named), [named]];
    const common = { view: call.view, caller: call.caller, at: call.at, error: withoutMessage(error) };
    for (const symbol of half) this.suspects.add(symbol, { ...common, symbols: half, sibling });
    for (const symbol of sibling) this.suspects.add(symbol, { ...common, symbols: sibling, sibling: half });
    return [];
  }

  /** Applies the failure of a symbol that was asked for alone, or that a trusted message named. */
  #failAlone(symbol: string, error: UpstreamError | undefined, call: FailedCall): readonly string[] {
    const { view, at, now } = call;
    const isServed = call.isServed(symbol);
    if (this.mayShareCall(symbol, view) && !isServed) return this.#isolate(symbol, error ?? noMessage, call);
    const isServedAndValid = this.#valid.has(symbol) && isServed;
    const failedAt = this.#failedAloneAt(symbol, view) ?? at;
    if (isServedAndValid && at - failedAt < retryAloneMs)
      return this.#isolate(symbol, error ?? noMessage, { ...call, failedAt });
    // A listed symbol has a second chance soon, because the upstream may have failed for a moment; so has a forbidden one.
    const { forMs } = error ?? {};
    const isFirst =
      forMs !== undefined ||
      isServedAndValid ||
      (this.#lists(symbol) === true && !this.negative.get(symbol, view));
    const firstUntil = forMs === undefined ? now + firstNegativeMs : at + forMs;
    const how = isFirst ? { until: firstUntil, isFirst: true as const } : { until: now + negativeMs };
    this.#setNegative(symbol, { view, ...how, ...(error && { error }) });
    return [symbol];
  }

  /** When a symbol that is known to exist failed alone first. */
  #failedAloneAt(symbol: string, view: string): number | undefined {
    return this.suspects.hasInView(symbol, view) ? this.suspects.find(symbol, view)?.failedAt : undefined;
  }

  /** Resolves the symbols that messages named before they were trusted. */
  #resolveNamed(now: number): readonly string[] {
    if (!this.#hints.areTrusted) return [];
    const named = [...this.#hints.named].filter(
      (symbol) => this.suspects.findUnproven(symbol)?.symbols.length === 1,
    );
    const until = now + negativeMs;
    for (const symbol of named) {
      const { view, error } = this.suspects.findUnproven(symbol)!;
      this.#setNegative(symbol, { view, until, error });
    }
    return named;
  }

  /** Releases the other half of a group whose one half failed: nothing is known of it any more. */
  #releaseSibling(sibling: readonly string[], call: FailedCall): void {
    const [only] = sibling;
    const group = this.suspects.find(only ?? '', call.view);
    for (const symbol of sibling) this.suspects.remove(symbol, call.view);
    // A single symbol stood alone for a reason. Several may share a probe with any of unknown status again.
    if (only === undefined || sibling.length > 1 || (!group && this.exists(only))) return;
    const failedAt = group?.failedAt ? { failedAt: group.failedAt } : {};
    this.#isolate(only, group?.error ?? noMessage, { ...call, ...failedAt });
  }

  /** Makes a symbol suspect that is probed alone, and none negative. */
  #isolate(
    symbol: string,
    error: UpstreamError,
    { view, caller, at, failedAt }: FailedCall,
  ): readonly string[] {
    const group = { view, caller, at, symbols: [symbol], sibling: [], error };
    this.suspects.add(symbol, { ...group, ...(failedAt && { failedAt }) });
    return [];
  }

  #setValid(symbol: string, view: string): void {
    this.suspects.remove(symbol, view);
    this.negative.remove(symbol, view);
    this.#hints.check(symbol, false);
    // Added anew at the end: new symbols do not push out what is refreshed.
    this.#valid.delete(symbol);
    this.#valid.add(symbol);
    dropOldest(this.#valid, maxEntries);
  }

  #setNegative(symbol: string, entry: NegativeEntry): void {
    this.suspects.remove(symbol, entry.view);
    this.#hints.check(symbol, true);
    this.negative.add(symbol, entry);
  }

  /** The entry of the view, or, of a symbol that is not known to exist, of the view without flags. */
  #negativeFor(symbol: string, view: string): NegativeEntry | undefined {
    const entry = this.negative.get(symbol, view);
    return entry ?? (this.exists(symbol) ? undefined : this.negative.get(symbol, plainId(view)));
  }
}
