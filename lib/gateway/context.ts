/** What accompanies a request on its way to the upstream. */

import type { Priority } from '../limiter/index.ts';

export interface RequestContext {
  /** When the platform stops waiting, by the gateway's clock. */
  readonly deadline: number;
  /** An attempt leaves the gateway by then or not at all, by the gateway's clock. Default the deadline. */
  readonly leaveBy?: number;
  readonly priority?: Priority | undefined;
  /** Network of the sender, for whom no user is known. Absent for the gateway's own requests. */
  readonly caller?: string | undefined;
  readonly usage: UpstreamUsage;
  readonly parties: Parties;
}

/** Whom the request comes from and whom it is about, as far as it has come: keyed hashes, for the report. */
export type Parties = { -readonly [K in 'app' | 'user' | 'account']?: string };

/** What the request took of the limiter and of the upstream: changed on the way. */
export interface UpstreamUsage {
  /** Requests that were sent to the upstream. */
  attempts: number;
  /** For permits of the limiter, in milliseconds; absent when the limiter was not asked. */
  waitedMs?: number;
  /** When the last attempt was about to leave, by the steady clock: after its wait for a permit. */
  sentAt?: number;
  /**
   * The app key of the last attempt, which is another account's when the secret changed meanwhile; never
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
