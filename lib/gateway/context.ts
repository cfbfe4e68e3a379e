/** The request context: deadline, priority and counts that accompany a request on its way to the upstream. */

import type { Priority } from '../limiter/index.ts';

export interface RequestContext {
  /** When the platform stops waiting, by the gateway's clock. */
  readonly deadline: number;
  /** The last moment at which an attempt may leave the gateway, by the gateway's clock. Default the deadline. */
  readonly leaveBy?: number;
  readonly priority?: Priority | undefined;
  /** The sender's network or name, for the circuit breaker while no user is known. Absent for the gateway's own requests. */
  readonly caller?: string | undefined;
  readonly usage: UpstreamUsage;
  readonly parties: Parties;
}

/** The request's sender and account as keyed hashes, for the report. The steps add each one as they learn it. */
export type Parties = { -readonly [K in 'app' | 'user' | 'account']?: string };

/** The request's use of the limiter and of the upstream. Each attempt updates it. */
export interface UpstreamUsage {
  /** Requests sent to the upstream. */
  attempts: number;
  /** Time spent waiting for the limiter's permits, in milliseconds; absent when the limiter was not asked. */
  waitedMs?: number;
  /** Moment before the last attempt was handed to `send`, after its wait for a permit, by the steady clock. */
  sentAt?: number;
  /**
   * The app key that signed the last attempt; another account's when the secret changed during the request. Never
   * reported.
   */
  signedBy?: string;
}

export const createContext = (
  deadline: number,
  priority: Priority | undefined,
  caller?: string,
): RequestContext => ({
  deadline,
  caller,
  usage: { attempts: 0 },
  parties: {},
  priority,
});
