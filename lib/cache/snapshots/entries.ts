/** The entries of one view that an instance has in memory, and how much each is in demand. */

import { streamedMembers, withNewer } from './newer-members.ts';
import type { SnapshotOptions } from './ports.ts';
import { textHash } from './records.ts';
import { type View, viewOfId } from './view.ts';

/** One symbol of a view. */
export interface SnapshotEntry {
  readonly symbol: string;
  readonly fingerprint: number;
  /** The record as the upstream sent it. */
  record: Uint8Array;
  /** Changes with the record; computed when it is first needed. */
  hash: number | undefined;
  /** When the record was current for certain: just before the upstream was asked, or the last sign of the stream that carries it. */
  sentAt: number;
  /** Just before the upstream was asked last. */
  fetchedAt: number;
  /** The market stream carries it, and told all that changed up to `sentAt`. */
  isStreamed: boolean;
  /** When a client last requested it from any instance, as far as this instance knows. */
  requestedAt: number;
  /** When the refresh log last counted a request for it. */
  flushedAt: number;
  /** How often clients of all instances requested it lately; older requests count less, each request as `DemandShares` says. */
  demand: number;
  /** How often clients of this instance requested it since the count was last flushed. */
  unflushed: number;
}

/** Stands for a symbol among those that a call asks for, in 16 bits. */
export const fingerprintOf = (symbol: string): number => textHash(symbol) & 0xffff;

/** Rounds demand to two digits, because each digit is paid for in the store. */
export const twoDigits = (demand: number): number => Number(demand.toPrecision(2));

/** Entries that an instance holds of a view. */
export const maxEntries = 20_000;
/** A symbol that no client requested for this long is not refreshed any more. */
export const forgetMs = 300_000;
/** Demand that is this old counts a third of new demand. */
const demandMs = 60_000;

export class ViewEntries {
  readonly view: View;
  readonly entries = new Map<string, SnapshotEntry>();
  readonly #expireAfterMs: number;
  readonly #unflushed = new Set<SnapshotEntry>();
  #decayedAt = Number.NEGATIVE_INFINITY;

  constructor(id: string, { expireAfterMs }: Pick<SnapshotOptions, 'expireAfterMs'>) {
    this.view = viewOfId(id);
    this.#expireAfterMs = expireAfterMs;
  }

  /**
   * Stores a record unless there is a newer one.
   *
   * @param mayBeBehind a stream may have told of newer trades: the newer value of each member stays
   */
  put(symbol: string, record: Uint8Array, sentAt: number, mayBeBehind = false): void {
    const entry = this.entries.get(symbol);
    if (entry && entry.fetchedAt >= sentAt) return;
    if (entry) {
      entry.record = mayBeBehind
        ? withNewer(record, streamedMembers(entry.record), this.view, false, sentAt)
        : record;
      entry.hash = undefined;
      entry.fetchedAt = sentAt;
      entry.sentAt = Math.max(entry.sentAt, sentAt);
      return;
    }
    this.entries.set(symbol, {
      symbol,
      fingerprint: fingerprintOf(symbol),
      record,
      hash: undefined,
      sentAt,
      fetchedAt: sentAt,
      isStreamed: false,
      // A fetch counts as demand.
      requestedAt: sentAt,
      flushedAt: sentAt,
      demand: 0,
      unflushed: 0,
    });
  }

  /** Takes over streamed members of a symbol. It adds no entry, because the stream carries no whole record. */
  change(symbol: string, members: Readonly<Record<string, string>>): void {
    const entry = this.entries.get(symbol);
    if (!entry) return;
    const record = withNewer(entry.record, members, this.view, true, entry.fetchedAt);
    if (record === entry.record) return;
    entry.record = record;
    entry.hash = undefined;
  }

  remove(symbol: string): void {
    const entry = this.entries.get(symbol);
    if (!entry) return;
    this.entries.delete(symbol);
    this.#unflushed.delete(entry);
  }

  /** Counts clients' requests for a symbol to this instance. */
  countRequest(symbol: string, now: number, times = 1): void {
    const entry = this.entries.get(symbol);
    if (!entry) return;
    entry.requestedAt = now;
    entry.unflushed += times;
    this.#unflushed.add(entry);
  }

  /** Adds an instance's demand from the refresh log. */
  mergeDemand(symbol: string, times: number, at: number): void {
    const entry = this.entries.get(symbol);
    if (!entry) return;
    entry.demand += times;
    entry.flushedAt = Math.max(entry.flushedAt, at);
    entry.requestedAt = Math.max(entry.requestedAt, at);
  }

  /** Takes over the demand from a checkpoint. */
  loadDemand(symbol: string, times: number, requestedAt: number): void {
    const entry = this.entries.get(symbol);
    if (!entry) return;
    entry.demand = Math.max(entry.demand, times);
    // `put` counted its fetch as a request; the checkpoint knows better.
    entry.requestedAt = entry.unflushed > 0 ? Math.max(entry.requestedAt, requestedAt) : requestedAt;
    entry.flushedAt = Math.max(entry.flushedAt, requestedAt);
  }

  /** Removes and returns `max` counts to publish: the longest unpublished first, so that no instance forgets those symbols. */
  flushDemand(max: number): readonly (readonly [symbol: string, times: number])[] {
    let entries = [...this.#unflushed];
    if (entries.length > max) entries = entries.sort((a, b) => a.flushedAt - b.flushedAt).slice(0, max);
    return entries.map((entry) => {
      const times = twoDigits(entry.unflushed);
      entry.unflushed = 0;
      this.#unflushed.delete(entry);
      return [entry.symbol, times] as const;
    });
  }

  /** Entries in use, after removing those that are neither in demand nor young enough to be served. */
  inUse(now: number): SnapshotEntry[] {
    const decay = Math.exp(-Math.max(0, now - this.#decayedAt) / demandMs);
    this.#decayedAt = now;
    const used: SnapshotEntry[] = [];
    for (const entry of this.entries.values()) {
      entry.demand *= decay;
      if (now - entry.requestedAt <= forgetMs) used.push(entry);
      else if (now - entry.sentAt > this.#expireAfterMs) this.remove(entry.symbol);
    }
    if (used.length <= maxEntries) return used;
    used.sort((a, b) => b.requestedAt - a.requestedAt);
    for (const entry of used.splice(maxEntries)) this.remove(entry.symbol);
    return used;
  }
}
