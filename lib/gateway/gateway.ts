/** The gateway's core: one request in, one answer out, over ports. It knows no platform. */

import type { Operation } from '../catalogue/operation.ts';
import { findRoute, routesOf } from '../catalogue/routes.ts';
import type { Limiter } from '../limiter/index.ts';
import { isRefusal, type Refusal, type RefusalCode, refusalResponse } from '../problem.ts';
import { baseUrlFault, normalBaseUrl } from './base-url.ts';
import { type CacheOptions, createCache, type RefreshReport } from './cache/index.ts';
import type { CacheResult, RequestContext } from './context.ts';
import { createCredentials, type SecretSource } from './credentials.ts';
import type { GatewayRequest, GatewayResponse } from './http.ts';
import { type OperationLimits, operationLimitsFault } from './operation-limits.ts';
import { createFetchSend, type Send } from './send.ts';
import { createUpstream } from './upstream.ts';
import { type UpstreamPaths, upstreamPathsFault } from './upstream-paths.ts';
import { validate } from './validate.ts';

export interface GatewayOptions {
  /** What this gateway offers; what is not among them does not exist here. */
  readonly operations: readonly Operation[];
  /** The upstream, `https:` or loopback, with or without a path prefix. */
  readonly upstreamBaseUrl: string;
  /** Where an operation is sent instead of the path that it was called by. */
  readonly upstreamPaths?: UpstreamPaths;
  readonly secrets: SecretSource;
  /** Default: over the runtime's fetch. */
  readonly send?: Send;
  /** Asked before every attempt that counts against a limit. Default: none, and everything is sent. */
  readonly limiter?: Limiter;
  /** Stores of what all callers share. Default: none, and every read goes to the upstream. */
  readonly cache?: CacheOptions;
  /** Limits besides the catalogue's; the budget has to know them too. */
  readonly operationLimits?: OperationLimits;
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
  /** Told of every request when it is answered. Holds nothing that a client sent but the operation. */
  readonly report?: (report: RequestReport) => void;
  /** Told of requests to the upstream for what all share, when they brought nothing. */
  readonly reportRefresh?: (report: RefreshReport) => void;
}

export interface RequestReport {
  readonly requestId: string;
  readonly operation?: string;
  readonly status: number;
  readonly code?: RefusalCode;
  readonly upstreamStatus?: number;
  readonly upstreamCode?: string;
  /** Requests sent to the upstream for this one: more than one only of a read, after a refused signature or a dead connection. */
  readonly attempts: number;
  readonly milliseconds: number;
  /** How long it waited for permissions of the budget; absent when it was not asked. */
  readonly waitedMs?: number;
  /** Of a shared answer: whether it was there already, or whose request to the upstream brought it. */
  readonly cache?: CacheResult;
  /** A defect of ours, for the log alone. */
  readonly defect?: unknown;
}

export interface Gateway {
  /** Always resolves; whatever goes wrong is an answer. */
  handle(request: GatewayRequest): Promise<GatewayResponse>;
}

/**
 * @throws TypeError when the base URL is neither https nor loopback, or has a query, when a path is not one, or
 * when a limit does not fit the operations that it is for
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { upstreamTimeoutMs = 10_000, maxAnswerBytes = 4 * 1024 * 1024, clock = Date.now } = options;
  const { canCarry = () => true, upstreamPaths = {}, limiter, operationLimits = {} } = options;
  const fault = baseUrlFault(options.upstreamBaseUrl);
  if (fault) throw new TypeError(`upstreamBaseUrl: ${fault}`);
  const pathsFault = upstreamPathsFault(upstreamPaths, options.operations);
  if (pathsFault) throw new TypeError(`upstreamPaths: ${pathsFault}`);
  const limitsFault = operationLimitsFault(operationLimits, options.operations);
  if (limitsFault) throw new TypeError(`operationLimits: ${limitsFault}`);
  const baseUrl = normalBaseUrl(options.upstreamBaseUrl);
  const routes = routesOf(options.operations);
  const credentials = createCredentials({
    source: options.secrets,
    clock,
    ...(options.nonce && { random: options.nonce }),
    ...(options.secretTimeToLiveMs !== undefined && { timeToLiveMs: options.secretTimeToLiveMs }),
  });

  const upstream = createUpstream({
    baseUrl,
    paths: upstreamPaths,
    credentials,
    send: options.send ?? createFetchSend(),
    operationLimits,
    clock,
    timeoutMs: upstreamTimeoutMs,
    maxAnswerBytes,
    canCarry,
    ...(limiter && { limiter }),
  });
  const sharing =
    options.cache &&
    createCache(options.cache, {
      upstream,
      credentials,
      operationLimits,
      clock,
      timeoutMs: upstreamTimeoutMs,
      ...(limiter && { limiter }),
      ...(options.reportRefresh && { reportRefresh: options.reportRefresh }),
    });

  if (options.readSecretAhead) credentials.current().catch(() => {});

  /** route → check → credentials → what all share, or the upstream → answer. */
  async function serve(request: GatewayRequest, trail: RequestContext): Promise<GatewayResponse | Refusal> {
    const match = findRoute(routes, request.method, request.path);
    if (match.kind === 'unknown') return { code: 'unknown_operation' };
    if (match.kind === 'other-method') return { code: 'method_not_allowed', allow: match.allowed };
    const { route } = match;
    const { operation } = route;
    trail.operation = operation;

    const checked = validate(operation, request);
    if (isRefusal(checked)) return checked;

    const current = await (operation.sideEffect ? credentials.current() : credentials.forRead());
    if (!current.ok) return { code: current.code };
    const shared = await sharing?.answer(route, request, checked, current.identity, trail);
    if (shared)
      return isRefusal(shared)
        ? shared
        : { ...shared, headers: { ...shared.headers, 'x-request-id': request.requestId } };

    const outcome = await upstream.ask({ ...route, request: checked, trail }, current.identity);
    if (outcome.kind === 'refused') return outcome.refusal;
    return {
      status: 200,
      headers: {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-request-id': request.requestId,
        ...(outcome.requestId && { 'x-upstream-request-id': outcome.requestId }),
      },
      body: outcome.body,
    };
  }

  return {
    async handle(request) {
      const started = clock();
      const { deadline = Number.POSITIVE_INFINITY, priority } = request;
      const trail: RequestContext = { attempts: 0, deadline, ...(priority && { priority }) };
      let outcome: GatewayResponse | Refusal;
      let defect: unknown;
      try {
        outcome = await serve(request, trail);
      } catch (error) {
        defect = error;
        const { sideEffect } = trail.operation ?? {};
        // Our own defect after sending leaves an order just as open as the upstream's would.
        outcome =
          sideEffect && trail.attempts > 0
            ? { code: 'outcome_unknown', findOut: sideEffect.findOut }
            : { code: 'gateway_error' };
      }
      const refusal = isRefusal(outcome) ? outcome : undefined;
      const response = isRefusal(outcome) ? refusalResponse(outcome, request.requestId) : outcome;
      try {
        options.report?.({
          requestId: request.requestId,
          ...(trail.operation && { operation: trail.operation.id }),
          attempts: trail.attempts,
          status: response.status,
          ...(refusal && { code: refusal.code }),
          ...(refusal?.upstream && { upstreamStatus: refusal.upstream.status }),
          ...(refusal?.upstream?.errorCode && { upstreamCode: refusal.upstream.errorCode }),
          ...(defect !== undefined && { defect }),
          ...(trail.cacheResult && { cache: trail.cacheResult }),
          ...(trail.waitedMs !== undefined && { waitedMs: trail.waitedMs }),
          milliseconds: clock() - started,
        });
      } catch {
        // A log that fails must not cost the client his answer: it may be that of an order.
      }
      return response;
    },
  };
}
