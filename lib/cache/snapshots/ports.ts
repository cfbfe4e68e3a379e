/** Ports of the snapshot cache besides its store: permits, the upstream, a clock; and its options. */

import type { Permit, Priority } from '../../limiter/index.ts';
import type { View } from './view.ts';

export type RefreshPermitAnswer =
  | { readonly ok: true; readonly permit: Permit }
  /** `isLocal`: other instances may not have the reason, such as a limiter that cannot be asked. */
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

export type RefreshAnswer =
  | { readonly kind: 'answer'; readonly body: Uint8Array }
  /** The upstream refused the call: as far as can be known, for one of its symbols. */
  | { readonly kind: 'rejected'; readonly error: UpstreamError }
  /** The upstream refuses every symbol of this view, for want of a subscription, for example; or one of these symbols, if `mayBeOfSymbols`. */
  | {
      readonly kind: 'forbidden';
      readonly error: UpstreamError;
      readonly forMs?: number;
      readonly mayBeOfSymbols?: boolean;
    }
  /**
   * No answer, a broken one, a failure; `retryAfterMs` when a time was named. `isLocal` when the failure
   * says nothing about the upstream, because no request left or it had too little time: then only this instance waits.
   */
  | { readonly kind: 'failed'; readonly retryAfterMs?: number; readonly isLocal?: true };

/**
 * Port: one request, never two; each that leaves needs a permit of its own. Always resolves. `caller`
 * brought the symbols, where they are new.
 */
export type AskUpstream = (
  view: View,
  symbols: readonly string[],
  permit: Permit,
  timeoutMs: number,
  caller?: string,
) => Promise<RefreshAnswer>;

export interface Runtime {
  /** Now, in milliseconds since the epoch; a clock that goes on while the instance is frozen. */
  readonly clock: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** The upstream's refusal. */
export interface UpstreamError {
  readonly status: number;
  readonly errorCode?: string;
  readonly message?: string;
  /** The gateway's own code for the error, and why it came; opaque here. */
  readonly code?: string;
  readonly cause?: string | undefined;
  readonly clockOffsetSeconds?: number | undefined;
  /** How long the refusal stands, when it says nothing about whether a symbol exists. */
  readonly forMs?: number;
}

/** Times in milliseconds. */
export interface SnapshotOptions {
  /** The distance of refreshes while all is well: a little less than the limiter's, which has the last word. */
  readonly paceMs: number;
  /** Soft bound: an older entry is served only after a try for a newer one, and the answer says that it is stale. */
  readonly staleAfterMs: number;
  /** Hard bound: an older entry is not served at all. */
  readonly expireAfterMs: number;
  /** The smallest `max-age` of a client that is honoured. */
  readonly minMaxAgeMs: number;
  /** How many refreshes a minute one caller may cause by `max-age` and `no-cache`. */
  readonly refreshesPerMinute: number;
  /** How many more probes may be sent each minute, once those that may be sent at once are used up. */
  readonly probesPerMinute: number;
  /** How many of a caller's failed probes are forgiven a minute. Each is a refresh less for all: 12 of 289 raise the ages by 4 %. */
  readonly forgivenPerMinute: number;
  /**
   * Instances that may serve at the same time. When one in 32 of them begins, or is about to wait, within a second,
   * that is a storm: an instance that begins reads a copy of the checkpoint and nothing else, and no request
   * waits for what it misses.
   */
  readonly instances: number;
}

export const defaultSnapshotOptions: SnapshotOptions = {
  paceMs: 206,
  staleAfterMs: 30_000,
  expireAfterMs: 300_000,
  minMaxAgeMs: 1000,
  refreshesPerMinute: 20,
  probesPerMinute: 24,
  forgivenPerMinute: 12,
  instances: 1000,
};

/** Time limit of one request to the upstream. */
export const upstreamTimeoutMs = 3000;

export const minuteMs = 60_000;
