/** Answers to a request: the upstream's, or a refusal. */

import type { Refusal } from './problem.ts';

/** The upstream's answer, or a refusal. */
export type Answer = UncachedAnswer | Refused;

/** Answer of the upstream to this very request: no cache took part. */
export interface UncachedAnswer {
  readonly kind: 'uncached';
  readonly body: Uint8Array;
  readonly upstreamRequestId?: string;
  /** The body is the outcome of an earlier request: this one was not sent, or its own answer was lost. */
  readonly isReplayed?: boolean;
}

export interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  /** No request left the gateway, so that the refusal says nothing about the upstream. */
  readonly wasNotSent?: true;
}

export const refused = (refusal: Refusal): Refused => ({ kind: 'refused', refusal });
