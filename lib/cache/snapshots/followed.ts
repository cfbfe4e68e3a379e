/** The snapshot cache for those who follow symbols: what is known of each, without a request for it. */

import { ageMsOf } from '../../kernel/age.ts';
import type { ServedSnapshot } from './call.ts';
import { createInstance, type SnapshotCacheOptions } from './instance.ts';
import { defaultSnapshotOptions } from './options.ts';
import { maxSymbolLength } from './pending-miss.ts';
import { SharedSnapshotCache } from './snapshot-cache.ts';
import type { View } from './view.ts';

/** What is known of a symbol now. */
export type Look =
  | { readonly kind: 'known'; readonly snapshot: ServedSnapshot; readonly stale: boolean }
  /** The upstream does not know it; or, where it may exist, the list of symbols lacks it, and nobody has asked for it lately. */
  | { readonly kind: 'unknown'; readonly mayExist?: true }
  /** No instance has it, or what they have is too old to be served. */
  | { readonly kind: 'missing' };

/**
 * For each process that follows, in milliseconds: all of them poll a thousand times a second at most. They read the log all
 * the time, and one partition key of the store has 3,000 units a second for them, for requests and for those who refresh.
 */
const pollMsOfEach = 1;

export class FollowedSnapshots extends SharedSnapshotCache {
  /** @param processes that follow the same store at most */
  constructor(options: SnapshotCacheOptions, processes = 1) {
    const pollMs = Math.max(defaultSnapshotOptions.pollMs, pollMsOfEach * processes);
    super(createInstance({ ...options, options: { ...options.options, pollMs } }));
  }

  /** What every request does first: reads what other instances fetched, and refreshes if that is due. */
  follow(): Promise<void> {
    return this.keepUp({ deadline: Number.POSITIVE_INFINITY, isEventDriven: false });
  }

  /** Asks nobody. */
  look(view: View, symbol: string): Look {
    const { memory, options, runtime } = this.instance;
    const now = runtime.clock();
    const snapshot = memory.entriesOf(view.id).entries.get(symbol);
    const ageMs = ageMsOf(snapshot?.sentAt ?? Number.NEGATIVE_INFINITY, now);
    if (snapshot && ageMs <= options.expireAfterMs)
      return { kind: 'known', snapshot, stale: ageMs > options.staleAfterMs };
    if (symbol.length > maxSymbolLength || memory.negativeEntry(view.id, symbol, now))
      return { kind: 'unknown' };
    return memory.isUnlisted(view.id, symbol) ? { kind: 'unknown', mayExist: true } : { kind: 'missing' };
  }

  /** Counts so many requests for a symbol of this instance, by which it is refreshed. */
  count(view: View, symbol: string, times: number): void {
    const { memory, runtime } = this.instance;
    const entries = memory.entriesOf(view.id);
    const entry = entries.entries.get(symbol);
    if (entry) entries.countRequest(entry, runtime.clock(), times);
  }
}
