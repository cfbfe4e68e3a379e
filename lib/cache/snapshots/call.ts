/** What clients ask of the quotes, and what they get. */

import type { SnapshotOptions } from './options.ts';
import type { UpstreamError } from './store.ts';
import type { View } from './view.ts';
import type { SnapshotEntry } from './view-entries.ts';

export interface SnapshotCall {
  readonly view: View;
  /** In the order of the answer; a symbol may come twice. */
  readonly symbols: readonly string[];
  /** Who asks: what he wishes beyond what is there is paid from his share. */
  readonly caller: string;
  /** `events` when no client waits for the answer: then clients come first. Default interactive. */
  readonly priority?: 'interactive' | 'events';
  /** Wants nothing older, in milliseconds; 0 for `no-cache`. */
  readonly maxAgeMs?: number;
  /** Takes what is older than the bound by so much without a try for newer, in milliseconds. */
  readonly maxStaleMs?: number;
  /** Takes what is there, and waits for nothing. */
  readonly onlyIfCached?: true;
  /** When the client stops waiting, by the clock. */
  readonly deadline?: number;
}

/** As it is when the outcome is given; it may be newer a moment later. */
export type Snapshot = Pick<SnapshotEntry, 'symbol' | 'record' | 'hash' | 'sentAt'>;

export type SnapshotOutcome =
  | {
      readonly kind: 'quotes';
      /** Each symbol asked that exists, in the order asked. */
      readonly quotes: readonly Snapshot[];
      /** Of the oldest, in milliseconds. */
      readonly ageMs: number;
      /** Symbols that the upstream does not know. */
      readonly unknown: readonly string[];
      /** Whether it was there, or somebody had to be waited for: this request or another. */
      readonly from: 'memory' | 'own-turn' | 'other-turn';
      /** Beyond the bound. */
      readonly stale: boolean;
      /** Whether it was waited for because the client wants nothing older. */
      readonly isWish: boolean;
      /** When asking again is likely to bring something new. */
      readonly pollAfterMs: number;
    }
  /** The upstream refuses all of the symbols, or the view. */
  | { readonly kind: 'refused'; readonly says: UpstreamError }
  /** Not all is known that was asked for, or it is too old, and it could not be had in time. */
  | {
      readonly kind: 'unavailable';
      readonly known: readonly Snapshot[];
      readonly missing: readonly string[];
      readonly retryAfterMs: number;
      /** So many of the caller's symbols were unknown lately that nobody looks for more of them. */
      readonly isSpent: boolean;
    };

export interface SnapshotCache {
  /** Always resolves; waits `waitMs` at most. */
  ask(call: SnapshotCall): Promise<SnapshotOutcome>;
}

/** How old a quote may be for a call that does without a newer one. */
export function ageLimit(
  { maxAgeMs, maxStaleMs = 0 }: Pick<SnapshotCall, 'maxAgeMs' | 'maxStaleMs'>,
  { staleAfterMs, expireAfterMs, minMaxAgeMs }: SnapshotOptions,
): number {
  if (maxAgeMs !== undefined) return Math.min(staleAfterMs, Math.max(minMaxAgeMs, maxAgeMs));
  return Math.min(expireAfterMs, staleAfterMs + maxStaleMs);
}
