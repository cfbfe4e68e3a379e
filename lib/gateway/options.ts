/** What a gateway is made of, and what it reports. */

import { type UpstreamLimits, upstreamLimitsFault } from '../catalogue/limits.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import type { Limiter } from '../limiter/index.ts';
import type { OrdersOptions } from '../orders/hand-over.ts';
import type { RefusalCode, ReportedUpstream } from '../problem.ts';
import type { Digests } from '../signer/index.ts';
import { baseUrlFault, doubledPathFault } from '../upstream/base-url.ts';
import type { CacheStep } from './cache.ts';
import type { CacheOptions, RefreshReport } from './cache-options.ts';
import type { SecretSource } from './credentials.ts';
import type { GatewayRequest } from './http.ts';
import { type OperationLimits, operationLimitsFault } from './operation-limits.ts';
import type { OrdersStep } from './order-hand-over.ts';
import type { CacheResult, Outcome } from './outcome.ts';
import type { AfterRateLimit, Tightening } from './rate-limited.ts';
import type { ReachNow } from './reach.ts';
import type { UpstreamBreaker } from './read-again.ts';
import type { Send } from './send.ts';
import { sentPaths, type UpstreamPaths, upstreamPathsFault } from './upstream-paths.ts';
import { type AccessOptions, type AccessStep, accessFault } from './who.ts';

/** Parts of every gateway, whatever its steps are. */
interface BaseWiring {
  /** What this gateway offers; any other operation is unknown to it. */
  readonly operations: readonly Operation[];
  /** The upstream, `https:` or loopback, with or without a path prefix. */
  readonly upstreamBaseUrl: string;
  /** Where an operation is sent instead of the path that it was called by. */
  readonly upstreamPaths: UpstreamPaths;
  readonly secrets: SecretSource;
  /** Default: over the runtime's fetch. */
  readonly send: Send;
  /**
   * Grants a permit for every attempt that counts against a limit: it has to know all that `limiterLimits` returns, or
   * what counts against another one is answered with `gateway_error`. Default: none, and everything is sent.
   */
  readonly limiter: Limiter | undefined;
  /** Limits besides the catalogue's; the limiter has to know them, too. */
  readonly operationLimits: OperationLimits | undefined;
  /** What the upstream allows; the limiter has to know it, too. Default `interface`. */
  readonly upstreamLimits: UpstreamLimits | undefined;
  /** With it the gateway goes over to tighter limits when the upstream answers 429 in spite of these. Default: none. */
  readonly tightening: Tightening | undefined;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  /** The signer's SHA-256 and HMAC. Default: WebCrypto's. */
  readonly digests: Digests;
  /** How long the upstream may take for one attempt, to the last byte. Default 10 s. */
  readonly upstreamTimeoutMs: number | undefined;
  /** Reads the secret now, so that the first request finds it; a failure is left to that request. */
  readonly readSecretAhead: boolean;
  /** Called once for every request. A report contains nothing that a client sent except the operation. */
  readonly report: (report: RequestReport) => void;
  /** Called for a refresh of the snapshot cache that brought nothing. */
  readonly reportRefresh: (report: RefreshReport) => void;
}

/** Replaced in tests, and by the gateway itself where it makes one for each choice of limits. */
export interface GatewaySeams {
  /** For the pauses before a read is sent again, from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
  /** The signer's nonces. */
  readonly nonce?: () => string;
  /** Of the upstream's host. Default: one of its own. */
  readonly breaker?: UpstreamBreaker;
  /** In place of a pause of the limit, after a 429 of the upstream. */
  readonly afterRateLimit?: AfterRateLimit;
  /** Whether its limits are still those in force, for what lasts longer than a request. */
  readonly isInForce?: () => Promise<boolean>;
}

export interface AnswerBound {
  /** The largest answer that is passed on, decompressed. Default 1 MiB, and 2 MiB of account data. Lambda can carry 3 MB. */
  readonly maxAnswerBytes?: number;
}

interface BaseOptions
  extends OptionsOf<BaseWiring, 'operations' | 'upstreamBaseUrl' | 'secrets'>,
    GatewaySeams,
    AnswerBound {
  /** How long a secret is used before it is read again. Default 5 minutes. */
  readonly secretTimeToLiveMs?: number;
}

export interface GatewayOptions extends BaseOptions {
  /**
   * How callers show who they are, and what each may do; required when an operation belongs to an account.
   * `single-user` is for a gateway of which every caller is the holder of the app key: it checks nothing.
   */
  readonly access?: AccessOptions | 'single-user';
  /** Stores of the cache that all instances share. Default: none, and every read goes to the upstream. */
  readonly cache?: CacheOptions;
  /**
   * The journal of orders, which all instances share: an order is not sent without an entry, and one that comes again is
   * answered with what became of the first. Default: none, and each request with a side effect is sent once.
   */
  readonly orders?: OrdersOptions;
}

/** Answers requests for streams of what is kept of accounts; it asks again and again what the sender may use. */
export type EventsStep = (request: GatewayRequest, reachNow: ReachNow) => Promise<Outcome>;

/** Steps as values: what a bundle's gateway does not have is not in the bundle. */
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
  /** Which guard rails held an order back. */
  readonly blockedBy?: readonly string[];
  /** Keyed hashes: the app, the user, and the account that the request names. */
  readonly app?: string;
  readonly user?: string;
  readonly account?: string;
  /**
   * Requests sent to the upstream for this one: more than one only of a read, after a refused signature, or when no answer
   * or a failure of the upstream came.
   */
  readonly attempts: number;
  readonly milliseconds: number;
  /** How long it waited for permits of the limiter; absent when the limiter was not asked. */
  readonly waitedMs?: number;
  /** Of an answer from the cache: whether it was cached, or which request fetched it. */
  readonly cache?: CacheResult;
  /** Of an answer of shared quotes: the age of the oldest of them. */
  readonly quotesAgeMs?: number;
  /** The oldest of them is older than the bound up to which quotes are served without a word. */
  readonly stale?: true;
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
