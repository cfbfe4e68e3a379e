/** What a budget tells of its work, for metrics and logs. */

import type { Priority } from './priorities.ts';
import type { RefusalReason } from './wait-queue.ts';

export type LimiterReport =
  | {
      readonly kind: 'granted';
      readonly priority: Priority;
      readonly waitedMs: number;
      /** What the window of the widest limit still holds; 0 when the store is away. */
      readonly remaining: number;
    }
  | {
      readonly kind: 'refused';
      readonly priority: Priority;
      readonly reason: RefusalReason;
      readonly waitedMs: number;
      readonly retryAfterMs: number;
    }
  /** A permission was not used in its life, or its limit was closed meanwhile: it is lost. */
  | { readonly kind: 'expired'; readonly priority: Priority }
  /** The upstream itself refused; nothing is given before `until` (ms since the epoch). */
  | { readonly kind: 'blocked'; readonly limit: string; readonly until: number }
  /** Told of every time that the store throttled us, or that we lost every race for the item. */
  | { readonly kind: 'store_busy'; readonly cause: unknown }
  /** Told of every failed operation; from the first on this instance has only its own share, if any. */
  | { readonly kind: 'store_unavailable'; readonly cause: unknown }
  | { readonly kind: 'store_recovered' };
