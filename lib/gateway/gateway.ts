/** The gateway's core: one request in, one answer out, over ports. It knows no platform. */

import type { Operation } from '../catalogue/operation.ts';
import { findRoute, type Route, routesOf } from '../catalogue/routes.ts';
import { baseUrlFault, normalBaseUrl } from './base-url.ts';
import { type CheckedRequest, check } from './check.ts';
import { createCredentials, type Identity, type SecretSource } from './credentials.ts';
import type { GatewayRequest, GatewayResponse } from './http.ts';
import { isRefusal, type Refusal, type RefusalCode, refusalResponse } from './refusals.ts';
import { createFetchSend, type Send, type SendResult } from './send.ts';
import { readUpstreamAnswer, type UpstreamOutcome } from './upstream-answer.ts';
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
  /** A defect of ours, for the log alone. */
  readonly defect?: unknown;
}

export interface Gateway {
  /** Always resolves; whatever goes wrong is an answer. */
  handle(request: GatewayRequest): Promise<GatewayResponse>;
}

/** With less time than this before the platform stops waiting, an attempt is not begun. */
const leastAttemptMs = 1000;
const outOfTime = 'The gateway ran out of time before the request could be sent; it was not sent.';

/** @throws TypeError when the base URL is neither https nor loopback, or has a query, or a path is not one */
export function createGateway(options: GatewayOptions): Gateway {
  const { upstreamTimeoutMs = 10_000, maxAnswerBytes = 4 * 1024 * 1024, clock = Date.now } = options;
  const { canCarry = () => true, upstreamPaths = {} } = options;
  const fault = baseUrlFault(options.upstreamBaseUrl);
  if (fault) throw new TypeError(`upstreamBaseUrl: ${fault}`);
  const pathsFault = upstreamPathsFault(upstreamPaths, options.operations);
  if (pathsFault) throw new TypeError(`upstreamPaths: ${pathsFault}`);
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
    credentials.fallbackTried(previous, !isAuthRefusal(outcome));
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
    if (sent.kind === 'out of time')
      return { kind: 'refused', refusal: { code: 'gateway_timeout', detail: outOfTime } };
    const tooLarge = sent.kind === 'answer' && sent.status === 200 && !canCarry(sent.body);
    return readUpstreamAnswer(operation, tooLarge ? { kind: 'too_large' } : sent, identity.redact);
  }

  /** Once: whoever sends again signs again. */
  async function signAndSend(
    { path, operation }: Route,
    { query, body, headers }: CheckedRequest,
    { signer, accessToken }: Identity,
    trail: Trail,
    freshConnection: boolean,
  ): Promise<SendResult | { readonly kind: 'out of time' }> {
    const timeLeft = trail.deadline - clock();
    // An order that is sent with no time to hear of it has an unknown outcome; better not sent.
    if (timeLeft < leastAttemptMs) return { kind: 'out of time' };
    const upstreamPath = Object.hasOwn(upstreamPaths, operation.id) ? upstreamPaths[operation.id] : path;
    const url = `${baseUrl}${upstreamPath}`;
    const signed = await signer.sign({ method: operation.method, url, query, body });
    trail.attempts++;
    return send(
      {
        ...signed,
        headers: {
          ...headers,
          ...(accessToken !== undefined && { 'x-access-token': accessToken }),
          ...signed.headers,
        },
      },
      {
        timeoutMs: Math.min(upstreamTimeoutMs, timeLeft),
        maxBytes: maxAnswerBytes,
        ...(freshConnection && { freshConnection }),
      },
    );
  }

  return {
    async handle(request) {
      const started = clock();
      const trail: Trail = { attempts: 0, deadline: request.deadline ?? Number.POSITIVE_INFINITY };
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
  readonly deadline: number;
}

const isAuthRefusal = (outcome: UpstreamOutcome) =>
  outcome.kind === 'refused' && outcome.refusal.code === 'upstream_auth_failed';
