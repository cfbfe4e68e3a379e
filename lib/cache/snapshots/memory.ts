/**
 * The knowledge of one instance: the entries of each view, the status of each symbol, and how upstream and callers do.
 * Memory calls neither the store nor the upstream: the refresh log and the log of the market stream are read into it.
 */

import type { SymbolDirectory } from './directory.ts';
import { type SnapshotEntry, twoDigits, ViewEntries } from './entries.ts';
import { maxNegative, type NegativeEntry, negativeMs } from './failed-symbols.ts';
import { InvalidSymbolQuota } from './fairness.ts';
import { UpstreamStatus } from './health.ts';
import { minuteMs, type SnapshotOptions } from './ports.ts';
import {
  type FetchedRecords,
  maxSymbolLength,
  type NegativeItem,
  type RefreshRecord,
  type SnapshotCheckpoint,
} from './store.ts';
import { SymbolStatus } from './symbol-status.ts';

/** How many negative entries a checkpoint holds: the latest. */
const maxNegativeInCheckpoint = 300;
/** How many requested negative entries a log record repeats, for instances that are new. */
const maxNegativeInRecord = 20;
/** The cool-down of a view whose valid symbols were answered with nothing: it is not refreshed. */
const coolDownMs = 5000;

interface NegativeHit {
  readonly view: string;
  readonly symbol: string;
  flushedAt: number;
}

type ListedSymbols = Pick<SymbolDirectory, 'lists' | 'observe'>;

export class SnapshotMemory {
  /** Entries by the view's id. */
  readonly views = new Map<string, ViewEntries>();
  readonly quota: InvalidSymbolQuota;
  readonly upstream = new UpstreamStatus();
  readonly #options: SnapshotOptions;
  readonly #directory: ListedSymbols | undefined;
  readonly #hasStream: boolean;
  readonly #categories = new Map<string, SymbolStatus>();
  /** When the cool-down of a view ends. */
  readonly #coolDowns = new Map<string, number>();
  /** Unknown symbols that clients request here, by view and symbol, and when the log last repeated each. */
  readonly #negativeHits = new Map<string, NegativeHit>();
  /** Set after a call failed with a symbol that only the directory says to exist. */
  #distrustsDirectoryUntil = Number.NEGATIVE_INFINITY;

  /**
   * @param directory default none: then every symbol is probed
   * @param hasStream whether a stream may tell of trades before a fetch does
   */
  constructor(options: SnapshotOptions, directory?: ListedSymbols, hasStream = false) {
    this.#options = options;
    this.#directory = directory;
    this.#hasStream = hasStream;
    this.quota = new InvalidSymbolQuota(options);
  }

  entriesOf(viewId: string): ViewEntries {
    const found = this.views.get(viewId);
    if (found) return found;
    const entries = new ViewEntries(viewId, this.#options);
    this.views.set(viewId, entries);
    return entries;
  }

  entryOf(viewId: string, symbol: string): SnapshotEntry | undefined {
    return this.entriesOf(viewId).entries.get(symbol);
  }

  statusIn(category: string): SymbolStatus {
    const found = this.#categories.get(category);
    if (found) return found;
    const status = new SymbolStatus((symbol) => this.#directory?.lists(symbol, category));
    this.#categories.set(category, status);
    return status;
  }

  /** The status of symbols in the view's category. */
  statusOf(viewId: string): SymbolStatus {
    return this.statusIn(this.entriesOf(viewId).view.category);
  }

  /** Applies the outcome of a refresh. The log's records may arrive in any order. */
  apply(record: RefreshRecord, now: number): void {
    const { outcome, symbols, view, sentAt } = record;
    const entries = this.entriesOf(view);
    const status = this.statusOf(view);
    // Failures of symbols that exist are not charged to the caller's quota, unless the upstream forbids them to one caller,
    // because many share the quota of listed symbols; nor are those of an upstream that fails anyway.
    const isForbidden = outcome.kind === 'rejected' && outcome.error.forMs !== undefined && record.caller;
    const isExempt =
      symbols.some((symbol) => (isForbidden ? status.isValid(symbol) : status.exists(symbol))) ||
      (outcome.kind === 'failed' && (!outcome.upstream || this.upstream.isFailing));
    if (outcome.kind === 'answer')
      for (const [symbol, bytes] of outcome.records) {
        entries.put(symbol, bytes, sentAt, this.#hasStream);
        this.#directory?.observe(symbol, entries.view.category);
      }
    const isListedOnly = symbols.some((symbol) => status.exists(symbol) && !status.isValid(symbol));
    // The upstream may never answer for such a symbol, or may have failed for a moment.
    if (isListedOnly && (outcome.kind === 'rejected' || (outcome.kind === 'failed' && outcome.upstream))) {
      const until = sentAt + (outcome.kind === 'rejected' ? negativeMs : minuteMs);
      this.#distrustsDirectoryUntil = Math.max(this.#distrustsDirectoryUntil, until);
    }
    if (this.#isEmptied(record, now)) this.#coolDowns.set(view, sentAt + coolDownMs);
    else this.#applyToStatus(record, now);
    this.#addNegative(record.negative ?? [], sentAt);
    for (const [of, symbol, times] of record.demand) this.entriesOf(of).mergeDemand(symbol, times, sentAt);
    this.upstream.apply(record, now);
    this.quota.apply(record, isExempt);
  }

  /** How many records a checkpoint would hold. */
  recordsInUse(now: number): number {
    let total = 0;
    for (const entries of this.views.values())
      for (const { sentAt } of entries.inUse(now)) if (now - sentAt <= this.#options.expireAfterMs) total++;
    return total;
  }

  /**
   * Makes a checkpoint for instances that begin: all records that may still be served, and the status of symbols.
   *
   * @param sequence all refreshes up to this one were applied
   */
  createCheckpoint(sequence: number, now: number): SnapshotCheckpoint {
    const fetched: FetchedRecords[] = [];
    const demand: SnapshotCheckpoint['demand'][number][] = [];
    for (const [view, entries] of this.views) {
      const used = entries.inUse(now).filter(({ sentAt }) => now - sentAt <= this.#options.expireAfterMs);
      fetched.push(...this.#grouped(view, used));
      for (const { symbol, demand: times, requestedAt } of used)
        demand.push([view, symbol, twoDigits(times), requestedAt]);
    }
    const negative = [...this.#categories.values()].flatMap((status) =>
      status.negative.latest(maxNegativeInCheckpoint, now),
    );
    const failedProbes = this.quota.levels(now);
    return { sequence, at: now, fetched, demand, negative, failedProbes, ...this.upstream.checkpoint(now) };
  }

  load(checkpoint: SnapshotCheckpoint, now: number): void {
    for (const fetched of checkpoint.fetched) this.#loadFetched(fetched, now);
    for (const [view, symbol, times, requestedAt] of checkpoint.demand)
      this.entriesOf(view).loadDemand(symbol, times, requestedAt);
    for (const [view, symbol, until] of checkpoint.negative)
      if (!this.entryOf(view, symbol)) this.statusOf(view).addNegative(symbol, view, until);
    // As of the checkpoint's time: failures that were forgiven since are not owed again.
    this.quota.merge(checkpoint.failedProbes, Math.min(checkpoint.at, now));
    this.upstream.load(checkpoint, now);
  }

  /** Whether the directory says that the symbol does not exist, and no record says otherwise. */
  isUnlisted(viewId: string, symbol: string): boolean {
    return this.statusOf(viewId).isUnlisted(symbol);
  }

  negativeEntry(viewId: string, symbol: string, now: number): NegativeEntry | undefined {
    return this.statusOf(viewId).negativeEntry(symbol, viewId, now);
  }

  /** Counts a client's request to this instance for a symbol that is unknown. */
  countNegativeHit(viewId: string, symbol: string, now: number): void {
    // No instance needs to be told that a text is too long, and it may be very long.
    if (symbol.length > maxSymbolLength || this.isUnlisted(viewId, symbol)) return;
    const view = this.negativeEntry(viewId, symbol, now)?.view ?? viewId;
    const key = hitKey(view, symbol);
    if (!this.#negativeHits.has(key) && this.#negativeHits.size < maxNegative)
      this.#negativeHits.set(key, { view, symbol, flushedAt: 0 });
  }

  /**
   * Negative entries to repeat in the log, so that new instances need not find out again: those that the log repeated
   * longest ago. Requested again, a symbol comes back.
   */
  flushNegativeHits(now: number): readonly NegativeItem[] {
    const hits = [...this.#negativeHits].sort(([, a], [, b]) => a.flushedAt - b.flushedAt);
    return hits.slice(0, maxNegativeInRecord).flatMap(([key, { view, symbol }]) => {
      this.#negativeHits.delete(key);
      const entry = this.negativeEntry(view, symbol, now);
      return entry ? [[entry.view, symbol, entry.until] as const] : [];
    });
  }

  /** Whether a call for the view is of no use: the view is forbidden, or was answered with nothing lately. */
  isCoolingDown(viewId: string, now: number): boolean {
    return (this.#coolDowns.get(viewId) ?? 0) > now || this.upstream.forbidden(viewId, now) !== undefined;
  }

  /** Whether symbols that are only listed may share a call with served ones, which would fail with them. */
  trustsDirectory(now: number): boolean {
    return now > this.#distrustsDirectoryUntil;
  }

  /** Groups records by `sentAt`, those of suspect symbols apart. */
  #grouped(view: string, entries: readonly { symbol: string; record: Uint8Array; sentAt: number }[]) {
    const status = this.statusOf(view);
    const groups = new Map<string, FetchedRecords & { readonly records: Map<string, Uint8Array> }>();
    for (const { symbol, record, sentAt } of entries) {
      const isSuspect = !status.mayShareCall(symbol, view);
      const key = `${sentAt}${isSuspect ? ' suspect' : ''}`;
      const group = groups.get(key) ?? {
        view,
        sentAt,
        records: new Map<string, Uint8Array>(),
        ...(isSuspect && { isSuspect }),
        ...(status.namesUnknown && { namesUnknown: true as const }),
      };
      group.records.set(symbol, record);
      groups.set(key, group);
    }
    return groups.values();
  }

  #loadFetched({ view, sentAt, records: all, namesUnknown, isSuspect }: FetchedRecords, now: number): void {
    const entries = this.entriesOf(view);
    const status = this.statusOf(view);
    // A symbol that this instance has found unknown since its record was made stays unknown.
    const current = [...all].filter(([symbol]) => status.negative.since(symbol, view) < sentAt);
    for (const [symbol, record] of current) entries.put(symbol, record, sentAt, this.#hasStream);
    if (isSuspect) return;
    const records = new Map(current.filter(([symbol]) => status.suspects.since(symbol, view) < sentAt));
    const outcome = { kind: 'answer', records, unknown: [] } as const;
    const symbols = [...records.keys()];
    const record = { sequence: 0, kind: 'refresh', view, sentAt, symbols, outcome, demand: [] } as const;
    this.#applyToStatus({ ...record, ...(namesUnknown && { namesUnknown }) }, now);
  }

  #addNegative(items: readonly NegativeItem[], sentAt: number): void {
    for (const [view, symbol, until] of items) {
      if (!this.entryOf(view, symbol)) this.statusOf(view).addNegative(symbol, view, until);
      const hit = this.#negativeHits.get(hitKey(view, symbol));
      if (hit) hit.flushedAt = Math.max(hit.flushedAt, sentAt);
    }
  }

  /**
   * Whether the upstream returned none of the symbols that it returned before: that is a fault of the upstream. An
   * empty answer about one symbol says little, except during a cool-down, where it says nothing about the symbol either.
   */
  #isEmptied({ view, symbols, outcome, sentAt }: RefreshRecord, now: number): boolean {
    if (outcome.kind !== 'answer' || outcome.records.size > 0) return false;
    const wasEmptied = sentAt < (this.#coolDowns.get(view) ?? Number.NEGATIVE_INFINITY) + coolDownMs;
    if (symbols.length < 2 && !wasEmptied) return false;
    const entries = this.entriesOf(view);
    const status = this.statusOf(view);
    return symbols.some(
      (symbol) => status.mayShareCall(symbol, view) && this.#isServed(entries, symbol, now),
    );
  }

  #isServed({ entries }: ViewEntries, symbol: string, now: number): boolean {
    const entry = entries.get(symbol);
    return entry !== undefined && now - entry.sentAt <= this.#options.expireAfterMs;
  }

  #applyToStatus(record: RefreshRecord, now: number): void {
    const own = this.entriesOf(record.view);
    const { category } = own.view;
    const others = [...this.views.values()].filter((one) => one.view.category === category && one !== own);
    const status = this.statusIn(category);
    const served = {
      here: (symbol: string) => this.#isServed(own, symbol, now),
      elsewhere: (symbol: string) => others.some((one) => this.#isServed(one, symbol, now)),
    };
    for (const symbol of status.apply(record, now, served)) {
      own.remove(symbol);
      if (!status.exists(symbol)) for (const other of others) other.remove(symbol);
    }
  }
}

const hitKey = (view: string, symbol: string) => `${view}/${symbol}`;
