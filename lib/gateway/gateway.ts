/** The gateway's core: one request in, one answer out, over ports. It knows no platform. */

import type { Operation } from '../catalogue/operation.ts';
import { findRoute, type Route, routesOf } from '../catalogue/routes.ts';
import { baseUrlFault, normalBaseUrl } from './base-url.ts';
import type { Budget, Priority } from './budget/index.ts';
import { drawsOf, type OwnLimits, ownLimitsFault } from './budget-limits.ts';
import { type CheckedRequest, check } from './check.ts';
import { createCredentials, type Identity, type SecretSource } from './credentials.ts';
import type { GatewayRequest, GatewayResponse } from './http.ts';
import { askForPermit, closeAfter, leastAttemptMs, outOfTime } from './permits.ts';
import { isRefusal, type Refusal, type RefusalCode, refusalResponse } from './refusals.ts';
import { createFetchSend, type Send } from './send.ts';
import { readUpstreamAnswer, type Sent, type UpstreamOutcome } from './upstream-answer.ts';
import { type UpstreamPaths, upstreamPathsFault } from './upstream-paths.ts';

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
  readonly budget?: Budget;
  /** Limits besides the catalogue's; the budget has to know them too. */
  readonly ownLimits?: OwnLimits;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** The signer's nonces; replace them in tests only. */
  readonly random?: () => string;
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
  const { canCarry = () => true, upstreamPaths = {}, budget, ownLimits = {} } = options;
  const fault = baseUrlFault(options.upstreamBaseUrl);
  if (fault) throw new TypeError(`upstreamBaseUrl: ${fault}`);
  const pathsFault = upstreamPathsFault(upstreamPaths, options.operations);
  if (pathsFault) throw new TypeError(`upstreamPaths: ${pathsFault}`);
  const limitsFault = ownLimitsFault(ownLimits, options.operations);
  if (limitsFault) throw new TypeError(`ownLimits: ${limitsFault}`);
  const baseUrl = normalBaseUrl(options.upstreamBaseUrl);
  const routes = routesOf(options.operations);
  const send = options.send ?? createFetchSend();
  const credentials = createCredentials({
    source: options.secrets,
    clock,
    ...(options.random && { random: options.random }),
    ...(options.secretTimeToLiveMs !== undefined && { timeToLiveMs: options.secretTimeToLiveMs }),
  });

  if (options.readSecretAhead) credentials.current().catch(() => {});

  /** route → check → credentials → sign → send → read the answer. */
  async function serve(request: GatewayRequest, trail: Trail): Promise<GatewayResponse | Refusal> {
    const match = findRoute(routes, request.method, request.path);
    if (match.kind === 'unknown') return { code: 'unknown_operation' };
    if (match.kind === 'other-method') return { code: 'method_not_allowed', allow: match.allowed };
    const { route } = match;
    trail.operation = route.operation;

    const checked = check(route.operation, request);
    if (isRefusal(checked)) return checked;

    const current = await (route.operation.sideEffect ? credentials.current() : credentials.forRead());
    if (!current.ok) return { code: current.code };
    let outcome = await attempt(route, checked, current.identity, trail);
    if (isAuthRefusal(outcome))
      outcome = (await attemptAgain(route, checked, current.identity, trail)) ?? outcome;
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

  /** A read whose credentials were refused: once more with newer ones, or else with the previous. */
  async function attemptAgain(
    route: Route,
    checked: CheckedRequest,
    refused: Identity,
    trail: Trail,
  ): Promise<UpstreamOutcome | undefined> {
    const newer = await credentials.renew(refused);
    // What has a side effect is never sent twice by us, though it was refused.
    if (route.operation.sideEffect) return undefined;
    if (newer) return attempt(route, checked, newer, trail);
    const previous = await credentials.fallback(refused);
    if (!previous) return undefined;
    const outcome = await attempt(route, checked, previous, trail);
    if (!wasHeld(outcome)) credentials.fallbackTried(previous, !isAuthRefusal(outcome));
    return outcome;
  }

  /** A read that met a dead connection goes out once more, on a new one: most likely it never arrived. */
  async function attempt(
    route: Route,
    checked: CheckedRequest,
    identity: Identity,
    trail: Trail,
  ): Promise<UpstreamOutcome> {
    const { operation } = route;
    let sent = await signAndSend(route, checked, identity, trail, operation.sideEffect !== undefined);
    if (sent.kind === 'dropped' && !operation.sideEffect)
      sent = await signAndSend(route, checked, identity, trail, true);
    if (sent.kind === 'refused') return sent;
    const tooLarge = sent.kind === 'answer' && sent.status === 200 && !canCarry(sent.body);
    const outcome = readUpstreamAnswer(operation, tooLarge ? { kind: 'too_large' } : sent, identity.redact);
    const limits = drawsOf(operation, ownLimits);
    if (budget && limits && outcome.kind === 'refused' && outcome.refusal.code === 'upstream_rate_limited')
      await closeAfter(budget, identity.appKey, limits[0], outcome.refusal, trail.deadline - clock());
    return outcome;
  }

  /** Once: whoever sends again signs again, with a permission of its own. */
  async function signAndSend(
    { path, operation }: Route,
    { query, body, headers }: CheckedRequest,
    { appKey, signer, accessToken }: Identity,
    trail: Trail,
    freshConnection: boolean,
  ): Promise<Sent | { readonly kind: 'refused'; readonly refusal: Refusal }> {
    const timeLeft = () => trail.deadline - clock();
    // An order that is sent with no time to hear of it has an unknown outcome; better not sent.
    if (timeLeft() < leastAttemptMs) return { kind: 'refused', refusal: outOfTime };
    const limits = drawsOf(operation, ownLimits);
    const permit =
      budget && limits && (await askForPermit(budget, { appKey, limits, timeLeft, trail, clock }));
    if (permit && isRefusal(permit)) return { kind: 'refused', refusal: permit };
    const upstreamPath = Object.hasOwn(upstreamPaths, operation.id) ? upstreamPaths[operation.id] : path;
    const url = `${baseUrl}${upstreamPath}`;
    const signed = await signer.sign({ method: operation.method, url, query, body });
    if (!permit) trail.attempts++;
    const result = await send(
      {
        ...signed,
        headers: {
          ...headers,
          ...(accessToken !== undefined && { 'x-access-token': accessToken }),
          ...signed.headers,
        },
      },
      {
        timeoutMs: Math.min(upstreamTimeoutMs, timeLeft()),
        maxBytes: maxAnswerBytes,
        ...(freshConnection && { freshConnection }),
        ...(permit && { letGo: permit.letGo }),
      },
    );
    if (result.kind !== 'held') return result;
    return { kind: 'refused', refusal: permit?.refusal ?? outOfTime };
  }

  return {
    async handle(request) {
      const started = clock();
      const { deadline = Number.POSITIVE_INFINITY, priority } = request;
      const trail: Trail = { attempts: 0, deadline, ...(priority && { priority }) };
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

/** What is learnt about a request on its way, for the report. */
interface Trail {
  operation?: Operation;
  attempts: number;
  waitedMs?: number;
  readonly deadline: number;
  readonly priority?: Priority;
}

/** Nothing was sent, so that nothing was learnt of the upstream. */
const wasHeld = (outcome: UpstreamOutcome) =>
  outcome.kind === 'refused' &&
  (outcome.refusal.code === 'budget_used_up' || outcome.refusal.code === 'gateway_timeout');

const isAuthRefusal = (outcome: UpstreamOutcome) =>
  outcome.kind === 'refused' && outcome.refusal.code === 'upstream_auth_failed';
