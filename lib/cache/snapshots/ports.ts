/** What the snapshot cache needs besides its store: permits, the upstream, a clock; and its options. */

import type { Permit, Priority } from '../../limiter/index.ts';
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

/** What the upstream answered when it refused. */
export interface UpstreamError {
  readonly status: number;
  readonly errorCode?: string;
  readonly message?: string;
  /** What the error means to the gateway that recorded it, and why it came; opaque here. */
  readonly code?: string;
  readonly cause?: string | undefined;
  readonly clockOffsetSeconds?: number | undefined;
  /** Of a refusal that says nothing of whether a symbol exists: how long it stands. */
  readonly forMs?: number;
}

export interface SnapshotOptions {
  /** The distance of refreshes while all is well: a little less than the limiter's, which has the last word. */
  readonly paceMs: number;
  /** Symbols that one call of the upstream takes. */
  readonly maxSymbols: number;
  /**
   * Symbols that one call probes, until the upstream's error messages have proved to name unknown symbols: at one
   * unknown symbol in a hundred, two of three such calls succeed.
   */
  readonly maxProbed: number;
  /** A caller with at most this many new symbols shares probes with other callers; one with more has its own. */
  readonly maxSharedSymbols: number;
  /** How old an instance's knowledge of the refresh log may be. */
  readonly pollMs: number;
  /** Soft bound: an older entry is served only after a try for a newer one, and the answer says that it is stale. */
  readonly staleAfterMs: number;
  /** Hard bound: an older entry is not served at all. */
  readonly expireAfterMs: number;
  /** How long a client waits for an entry that no instance has, at most. */
  readonly waitMs: number;
  /** For one request to the upstream. */
  readonly upstreamTimeoutMs: number;
  /** A symbol that no client requested for this long is not refreshed any more. */
  readonly forgetMs: number;
  /** How long a symbol that the upstream does not know is negative-cached. */
  readonly negativeMs: number;
  /** Symbols are refreshed as often as demand to this power, relative to each other. */
  readonly demandExponent: number;
  /** No symbol in use counts less than this part of the mean demand. */
  readonly demandFloor: number;
  /** The smallest `max-age` of a client that is honoured. */
  readonly minMaxAgeMs: number;
  /** How many refreshes a minute one caller may cause by `max-age` and `no-cache`. */
  readonly refreshesPerMinute: number;
  /** How many probes may be sent at once, and how many more each minute. */
  readonly probeBurst: number;
  readonly probesPerMinute: number;
  /** How many of a caller's probes may fail at once: after a cold start those of all callers do. */
  readonly failuresPerCaller: number;
  /** How many of them are forgiven a minute. Each is a refresh less for all: 12 of 289 raise the ages by 4 %. */
  readonly forgivenPerMinute: number;
  /** Entries, and negative entries, that an instance holds. */
  readonly maxEntries: number;
  readonly maxNegative: number;
  /**
   * Instances that may serve at the same time. When one in 32 of them begins, or is about to wait, within a second,
   * that is a storm: an instance that begins reads a copy of the checkpoint and nothing else, and no request
   * waits for what it misses.
   */
  readonly instances: number;
  /** A checkpoint is written after this many refreshes at most. */
  readonly refreshesPerCheckpoint: number;
}

export const defaultSnapshotOptions: SnapshotOptions = {
  paceMs: 206,
  maxSymbols: 100,
  maxProbed: 40,
  maxSharedSymbols: 20,
  pollMs: 70,
  staleAfterMs: 30_000,
  expireAfterMs: 300_000,
  waitMs: 4000,
  upstreamTimeoutMs: 3000,
  forgetMs: 300_000,
  negativeMs: 600_000,
  demandExponent: 0.25,
  demandFloor: 0.1,
  minMaxAgeMs: 1000,
  refreshesPerMinute: 20,
  probeBurst: 240,
  probesPerMinute: 24,
  failuresPerCaller: 30,
  forgivenPerMinute: 12,
  maxEntries: 20_000,
  maxNegative: 10_000,
  instances: 1000,
  refreshesPerCheckpoint: 40,
};

export const minuteMs = 60_000;
