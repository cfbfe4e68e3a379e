/** The request that comes into the core and the HTTP answer that leaves it, without a platform. */

import type { SenderEvidence } from '../access/evidence.ts';
import type { Caller } from '../identity/caller.ts';
import type { Priority } from '../limiter/index.ts';

export interface GatewayRequest {
  readonly method: string;
  /** The path of the route, which is signed and sent; it contains neither a stage nor a base-path mapping. */
  readonly path: string;
  /** Decoded, in the order received. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Identifies this request in answers and logs. */
  readonly requestId: string;
  /** When the platform stops waiting, by the gateway's clock; no attempt outlasts it. */
  readonly deadline?: number;
  /** When a stream ends at the latest, where that is another time. Default the deadline. */
  readonly streamDeadline?: number;
  /**
   * The unit of fairness, by a name that `callerOf` or `callerName` made. Default: all requests are one caller's.
   */
  readonly caller?: Caller;
  /** What the platform knows of the sender. Default nothing: then account data is not reachable. */
  readonly evidence?: SenderEvidence;
  /** Who comes first when the upstream's limit is short. Default interactive; a client cannot set it. */
  readonly priority?: Priority;
}

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** In place of a body: texts as they come. */
  readonly stream?: AsyncIterable<string>;
}
