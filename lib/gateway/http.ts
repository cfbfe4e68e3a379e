/** The core's request and HTTP answer, independent of any platform. */

import type { SenderEvidence } from '../access/evidence.ts';
import type { Caller } from '../identity/caller.ts';
import type { Priority } from '../limiter/index.ts';

export interface GatewayRequest {
  readonly method: string;
  /** The route's path, which is signed and sent, without a stage or a base-path mapping. */
  readonly path: string;
  /** Decoded pairs in the order received. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Identifies this request in answers and logs. */
  readonly requestId: string;
  /** When the platform stops waiting, by the gateway's clock; no attempt outlasts it. */
  readonly deadline?: number;
  /** Latest end of a stream, where it differs from the deadline. Default the deadline. */
  readonly streamDeadline?: number;
  /**
   * The caller for quotas and fairness, as `callerOf` or `callerName` makes it. Default: all requests are one caller's.
   */
  readonly caller?: Caller;
  /** The platform's evidence of the sender. Default none: then the gateway refuses account data. */
  readonly evidence?: SenderEvidence;
  /** Rank in the limiter's queue. Default interactive; a client cannot set it. */
  readonly priority?: Priority;
}

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Texts of a streamed answer, which replace the body. */
  readonly stream?: AsyncIterable<string>;
}
