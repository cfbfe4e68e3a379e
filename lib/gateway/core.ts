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
 *     breaker      no read while the upstream's host is down                circuit-breaker.ts  ┐
 *     permit       a permit of the limiter for each attempt                 limits/permits.ts   │
 *     sign, send   one attempt, with a signature of its own                 send.ts             ├ upstream.ts
 *     read         what the upstream's answer means, a 429 for example      upstream-answer.ts  ┘
 *     filter       records of accounts that are not the sender's are cut    withhold.ts
 *     render       status, headers, ETag, the form of a refusal             render.ts
 *
 * Quotes leave this order at `cached?`: a refresh serves many requests, and takes its permit before the breaker is asked
 * (snapshots/upstream.ts).
 */

import type { Answer } from '../answer.ts';
import type { Operation } from '../catalogue/operation.ts';
import { routesOf } from '../catalogue/routes.ts';
import { createCircuitBreaker } from '../kernel/circuit-breaker.ts';
import { isRefusal, notSent, problemOf, type Refusal, refusalKinds, reportedUpstream } from '../problem.ts';
import { normalBaseUrl } from '../upstream/base-url.ts';
import { type AdmissionRules, type AdmittedRequest, admit, type IdentifiedRequest } from './admit.ts';
import type { Cache } from './cache.ts';
import { createContext, type RequestContext } from './context.ts';
import { type Credentials, createCredentials } from './credentials.ts';
import type { GatewayRequest, GatewayResponse } from './http.ts';
import { forLimitsInForce, type LimitParts } from './limits/in-force.ts';
import { type CoreOptions, checkOptions, type RequestReport } from './options.ts';
import type { OrderSteps } from './orders-port.ts';
import { type Outcome, refused } from './outcome.ts';
import type { UpstreamBreaker } from './read-again.ts';
import { render } from './render.ts';
import { createFetchSend } from './send.ts';
import { withSymbolCase } from './symbol-case.ts';
import { createUpstream, type Upstream } from './upstream.ts';
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
  const { clock = Date.now, random = Math.random } = options;
  const breaker: UpstreamBreaker = createCircuitBreaker({ clock, random });
  const coreInForce = forLimitsInForce(options, (limits) => coreOf(options, breaker, limits));
  return {
    async handle(request) {
      const core = await coreInForce();
      const serving = beginServing(core, request);
      let outcome = await serve(core, serving);
      let response: GatewayResponse;
      try {
        response = await render(withSymbolCase(outcome, request), request);
      } catch (defect) {
        outcome = refusedByDefect(serving, defect);
        response = await render(outcome, request);
      }
      reportOn(core, serving, outcome, response.status);
      return response;
    },
    async ask(request) {
      const core = await coreInForce();
      const serving = beginServing(core, request);
      const outcome = await serve(core, serving);
      reportOn(core, serving, outcome, statusOf(outcome));
      return outcome;
    },
    isSingleUser: options.access === 'single-user',
  };
}

/** Creates the steps for one choice of limits. */
function coreOf(options: CoreOptions, breaker: UpstreamBreaker, limits: LimitParts): Core {
  const { clock = Date.now, random = Math.random, upstreamTimeoutMs: timeoutMs = 10_000 } = options;
  const credentials = createCredentials({
    source: options.secrets,
    clock,
    nonce: options.nonce,
    digests: options.digests,
    timeToLiveMs: options.secretTimeToLiveMs,
  });
  const shared = { ...limits, credentials, clock, timeoutMs };
  const upstream = createUpstream({
    ...shared,
    baseUrl: normalBaseUrl(options.upstreamBaseUrl),
    paths: options.upstreamPaths ?? {},
    send: options.send ?? createFetchSend(),
    maxAnswerBytes: options.maxAnswerBytes,
    breaker,
    random,
  });
  const { access, orders, operations, report, reportRefresh } = options;
  const cache = options.cache?.({ ...shared, upstream, reportRefresh });
  if (options.readSecretAhead) credentials.current().catch(() => {});
  return {
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
  };
}

interface Core extends AdmissionRules {
  readonly credentials: Credentials;
  readonly cache: Cache | undefined;
  readonly upstream: Upstream;
  /** Undefined without a journal. */
  readonly orders: OrderSteps | undefined;
  /** Undefined where no trade events are kept. */
  readonly events: CoreOptions['events'];
  readonly clock: () => number;
  readonly report: CoreOptions['report'];
}

/** A request that is being served, and what its report needs. */
interface Serving {
  readonly request: GatewayRequest;
  readonly context: RequestContext;
  readonly startedAt: number;
  /** Undefined until the request is routed. */
  operation?: Operation;
  defect?: unknown;
}

function beginServing({ clock }: Core, request: GatewayRequest): Serving {
  const { deadline = Number.POSITIVE_INFINITY, priority, caller } = request;
  const context = createContext(deadline, priority, caller?.site ?? caller?.unit);
  return { request, context, startedAt: clock() };
}

/** Admits the request → the gateway's own answer, or credential → cached? or journal → upstream → filter. Never rejects. */
async function serve(core: Core, serving: Serving): Promise<Outcome> {
  try {
    const identified = await admit(core, serving);
    if (isRefusal(identified)) return refused(identified);
    const { operation } = identified.route;
    let outcome = await ownOutcome(core, identified);
    if (!outcome) {
      // A side effect is signed with the current secret only.
      const { credentials, cache } = core;
      const current = await (operation.sideEffect ? credentials.current() : credentials.forRead());
      if (!current.ok) return refused({ code: current.code });
      const { route, request, valid, context, reachNow } = identified;
      const admitted = { route, request, valid, context, reachNow, credential: current.credential };
      outcome = await (operation.sideEffect
        ? handOver(core, admitted)
        : (cache?.readsOf(operation)?.ask(admitted) ?? fetchAnswer(core, admitted)));
    }
    return withholdFrom(outcome, operation, identified.reach);
  } catch (defect) {
    return refusedByDefect(serving, defect);
  }
}

/** The answer to an operation that needs no upstream: a constant, from the journal, or from trade events. */
function ownOutcome(
  { orders, events }: Core,
  { route, request, valid, reachNow }: IdentifiedRequest,
): Outcome | Promise<Outcome> | undefined {
  const { gatewayAnswer, answeredBy } = route.operation;
  if (gatewayAnswer) return { kind: 'uncached', body: new TextEncoder().encode(gatewayAnswer.body) };
  if (answeredBy === 'trade events') return events ? events(request, reachNow) : refused(lacksTradeEvents);
  return answeredBy && (orders ? orders.outcome(valid) : refused(lacksJournal));
}

/** Sends a request with a side effect, through the journal where there is one. */
function handOver(core: Core, change: AdmittedRequest): Promise<Answer> {
  const { orders, cache } = core;
  const send = cache
    ? (one: AdmittedRequest) => sendChange(core, one, cache)
    : (one: AdmittedRequest) => fetchAnswer(core, one);
  return orders?.handOver ? orders.handOver(change, send) : send(change);
}

/** Sends a request with a side effect, then ends cached answers: they are about the account's state before it. */
async function sendChange(core: Core, change: AdmittedRequest, cache: Cache): Promise<Answer> {
  let hadNoEffect = false;
  try {
    const answer = await fetchAnswer(core, change);
    hadNoEffect = answer.kind === 'refused' && answer.refusal.code !== 'outcome_unknown';
    return answer;
  } finally {
    if (!hadNoEffect) await cache.changed(change);
  }
}

/** permit → sign → send → read; `upstream.ts` says when an attempt is repeated. */
const fetchAnswer = (
  { upstream }: Core,
  { route, valid, credential, context }: AdmittedRequest,
): Promise<Answer> => upstream.fetch({ ...route, request: valid, context }, credential);

const lacksJournal: Refusal = {
  code: 'unknown_operation',
  detail: 'This gateway keeps no journal of orders: getOrder reads the order from the upstream.',
};

const lacksTradeEvents: Refusal = {
  code: 'unknown_operation',
  detail: 'This gateway keeps no trade events: getOrder reads the order from the upstream.',
};

/** Reports on a request at its end. */
function reportOn({ report, clock }: Core, serving: Serving, outcome: Outcome, status: number): void {
  try {
    report?.(reportOf(serving, outcome, { status, milliseconds: clock() - serving.startedAt }));
  } catch {
    // A failing log must not cost the client its answer, which may be an order's.
  }
}

function reportOf(
  { request, context, operation, defect }: Serving,
  outcome: Outcome,
  { status, milliseconds }: Pick<RequestReport, 'status' | 'milliseconds'>,
): RequestReport {
  const { usage, parties } = context;
  const refusal = outcome.kind === 'refused' ? outcome.refusal : undefined;
  return {
    requestId: request.requestId,
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

/** Keeps a defect for the report. Once an order was sent, its outcome is as unknown as after a lost answer. */
function refusedByDefect(serving: Serving, defect: unknown): Outcome {
  serving.defect = defect;
  const { sideEffect } = serving.operation ?? {};
  if (!sideEffect) return refused({ code: 'gateway_error' });
  if (serving.context.usage.attempts > 0)
    return refused({ code: 'outcome_unknown', findOut: sideEffect.findOut });
  return refused({ code: 'gateway_error', detail: `${refusalKinds.gateway_error.detail} ${notSent}` });
}

const statusOf = (outcome: Outcome): number =>
  outcome.kind === 'refused' ? problemOf(outcome.refusal).status : 200;
