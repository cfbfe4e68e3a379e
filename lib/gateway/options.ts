/** Options of a gateway, and its report on each request. */

import { upstreamLimitsFault } from '../catalogue/limits.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import type { RefusalCode, ReportedUpstream } from '../problem.ts';
import type { Digests } from '../signer/index.ts';
import { baseUrlFault, doubledPathFault } from '../upstream/base-url.ts';
import type { CacheStep } from './cache.ts';
import type { RefreshReport } from './cache-options.ts';
import type { SecretSource } from './credentials.ts';
import type { GatewayRequest } from './http.ts';
import type { LimitsWiring } from './limits/in-force.ts';
import { operationLimitsFault } from './limits/operation-limits.ts';
import type { OrdersStep } from './orders-port.ts';
import type { CacheResult, Outcome } from './outcome.ts';
import type { ReachNow } from './reach.ts';
import type { Send } from './send.ts';
import { sentPaths, type UpstreamPaths, upstreamPathsFault } from './upstream-paths.ts';
import { type AccessStep, accessFault } from './who.ts';

/** Parts of every gateway, whatever its steps are. */
interface BaseWiring extends LimitsWiring {
  /** The upstream's URL, `https:` or loopback, with or without a path prefix. */
  readonly upstreamBaseUrl: string;
  /** Paths to which operations are sent instead of the path of the client's request. */
  readonly upstreamPaths: UpstreamPaths;
  readonly secrets: SecretSource;
  /** Sends one signed request. Default: the runtime's fetch. */
  readonly send: Send;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  /** The signer's SHA-256 and HMAC. Default: WebCrypto's. */
  readonly digests: Digests;
  /** Time limit of one attempt at the upstream, to the last byte. Default 10 s. */
  readonly upstreamTimeoutMs: number | undefined;
  /** Reads the secret when the gateway is created, so that the first request finds it; a failure shows in that request. */
  readonly readSecretAhead: boolean;
  /** Called once for every request. A report contains nothing that a client sent except the operation. */
  readonly report: (report: RequestReport) => void;
  /** Called for a refresh of the snapshot cache that brought nothing. */
  readonly reportRefresh: (report: RefreshReport) => void;
}

/** Dependencies that tests replace. */
export interface GatewaySeams {
  /** Random numbers from 0 to below 1, for the pauses before a read is sent again. Default `Math.random`. */
  readonly random?: () => number;
  /** Creates the signer's nonces. */
  readonly nonce?: () => string;
}

export interface AnswerBound {
  /** Largest answer in bytes, decompressed. Default 1 MiB, and 2 MiB for account data. Lambda can carry 3 MB. */
  readonly maxAnswerBytes?: number;
}

export interface BaseOptions
  extends OptionsOf<BaseWiring, 'operations' | 'upstreamBaseUrl' | 'secrets'>,
    GatewaySeams,
    AnswerBound {
  /** How long a secret is used before it is read again. Default 5 minutes. */
  readonly secretTimeToLiveMs?: number;
}

/** Answers requests for streams of an account's events; checks the sender's accounts again while a stream is open. */
export type EventsStep = (request: GatewayRequest, reachNow: ReachNow) => Promise<Outcome>;

/** Steps passed as values, so that a bundle contains only the steps of its gateway. */
interface Steps {
  readonly access: AccessStep | 'single-user' | undefined;
  readonly cache: CacheStep | undefined;
  readonly orders: OrdersStep | undefined;
}

export interface CoreWiring extends BaseWiring, Steps {}

export interface CoreOptions extends BaseOptions, Partial<Steps> {
  /** Streams of trade events, for a gateway that offers them. */
  readonly events?: EventsStep;
}

export interface RequestReport extends ReportedUpstream {
  readonly requestId: string;
  readonly operation?: string;
  readonly status: number;
  readonly code?: RefusalCode;
  /** Names of the guard rails that refused an order. */
  readonly blockedBy?: readonly string[];
  /** Keyed hashes: the app, the user, and the account that the request names. */
  readonly app?: string;
  readonly user?: string;
  readonly account?: string;
  /**
   * Requests sent to the upstream for this request. Only a read has more than one: after a refused signature, a missing
   * answer or a failure of the upstream. Quotes have none, because a refresh serves many requests.
   */
  readonly attempts: number;
  readonly milliseconds: number;
  /** Time the request waited for the limiter's permits, in milliseconds; absent when the limiter was not asked. */
  readonly waitedMs?: number;
  /** For an answer of the cache: whether it was cached, or which request fetched it. */
  readonly cache?: CacheResult;
  /** Age of the oldest quote in an answer of shared quotes, in milliseconds. */
  readonly quotesAgeMs?: number;
  /** Present when the oldest quote in the answer is beyond the soft bound (`staleAfterMs`). */
  readonly stale?: true;
  /** A defect of the gateway, for the log alone. */
  readonly defect?: unknown;
}

/** @throws TypeError for options with which no request could be served */
export function checkOptions({
  operations,
  upstreamBaseUrl,
  upstreamPaths = {},
  operationLimits = {},
  upstreamLimits = 'interface',
  access,
  orders,
}: CoreOptions): void {
  const asked = [...operations.map((one) => one.follows ?? one), ...(orders?.lookUps ?? [])];
  const pathsFault = upstreamPathsFault(upstreamPaths, asked);
  const paths = pathsFault ? [] : sentPaths(asked, upstreamPaths);
  const faults = {
    access: accessFault(access, operations),
    upstreamBaseUrl: baseUrlFault(upstreamBaseUrl) ?? doubledPathFault(upstreamBaseUrl, paths),
    upstreamPaths: pathsFault,
    upstreamLimits: upstreamLimitsFault(upstreamLimits),
    operationLimits: operationLimitsFault(operationLimits, asked, upstreamLimits),
  };
  for (const [name, fault] of Object.entries(faults)) if (fault) throw new TypeError(`${name}: ${fault}`);
}
