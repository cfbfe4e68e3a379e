/** What a gateway is made of, and what it reports. */

import { type UpstreamLimits, upstreamLimitsFault } from '../catalogue/limits.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { Limiter } from '../limiter/index.ts';
import type { RefusalCode, ReportedUpstream } from '../problem.ts';
import { baseUrlFault } from './base-url.ts';
import type { CacheOptions, RefreshReport } from './cache-options.ts';
import type { SecretSource } from './credentials.ts';
import { type OperationLimits, operationLimitsFault } from './operation-limits.ts';
import type { CacheResult } from './outcome.ts';
import type { Send } from './send.ts';
import { type UpstreamPaths, upstreamPathsFault } from './upstream-paths.ts';

export interface GatewayOptions {
  /** What this gateway offers; any other operation is unknown to it. */
  readonly operations: readonly Operation[];
  /** The upstream, `https:` or loopback, with or without a path prefix. */
  readonly upstreamBaseUrl: string;
  /** Where an operation is sent instead of the path that it was called by. */
  readonly upstreamPaths?: UpstreamPaths;
  readonly secrets: SecretSource;
  /** Default: over the runtime's fetch. */
  readonly send?: Send;
  /**
   * Grants a permit for every attempt that counts against a limit: it has to know all that `limiterLimits` returns, or
   * what counts against another one is answered with `gateway_error`. Default: none, and everything is sent.
   */
  readonly limiter?: Limiter;
  /** Stores of the cache that all instances share. Default: none, and every read goes to the upstream. */
  readonly cache?: CacheOptions;
  /** Limits besides the catalogue's; the limiter has to know them, too. */
  readonly operationLimits?: OperationLimits;
  /** What the upstream allows; the limiter has to know it, too. Default `interface`. */
  readonly upstreamLimits?: UpstreamLimits;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** The signer's nonces; replace them in tests only. */
  readonly nonce?: () => string;
  /** How long the upstream may take for one attempt, to the last byte. Default 10 s. */
  readonly upstreamTimeoutMs?: number;
  /** The largest answer that is passed on, decompressed. Default 4 MiB. */
  readonly maxAnswerBytes?: number;
  /** Whether the platform can carry a body of these bytes; one that it cannot counts as too large. */
  readonly canCarry?: (body: Uint8Array) => boolean;
  /** Reads the secret now, so that the first request finds it; a failure is left to that request. */
  readonly readSecretAhead?: boolean;
  /** How long a secret is used before it is read again. Default 5 minutes. */
  readonly secretTimeToLiveMs?: number;
  /** Called once for every request. A report contains nothing that a client sent except the operation. */
  readonly report?: (report: RequestReport) => void;
  /** Called for a refresh of the snapshot cache that brought nothing. */
  readonly reportRefresh?: (report: RefreshReport) => void;
}

export interface RequestReport extends ReportedUpstream {
  readonly requestId: string;
  readonly operation?: string;
  readonly status: number;
  readonly code?: RefusalCode;
  /**
   * Requests sent to the upstream for this one: more than one only of a read, after a refused signature or a dead
   * connection.
   */
  readonly attempts: number;
  readonly milliseconds: number;
  /** How long it waited for permits of the limiter; absent when the limiter was not asked. */
  readonly waitedMs?: number;
  /** Of an answer from the cache: whether it was cached, or which request fetched it. */
  readonly cache?: CacheResult;
  /** A defect of the gateway, for the log alone. */
  readonly defect?: unknown;
}

/** @throws TypeError for options that no request could be served with */
export function checkOptions({
  operations,
  upstreamBaseUrl,
  upstreamPaths = {},
  operationLimits = {},
  upstreamLimits = 'interface',
}: GatewayOptions): void {
  const faults = {
    upstreamBaseUrl: baseUrlFault(upstreamBaseUrl),
    upstreamPaths: upstreamPathsFault(upstreamPaths, operations),
    upstreamLimits: upstreamLimitsFault(upstreamLimits),
    operationLimits: operationLimitsFault(operationLimits, operations, upstreamLimits),
  };
  for (const [name, fault] of Object.entries(faults)) if (fault) throw new TypeError(`${name}: ${fault}`);
}
