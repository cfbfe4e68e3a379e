/** What comes into the core and goes out of it: HTTP without a platform. */

import type { Caller } from '../identity/caller.ts';
import type { Priority } from '../limiter/index.ts';

export interface GatewayRequest {
  readonly method: string;
  /** The path of the route, which is signed and sent; stages and base-path mappings are not in it. */
  readonly path: string;
  /** Decoded, in the order received. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Names this request in answers and logs. */
  readonly requestId: string;
  /** When the platform stops waiting, by the gateway's clock; no attempt outlasts it. */
  readonly deadline?: number;
  /**
   * Who asks, by a name that `callerOf` or `callerName` made; what is shared is shared out by it. Default: all are one.
   */
  readonly caller?: Caller;
  /** Whose turn it is when the upstream's limit is short. Default interactive; never for a client to say. */
  readonly priority?: Priority;
}

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** How old each shared record is, in milliseconds, by symbol; for lookups by event alone. */
  readonly recordAges?: ReadonlyMap<string, number>;
}
