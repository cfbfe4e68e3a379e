/**
 * The gateway's core turns one request into one outcome, over ports; it knows no platform. A request passes these steps
 * in this order. Each step takes the result of the one before, and returns a result or a refusal.
 *
 *     route        which operation has this method and path                 catalogue/routes.ts
 *     who          who sent the request, and which grants the sender has    who.ts
 *     validate     parameters, headers and body as the catalogue allows     validate.ts
 *     accounts     each account in the request is one of the sender's       reach.ts
 *     constant?    a fixed answer that needs no upstream                    catalogue, `gatewayAnswer`
 *     own?         an answer from the gateway's journal or trade events     order-hand-over.ts
 *     credential   app key and signer out of the secret                     credentials.ts
 *     cached?      a read whose answer equal requests share                 cache.ts
 *     journal      an order that was sent before is not sent again          ../orders/hand-over.ts
 *     breaker      no read while the upstream's host is down                circuit-breaker.ts
 *     permit       a permit of the limiter for each attempt                 permits.ts   ┐
 *     sign, send   one attempt, with a signature of its own                 send.ts      ├ upstream.ts
 *     read         what the upstream's answer means, a 429 for example      upstream-answer.ts ┘
 *     filter       records of accounts that are not the sender's are cut    withhold.ts
 *     render       status, headers, ETag, the form of a refusal             render.ts
 */

import type { Answer } from '../answer.ts';
import type { Operation } from '../catalogue/operation.ts';
import { findRoute, type Route, routesOf } from '../catalogue/routes.ts';
import { createCircuitBreaker } from '../kernel/circuit-breaker.ts';
import { isRefusal, notSent, problemOf, type Refusal, refusalKinds, reportedUpstream } from '../problem.ts';
import { normalBaseUrl } from '../upstream/base-url.ts';
import type { Cache } from './cache.ts';
import type { AdmittedRequest } from './cache-options.ts';
import { createContext, type RequestContext } from './context.ts';
import { type Credentials, createCredentials } from './credentials.ts';
import type { GatewayRequest, GatewayResponse } from './http.ts';
import { otherMethod, unknownPath } from './no-route.ts';
import { type CoreOptions, checkOptions, type RequestReport } from './options.ts';
import type { OrderSteps } from './order-hand-over.ts';
import { type Outcome, refused } from './outcome.ts';
import { everything, type ReachNow, refuseAccounts } from './reach.ts';
import { render } from './render.ts';
import { createFetchSend } from './send.ts';
import { withSymbolCase } from './symbol-case.ts';
import { createTighteningGateway } from './tightening.ts';
import { createUpstream, type Upstream } from './upstream.ts';
import { type ValidRequest, validate } from './validate.ts';
import type { Who } from './who.ts';
import { withholdFrom } from './withhold.ts';

export interface Gateway {
  /** Always resolves: every failure becomes an HTTP answer. */
  handle(request: GatewayRequest): Promise<GatewayResponse>;
  /** Always resolves. Returns the outcome as data, for a caller that is not an HTTP client. */
  ask(request: GatewayRequest): Promise<Outcome>;
  /** Whether every caller counts as the holder of the app key, so that callers are not identified. */
  readonly isSingleUser: boolean;
}

/**
 * Creates a gateway from the given steps, so that a bundle contains only the steps that it needs.
 *
 * @throws TypeError as `createGateway`
 *
 * @example
 * const gateway = createCore({ operations, upstreamBaseUrl, secrets, access: accessStep({ directory, names }) });
 */
export function createCore(options: CoreOptions): Gateway {
  checkOptions(options);
  const isSingleUser = options.access === 'single-user';
  if (options.tightening)
    return { ...createTighteningGateway(options, options.tightening, createCore), isSingleUser };
  const { clock = Date.now, upstreamTimeoutMs: timeoutMs = 10_000, limiter } = options;
  const { operationLimits = {}, upstreamLimits = 'interface', random = Math.random } = options;
  const credentials = createCredentials({
    source: options.secrets,
    clock,
    nonce: options.nonce,
    digests: options.digests,
    timeToLiveMs: options.secretTimeToLiveMs,
  });
  const shared = { credentials, operationLimits, upstreamLimits, clock, timeoutMs, limiter };
  const upstream = createUpstream({
    ...shared,
    baseUrl: normalBaseUrl(options.upstreamBaseUrl),
    paths: options.upstreamPaths ?? {},
    send: options.send ?? createFetchSend(),
    maxAnswerBytes: options.maxAnswerBytes,
    afterRateLimit: options.afterRateLimit,
    breaker: options.breaker ?? createCircuitBreaker({ clock, random }),
    random,
  });
  const { access, orders, operations, report, reportRefresh, isInForce } = options;
  const cache = options.cache?.({ ...shared, upstream, reportRefresh, isInForce });
  if (options.readSecretAhead) credentials.current().catch(() => {});
  const core = new Core({
    routes: routesOf(operations),
    who: access && access !== 'single-user' ? access(clock) : undefined,
    credentials,
    cache,
    upstream,
    orders: orders?.create({ upstream, clock, operations }),
    events: options.events,
    orderMembers: orders?.members ?? [],
    maxAnswerBytes: options.maxAnswerBytes,
    clock,
    report,
  });
  return {
    handle: (request) => core.handle(request),
    ask: (request) => core.ask(request),
    isSingleUser,
  };
}

interface CoreParts {
  readonly routes: readonly Route[];
  /** Undefined where all callers are one user. */
  readonly who: Who | undefined;
  readonly credentials: Credentials;
  readonly cache: Cache | undefined;
  readonly upstream: Upstream;
  /** Undefined without a journal. */
  readonly orders: OrderSteps | undefined;
  /** Undefined where no trade events are kept. */
  readonly events: CoreOptions['events'];
  /** See `OrdersOptions`. */
  readonly orderMembers: readonly string[];
  readonly maxAnswerBytes: number | undefined;
  readonly clock: () => number;
  readonly report: CoreOptions['report'];
}

class Core implements Pick<Gateway, 'handle' | 'ask'> {
  readonly #parts: CoreParts;

  constructor(parts: CoreParts) {
    this.#parts = parts;
  }

  handle(request: GatewayRequest): Promise<GatewayResponse> {
    return this.#run(
      request,
      (outcome) => render(withSymbolCase(outcome, request), request),
      ({ status }) => status,
    );
  }

  ask(request: GatewayRequest): Promise<Outcome> {
    return this.#run(request, async (outcome) => outcome, statusOf);
  }

  /** Runs the steps, `finish` as the last one, and reports on the request. */
  async #run<T>(
    request: GatewayRequest,
    finish: (outcome: Outcome) => Promise<T>,
    statusOfResult: (result: T) => number,
  ): Promise<T> {
    const { clock, routes, report } = this.#parts;
    const started = clock();
    const { deadline = Number.POSITIVE_INFINITY, priority, caller } = request;
    const context = createContext(deadline, priority, caller?.site ?? caller?.unit);
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
      // A failing log must not cost the client its answer, which may be an order's.
    }
    return result;
  }

  /** who → validate → accounts → the answer → filter. */
  async #serve(route: Route, request: GatewayRequest, context: RequestContext): Promise<Outcome> {
    const { who } = this.#parts;
    const { operation } = route;
    const { parties } = context;
    const reach = who ? await who.identify(operation, request, parties) : everything;
    if (isRefusal(reach)) return refused(reach);
    const valid = validate(operation, request, this.#parts);
    if (isRefusal(valid)) return refused(valid);
    const account = await who?.nameOf(valid.accounts);
    if (account) parties.account = account;
    const notReached = refuseAccounts(operation, valid.accounts, reach);
    if (notReached) return refused(notReached);
    // A user is one caller, whatever network the requests come from.
    const ofUser = parties.user ? { ...request, caller: { unit: parties.user } } : request;
    return withholdFrom(await this.#answer(route, ofUser, valid, context), operation, reach);
  }

  /** constant? → own? → credential → cached? or journal → upstream. */
  async #answer(
    route: Route,
    request: GatewayRequest,
    valid: ValidRequest,
    context: RequestContext,
  ): Promise<Outcome> {
    const { credentials, cache, orders, events, who } = this.#parts;
    const reachNow: ReachNow = async () => who?.identify(route.operation, request, {}) ?? everything;
    const { gatewayAnswer, answeredBy } = route.operation;
    if (gatewayAnswer) return { kind: 'uncached', body: new TextEncoder().encode(gatewayAnswer.body) };
    if (answeredBy === 'trade events') return events ? events(request, reachNow) : refused(lacksTradeEvents);
    if (answeredBy) return orders ? orders.outcome(valid) : refused(lacksJournal);

    // A side effect is signed with the current secret only.
    const { sideEffect } = route.operation;
    const current = await (sideEffect ? credentials.current() : credentials.forRead());
    if (!current.ok) return refused({ code: current.code });

    const read = { route, request, valid, credential: current.credential, context, reachNow };
    if (!sideEffect) return cache?.ask(read) ?? this.#fetch(read);
    const send = (change: AdmittedRequest) => (cache ? this.#change(change, cache) : this.#fetch(change));
    return orders?.handOver ? orders.handOver(read, send) : send(read);
  }

  /** Sends a request with a side effect, then ends cached answers: they are about the account's state before it. */
  async #change(change: AdmittedRequest, cache: Cache): Promise<Answer> {
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
  #fetch({ route, valid, credential, context }: AdmittedRequest): Promise<Answer> {
    return this.#parts.upstream.fetch({ ...route, request: valid, context }, credential);
  }
}

const lacksJournal: Refusal = {
  code: 'unknown_operation',
  detail: 'This gateway keeps no journal of orders: getOrder reads the order from the upstream.',
};

const lacksTradeEvents: Refusal = {
  code: 'unknown_operation',
  detail: 'This gateway keeps no trade events: getOrder reads the order from the upstream.',
};

function findOperation(routes: readonly Route[], { method, path }: GatewayRequest): Route | Refusal {
  const match = findRoute(routes, method, path);
  if (match.kind === 'route') return match.route;
  return match.kind === 'other-method' ? otherMethod(match.allowed) : unknownPath(routes, path);
}

/** Creates the report on a request at its end. */
function reportOf(
  { requestId }: GatewayRequest,
  operation: Operation | undefined,
  { usage, parties }: RequestContext,
  outcome: Outcome,
  { status, defect, milliseconds }: Pick<RequestReport, 'status' | 'defect' | 'milliseconds'>,
): RequestReport {
  const refusal = outcome.kind === 'refused' ? outcome.refusal : undefined;
  return {
    requestId,
    ...(operation && { operation: operation.id }),
    ...parties,
    attempts: usage.attempts,
    status,
    ...(refusal && { code: refusal.code }),
    ...(refusal?.blockedBy && { blockedBy: refusal.blockedBy }),
    ...(refusal && reportedUpstream(refusal)),
    ...(defect !== undefined && { defect }),
    ...('cacheResult' in outcome && { cache: outcome.cacheResult }),
    ...(outcome.kind === 'snapshots' && { quotesAgeMs: outcome.ageMs }),
    ...(outcome.kind === 'snapshots' && outcome.stale && { stale: true as const }),
    ...(usage.waitedMs !== undefined && { waitedMs: usage.waitedMs }),
    milliseconds,
  };
}

/** The refusal after a defect. Once an order was sent, its outcome is as unknown as after a lost answer. */
function refusalOfDefect(operation: Operation | undefined, { usage }: RequestContext): Refusal {
  if (!operation?.sideEffect) return { code: 'gateway_error' };
  if (usage.attempts > 0) return { code: 'outcome_unknown', findOut: operation.sideEffect.findOut };
  return { code: 'gateway_error', detail: `${refusalKinds.gateway_error.detail} ${notSent}` };
}

const statusOf = (outcome: Outcome): number =>
  outcome.kind === 'refused' ? problemOf(outcome.refusal).status : 200;
