/** What the snapshot cache needs besides its store: permits, the upstream, a clock. */

import type { Permit, Priority } from '../../limiter/index.ts';
import type { UpstreamError } from './upstream-error.ts';
import type { View } from './view.ts';

export type RefreshPermitAnswer =
  | { readonly ok: true; readonly permit: Permit }
  /** `isLocal`: for a reason that other instances may not have, such as a limiter that cannot be asked. */
  | { readonly ok: false; readonly retryAfterMs: number; readonly isLocal?: true };

/**
 * Port: the limiter. A call's priority is `interactive` while clients ask, for refreshes too, because each refresh
 * serves all clients; `events` when only events wait for the result; `background` when only events ask at all and
 * none of them waits.
 */
export interface RefreshPermits {
  /** Waits `waitMs` at most. */
  acquire(call: { readonly priority: Priority; readonly waitMs: number }): Promise<RefreshPermitAnswer>;
}

export type UpstreamAnswer =
  | { readonly kind: 'answer'; readonly body: Uint8Array }
  /** The upstream refused what was asked for: one of the symbols, as far as can be known. */
  | { readonly kind: 'rejected'; readonly error: UpstreamError }
  /** The upstream refuses every symbol of this view: no subscription, for example. Or, where it may be, one of these. */
  | {
      readonly kind: 'forbidden';
      readonly error: UpstreamError;
      readonly forMs?: number;
      readonly mayBeOfSymbols?: boolean;
    }
  /**
   * No answer, a broken one, a failure; `retryAfterMs` when a time was named. `isLocal` when nothing was learnt of the
   * upstream, because no request left or it had too little time: then the time is this instance's alone.
   */
  | { readonly kind: 'failed'; readonly retryAfterMs?: number; readonly isLocal?: true };

/**
 * Port: one request, never two; each that leaves needs a permit of its own. Always resolves. `caller` is who brought the
 * symbols, where they are new.
 */
export type AskUpstream = (
  view: View,
  symbols: readonly string[],
  permit: Permit,
  timeoutMs: number,
  caller?: string,
) => Promise<UpstreamAnswer>;

export interface Runtime {
  /** Now, in milliseconds since the epoch; a clock that goes on while the instance is frozen. */
  readonly clock: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** From 0 to below 1. */
  readonly random: () => number;
}
