/**
 * The gateway's core: one request in, one outcome out, over ports. It knows no platform. A request passes these
 * steps in this order; each takes what the one before returned, and returns the next thing or a refusal.
 *
 *     route        which operation has this method and path                 catalogue/routes.ts
 *     validate     parameters, headers and body as the catalogue allows     validate.ts
 *     constant?    what the gateway answers by itself                        catalogue, `gatewayAnswer`
 *     credential   app key and signer out of the secret                     credentials.ts
 *     cached?      a read whose answer equal requests share                 cache.ts
 *     permit       the limiter's, for each attempt                          permits.ts   ┐
 *     sign, send   one attempt, with a signature of its own                 send.ts      ├ upstream.ts
 *     read         what the upstream's answer means, a 429 for example      upstream-answer.ts ┘
 *     render       status, headers, ETag, the form of a refusal             render.ts
 */

import type { Operation } from '../catalogue/operation.ts';
import { findRoute, type Route, routesOf } from '../catalogue/routes.ts';
import { isRefusal, notSent, problemOf, type Refusal, refusalKinds, reportedUpstream } from '../problem.ts';
import { normalBaseUrl } from './base-url.ts';
import { type Cache, createCache } from './cache.ts';
import type { CachedRead } from './cache-options.ts';
import { createContext, type RequestContext } from './context.ts';
import { type Credentials, createCredentials } from './credentials.ts';
import type { GatewayRequest, GatewayResponse } from './http.ts';
import { checkOptions, type GatewayOptions, type RequestReport } from './options.ts';
import { type Outcome, refused } from './outcome.ts';
import { render } from './render.ts';
import { createFetchSend } from './send.ts';
import { createUpstream, type Upstream } from './upstream.ts';
import { validate } from './validate.ts';

export interface Gateway {
  /** Always resolves: whatever goes wrong is an HTTP answer. */
  handle(request: GatewayRequest): Promise<GatewayResponse>;
  /** Always resolves: the same as data, for a caller that is not an HTTP client. */
  ask(request: GatewayRequest): Promise<Outcome>;
}

/**
 * @throws TypeError when the base URL is neither https nor loopback, or has a query, when a path is not one, or
 * when a limit does not fit the operations that it is for
 *
 * @example
 * const gateway = createGateway({
 *   operations,
 *   upstreamBaseUrl: 'https://api.example.com',
 *   secrets: { read: async () => '{"app_key":"…","app_secret":"…"}' },
 * });
 * const { status, headers, body } = await gateway.handle({
 *   method: 'GET',
 *   path: '/trading/accounts/list',
 *   query: [],
 *   headers: {},
 *   requestId: 'request-1',
 * });
 */
export function createGateway(options: GatewayOptions): Gateway {
  checkOptions(options);
  const { clock = Date.now, upstreamTimeoutMs: timeoutMs = 10_000, limiter } = options;
  const { operationLimits = {}, upstreamLimits = 'interface' } = options;
  const credentials = createCredentials({
    source: options.secrets,
    clock,
    ...(options.nonce && { nonce: options.nonce }),
    ...(options.secretTimeToLiveMs !== undefined && { timeToLiveMs: options.secretTimeToLiveMs }),
  });
  const shared = {
    credentials,
    operationLimits,
    upstreamLimits,
    clock,
    timeoutMs,
    ...(limiter && { limiter }),
  };
  const upstream = createUpstream({
    ...shared,
    baseUrl: normalBaseUrl(options.upstreamBaseUrl),
    paths: options.upstreamPaths ?? {},
    send: options.send ?? createFetchSend(),
    maxAnswerBytes: options.maxAnswerBytes ?? 4 * 1024 * 1024,
    canCarry: options.canCarry ?? (() => true),
  });
  const { reportRefresh } = options;
  const cache =
    options.cache &&
    createCache(options.cache, { ...shared, upstream, ...(reportRefresh && { reportRefresh }) });
  if (options.readSecretAhead) credentials.current().catch(() => {});
  const routes = routesOf(options.operations);
  const core = new Core({ routes, credentials, cache, upstream, clock, report: options.report });
  return { handle: (request) => core.handle(request), ask: (request) => core.ask(request) };
}

interface CoreParts {
  readonly routes: readonly Route[];
  readonly credentials: Credentials;
  readonly cache: Cache | undefined;
  readonly upstream: Upstream;
  readonly clock: () => number;
  readonly report: GatewayOptions['report'];
}

class Core implements Gateway {
  readonly #parts: CoreParts;

  constructor(parts: CoreParts) {
    this.#parts = parts;
  }

  handle(request: GatewayRequest): Promise<GatewayResponse> {
    return this.#run(
      request,
      (outcome) => render(outcome, request),
      ({ status }) => status,
    );
  }

  ask(request: GatewayRequest): Promise<Outcome> {
    return this.#run(request, async (outcome) => outcome, statusOf);
  }

  /** The steps, the last one given by `finish`, and the report on all of them. */
  async #run<T>(
    request: GatewayRequest,
    finish: (outcome: Outcome) => Promise<T>,
    statusOfResult: (result: T) => number,
  ): Promise<T> {
    const { clock, routes, report } = this.#parts;
    const started = clock();
    const context = createContext(request.deadline ?? Number.POSITIVE_INFINITY, request.priority);
    let operation: Operation | undefined;
    let outcome: Outcome;
    let result: T;
    let defect: unknown;
    try {
      const route = findOperation(routes, request);
      if (!isRefusal(route)) operation = route.operation;
      outcome = isRefusal(route) ? refused(route) : await this.#serve(route, request, context);
      result = await finish(outcome);
    } catch (error) {
      defect = error;
      outcome = refused(refusalOfDefect(operation, context));
      result = await finish(outcome);
    }
    try {
      const status = statusOfResult(result);
      const milliseconds = clock() - started;
      report?.(reportOf(request, operation, context, outcome, { status, defect, milliseconds }));
    } catch {
      // A log that fails must not cost the client its answer: it may be that of an order.
    }
    return result;
  }

  /** validate → constant? → credential → cached? → upstream. */
  async #serve(route: Route, request: GatewayRequest, context: RequestContext): Promise<Outcome> {
    const { credentials, cache } = this.#parts;
    const valid = validate(route.operation, request);
    if (isRefusal(valid)) return refused(valid);

    const { gatewayAnswer } = route.operation;
    if (gatewayAnswer) return { kind: 'uncached', body: new TextEncoder().encode(gatewayAnswer.body) };

    // A side effect is signed with the current secret only.
    const { sideEffect } = route.operation;
    const current = await (sideEffect ? credentials.current() : credentials.forRead());
    if (!current.ok) return refused({ code: current.code });

    const read = { route, request, valid, credential: current.credential, context };
    return cache?.ask(read) ?? (sideEffect && cache ? this.#change(read, cache) : this.#fetch(read));
  }

  /** A request with a side effect: whatever the cache has from before it is about another state of the account. */
  async #change(change: CachedRead, cache: Cache): Promise<Outcome> {
    let hadNoEffect = false;
    try {
      const outcome = await this.#fetch(change);
      hadNoEffect = outcome.kind === 'refused' && outcome.refusal.code !== 'outcome_unknown';
      return outcome;
    } finally {
      if (!hadNoEffect) await cache.changed(change);
    }
  }

  /** permit → sign → send → read; `upstream.ts` says when an attempt is repeated. */
  async #fetch({ route, valid, credential, context }: CachedRead): Promise<Outcome> {
    const { operation, path } = route;
    const answer = await this.#parts.upstream.fetch({ operation, path, request: valid, context }, credential);
    if (answer.kind === 'refused') return answer;
    return {
      kind: 'uncached',
      body: answer.body,
      ...(answer.requestId && { upstreamRequestId: answer.requestId }),
    };
  }
}

function findOperation(routes: readonly Route[], { method, path }: GatewayRequest): Route | Refusal {
  const match = findRoute(routes, method, path);
  if (match.kind === 'route') return match.route;
  return match.kind === 'unknown'
    ? { code: 'unknown_operation' }
    : { code: 'method_not_allowed', allow: match.allowed };
}

/** Collects all that is known of a request at its end. */
function reportOf(
  { requestId }: GatewayRequest,
  operation: Operation | undefined,
  { usage }: RequestContext,
  outcome: Outcome,
  { status, defect, milliseconds }: Pick<RequestReport, 'status' | 'defect' | 'milliseconds'>,
): RequestReport {
  const refusal = outcome.kind === 'refused' ? outcome.refusal : undefined;
  return {
    requestId,
    ...(operation && { operation: operation.id }),
    attempts: usage.attempts,
    status,
    ...(refusal && { code: refusal.code }),
    ...(refusal && reportedUpstream(refusal)),
    ...(defect !== undefined && { defect }),
    ...('cacheResult' in outcome && { cache: outcome.cacheResult }),
    ...(usage.waitedMs !== undefined && { waitedMs: usage.waitedMs }),
    milliseconds,
  };
}

/** A defect after sending leaves the outcome of an order just as unknown as a lost answer of the upstream. */
function refusalOfDefect(operation: Operation | undefined, { usage }: RequestContext): Refusal {
  if (!operation?.sideEffect) return { code: 'gateway_error' };
  if (usage.attempts > 0) return { code: 'outcome_unknown', findOut: operation.sideEffect.findOut };
  return { code: 'gateway_error', detail: `${refusalKinds.gateway_error.detail} ${notSent}` };
}

const statusOf = (outcome: Outcome): number =>
  outcome.kind === 'refused' ? problemOf(outcome.refusal).status : 200;
