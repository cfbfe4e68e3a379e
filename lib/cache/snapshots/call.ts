/** What a client asks of the snapshot cache, and the outcome. */

import type { SnapshotOptions } from './options.ts';
import type { UpstreamError } from './upstream-error.ts';
import type { View } from './view.ts';
import type { SnapshotEntry } from './view-entries.ts';

export interface SnapshotCall {
  readonly view: View;
  /** In the order of the answer; a symbol may occur twice. */
  readonly symbols: readonly string[];
  /** Who asks: refreshes by `max-age` and failed probes count against this caller. */
  readonly caller: string;
  /** `events` when no client waits for the answer: clients come first. Default interactive. */
  readonly priority?: 'interactive' | 'events';
  /** The client wants nothing older, in milliseconds; 0 for `no-cache`. */
  readonly maxAgeMs?: number | undefined;
  /** The client accepts entries this much older than the soft bound without a try for newer ones, in milliseconds. */
  readonly maxStaleMs?: number | undefined;
  /** The client takes what is cached, and waits for nothing. */
  readonly onlyIfCached?: true;
  /** When the client stops waiting, by the clock. */
  readonly deadline?: number;
}

/** An entry as it is at the moment of the outcome; it may be newer a moment later. */
export type ServedSnapshot = Pick<SnapshotEntry, 'symbol' | 'record' | 'hash' | 'sentAt'>;

export type SnapshotOutcome =
  | {
      readonly kind: 'snapshots';
      /** Each requested symbol that exists, in the order of the call. */
      readonly snapshots: readonly ServedSnapshot[];
      /** Of the oldest, in milliseconds. */
      readonly ageMs: number;
      /** Symbols that the upstream does not know. */
      readonly unknown: readonly string[];
      /** Whether all was in memory, or a refresh had to be waited for: this request's own or another's. */
      readonly from: 'memory' | 'own-call' | 'other-call';
      /** Older than the soft bound. */
      readonly stale: boolean;
      /** Whether the client set a `max-age`. */
      readonly hasMaxAge: boolean;
      /** After this time asking again is likely to bring something new. */
      readonly pollAfterMs: number;
    }
  /** The upstream refuses all of the symbols, or the view. */
  | { readonly kind: 'refused'; readonly error: UpstreamError }
  /** Some entries are missing or expired, and could not be refreshed in time. */
  | {
      readonly kind: 'unavailable';
      readonly cached: readonly ServedSnapshot[];
      readonly missing: readonly string[];
      readonly retryAfterMs: number;
      /** The caller's quota of invalid symbols is used up: no more of its symbols are probed for now. */
      readonly isOverQuota: boolean;
    };

export interface SnapshotCache {
  /** Always resolves; waits `waitMs` at most. */
  ask(call: SnapshotCall): Promise<SnapshotOutcome>;
}

/** How old an entry may be for a call that is served without a try for a newer one. */
export function ageLimit(
  { maxAgeMs, maxStaleMs = 0 }: Pick<SnapshotCall, 'maxAgeMs' | 'maxStaleMs'>,
  { staleAfterMs, expireAfterMs, minMaxAgeMs }: SnapshotOptions,
): number {
  if (maxAgeMs !== undefined) return Math.min(staleAfterMs, Math.max(minMaxAgeMs, maxAgeMs));
  return Math.min(expireAfterMs, staleAfterMs + maxStaleMs);
}
