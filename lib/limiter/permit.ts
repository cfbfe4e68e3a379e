/** Permits, one for each request: the request for one, the answer with the reasons of a refusal, and the limiter's reports. */

import type { Priority } from './limits.ts';

/**
 * Permission for one request under a limit. It is counted from its grant until its window is over, or until it expires
 * unused: then its instance gives it back, and `consume()` returns false from that moment on.
 *
 * @example
 * const answer = await limiter.acquire({ appKey, limits: ['api'] });
 * if (answer.ok && answer.permit.consume()) send(request);
 */
export interface Permit {
  /** When the permit becomes worthless, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /**
   * Call it immediately before the request goes to the socket, with nothing awaited in between. Returns true at most once.
   * Returns false when the permit has expired, as after a freeze, or its limit is known to be blocked: then the request
   * must not leave, and a caller that still wants to send it acquires another permit.
   */
  consume(): boolean;
}

/**
 * Why no permit was granted. `exhausted`: this limiter's instances, or others on the same app key, have used
 * the limit; `blocked`: the upstream itself has just refused a request; `store_busy`: the store throttles
 * requests, or too many instances write at once; `store_unavailable`: the store cannot be reached;
 * `share_exhausted`: the request's user has used as much of the limit as is left for all others.
 */
export type RefusalReason = 'exhausted' | 'share_exhausted' | 'blocked' | 'store_busy' | 'store_unavailable';

/** A permit, or the reason why there is none. */
export type PermitAnswer =
  | { readonly ok: true; readonly permit: Permit }
  /**
   * `retryAfterMs`: time in milliseconds before which another attempt is useless. `usedUp`: the limit, of several, that has
   * no permit, where it is known; requests that do not count against it may get one.
   */
  | {
      readonly ok: false;
      readonly reason: RefusalReason;
      readonly retryAfterMs: number;
      readonly usedUp?: string;
    };

/** Remaining permits of one limit. */
export interface Remaining {
  readonly limit: string;
  readonly remaining: number;
  /** How many permits the limit's window holds in all. */
  readonly capacity: number;
}

/**
 * A limiter's report of an event, for metrics and logs.
 *
 * @example
 * const report = (report: LimiterReport) => {
 *   if (report.kind === 'refused') refusals.add(1, { reason: report.reason });
 * };
 */
export type LimiterReport =
  | {
      readonly kind: 'granted';
      readonly priority: Priority;
      /** The widest of the limits that the request counts against. */
      readonly limit: string;
      readonly waitedMs: number;
      /** How many permits of `limit` are left in its window; 0 when the store is unavailable. */
      readonly remaining: number;
      /** The narrower limit with the smallest part left, where that part is smaller than the widest limit's. */
      readonly narrowest?: Remaining;
    }
  | {
      readonly kind: 'refused';
      readonly priority: Priority;
      readonly limit: string;
      readonly reason: RefusalReason;
      readonly waitedMs: number;
      readonly retryAfterMs: number;
    }
  /** A permit was not used in its life, or its limit was blocked meanwhile: its instance gives it back. */
  | { readonly kind: 'expired'; readonly priority: Priority }
  /** The upstream itself refused; no permit is granted before `until` (ms since the epoch). */
  | { readonly kind: 'blocked'; readonly limit: string; readonly until: number }
  /** Each time the store throttled this instance, or it lost every race for the item. */
  | { readonly kind: 'store_busy'; readonly cause: unknown }
  /** Each failed operation of the store; from the first one on, this instance has only its reserve, if any. */
  | { readonly kind: 'store_unavailable'; readonly cause: unknown }
  /** The first answer of the store after a failure. */
  | { readonly kind: 'store_recovered' };

/** One request that wants a permit. */
export interface PermitCall {
  /** The key by which the upstream counts requests. Each has its own limits. */
  readonly appKey: string;
  /** Limits that the request counts against: one that is within no other, then limits within it. */
  readonly limits: readonly [string, ...string[]];
  /**
   * Short name, without `@`, of the user for whom the request is sent: a user may use no more of a limit than is left for
   * others. Default: no user, and no share.
   */
  readonly user?: string;
  /** Rank among waiting requests. Default interactive. */
  readonly priority?: Priority;
  /**
   * Longest wait for the permit, in milliseconds. Default 2 s. After it, the request still waits for an answer of the
   * store that is under way, at most 500 ms.
   */
  readonly waitMs?: number;
}
