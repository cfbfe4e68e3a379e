/** What the quotes need besides their store: permissions, the upstream, a clock. */

import type { UpstreamError } from './store.ts';
import type { View } from './view.ts';

/** One request's worth of the budget that all instances share. */
export interface RefreshPermit {
  /** When it is worth nothing any more, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Asked immediately before the request leaves; true at most once, and never after its time. */
  consume(): boolean;
}

export type RefreshPermitAnswer =
  | { readonly ok: true; readonly permit: RefreshPermit }
  | { readonly ok: false; readonly retryAfterMs: number };

/**
 * `interactive` for what clients have, refreshes too, because each of these is for all who ask; `events` when
 * only callers that events drive wait for it, and `background` when only they ask at all.
 */
export type RefreshPriority = 'interactive' | 'events' | 'background';

/** Port: the budget. */
export interface RefreshPermits {
  /** Waits `waitMs` at most. */
  ask(call: { readonly priority: RefreshPriority; readonly waitMs: number }): Promise<RefreshPermitAnswer>;
}

export type UpstreamAnswer =
  | { readonly kind: 'answer'; readonly body: Uint8Array }
  /** The upstream refused what was asked for: one of the symbols, as far as can be known. */
  | { readonly kind: 'rejected'; readonly says: UpstreamError }
  /** The upstream refuses this view, whatever the symbols: no subscription, for example. */
  | { readonly kind: 'denied'; readonly says: UpstreamError; readonly forMs?: number }
  /**
   * No answer, a broken one, a failure; `retryAfterMs` when the upstream named a time. `wasHeld` when nothing
   * was sent, so that nothing was learnt of the upstream.
   */
  | { readonly kind: 'failed'; readonly retryAfterMs?: number; readonly wasHeld?: true };

/** Port: one request, never two; each that leaves needs a permission of its own. Resolves always. */
export type AskUpstream = (
  view: View,
  symbols: readonly string[],
  permission: RefreshPermit,
  timeoutMs: number,
) => Promise<UpstreamAnswer>;

export interface Runtime {
  /** Now, in milliseconds since the epoch; a clock that goes on while the instance is frozen. */
  readonly clock: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** From 0 to below 1. */
  readonly random: () => number;
}
