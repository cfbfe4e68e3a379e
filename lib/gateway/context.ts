/** What is learnt about a request on its way, for the report. */

import type { Operation } from '../catalogue/operation.ts';
import type { Priority } from '../limiter/index.ts';

export interface RequestContext {
  operation?: Operation;
  /** Requests that were sent to the upstream. */
  attempts: number;
  /** For permissions of the budget, in milliseconds. */
  waitedMs?: number;
  /** The app key of the last attempt, which is another account's when the secret was changed meanwhile; never reported. */
  signedBy?: string;
  /** How a shared answer came about. */
  cacheResult?: CacheResult;
  /** When the platform stops waiting, by the gateway's clock. */
  readonly deadline: number;
  readonly priority?: Priority;
}

/** `hit`: it was there; `collapsed`: another request asked the upstream for it meanwhile; `miss`: this one did. */
export type CacheResult = 'hit' | 'collapsed' | 'miss';
