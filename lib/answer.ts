/** The answer to a request that was sent, or its refusal. */

import type { Refusal } from './problem.ts';

/** The upstream's answer, or a refusal. */
export type Answer = UncachedAnswer | Refused;

/** The upstream answered this request, and no cache took part. */
export interface UncachedAnswer {
  readonly kind: 'uncached';
  readonly body: Uint8Array;
  readonly upstreamRequestId?: string;
  /** What became of an earlier request: this one was not sent, or its own answer was lost. */
  readonly isReplayed?: boolean;
}

export interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  /** No request left the gateway, so that the refusal says nothing about the upstream. */
  readonly wasNotSent?: true;
}

export const refused = (refusal: Refusal): Refused => ({ kind: 'refused', refusal });
