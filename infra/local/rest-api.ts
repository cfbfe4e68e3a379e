/** What API Gateway does with one request, in its order: route, key, plan, payload, function. */

import type { IncomingMessage } from 'node:http';
import { healthBody } from '../health.ts';
import { type ApiKey, apiKeyFinder } from './api-keys.ts';
import { invoke, type ProxyHandler } from './invocation.ts';
import type { ApiGatewayOptions } from './options.ts';
import type { Page } from './pages.ts';
import { proxyEvent } from './proxy-event.ts';
import { type HttpResponse, responseOf } from './proxy-result.ts';
import { readBody } from './received.ts';
import type { RefusalCode, RefusalDetail } from './refusals.ts';
import { createUsagePlan } from './usage-plan.ts';

/** One request on its way. */
export interface Call {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly query: string | undefined;
  /** Unix time in milliseconds. */
  readonly receivedAt: number;
  /** Filled in as soon as the key is known. */
  apiKey?: ApiKey;
}

/** A function, or what is answered without one and without a key: API Gateway's integration type `mock`. */
type Integration = { readonly handler: ProxyHandler } | { readonly mock: Page };

const healthy: HttpResponse = {
  status: 200,
  headers: new Map([['content-type', ['application/json']]]),
  body: Buffer.from(healthBody),
};

/** Gives a function that answers requests; with undefined when the client left before its request was complete. */
export function createRestApi({
  routes,
  pages = new Map(),
  apiKeys,
  plan,
  refuse,
  onHandlerError,
  clock = Date.now,
  stage = 'local',
  timeoutMs = 29_000,
  maxPayloadBytes = 10 * 1024 * 1024,
}: ApiGatewayOptions): (request: IncomingMessage, call: Call) => Promise<HttpResponse | undefined> {
  const resources = resourcesOf(routes, pages);
  const findApiKey = apiKeyFinder(apiKeys);
  const meter = createUsagePlan({ ...plan, clock });

  function refused(
    code: RefusalCode,
    { requestId, method, path }: Call,
    extra: Pick<RefusalDetail, 'allow' | 'retryAfterSeconds'> = {},
  ): HttpResponse {
    const { status, headers, body } = refuse(code, { requestId, method, path, ...extra });
    const all = new Map<string, readonly string[]>();
    if (extra.allow) all.set('allow', [extra.allow.join(', ')]);
    if (extra.retryAfterSeconds !== undefined) all.set('retry-after', [String(extra.retryAfterSeconds)]);
    for (const [name, value] of Object.entries(headers)) all.set(name.toLowerCase(), [value]);
    return { status, headers: all, body: Buffer.from(body) };
  }

  function mocked(page: Page, call: Call): HttpResponse {
    try {
      return page();
    } catch (error) {
      onHandlerError?.(error, call.requestId);
      return refused('gateway_error', call);
    }
  }

  async function integrated(handler: ProxyHandler, request: IncomingMessage, call: Call, apiKey: ApiKey) {
    const body = await readBody(request, maxPayloadBytes);
    if (body === 'incomplete') return undefined;
    if (body === 'too large') return refused('payload_too_large', call);

    const { rawHeaders, socket } = request;
    const sourceIp = socket.remoteAddress ?? '';
    const event = proxyEvent({ ...call, rawHeaders, body, resource: call.path, stage, sourceIp, apiKey });
    const outcome = await invoke(handler, event, timeoutMs);
    if (outcome.kind === 'timeout') return refused('gateway_timeout', call);
    try {
      if (outcome.kind === 'failed') throw outcome.error;
      return responseOf(outcome.result, maxPayloadBytes);
    } catch (error) {
      onHandlerError?.(error, call.requestId);
      return refused('gateway_error', call);
    }
  }

  return async (request, call) => {
    const methods = resources.get(call.path);
    if (!methods) return refused('unknown_operation', call);
    const integration = methods.get(call.method);
    // API Gateway gives one refusal for both; here the caller learns which of the two it is.
    if (!integration) return refused('method_not_allowed', call, { allow: [...methods.keys()] });
    if ('mock' in integration) return mocked(integration.mock, call);

    // A header that came twice is joined by Node, and so matches no key.
    const apiKey = findApiKey(String(request.headers['x-api-key'] ?? ''));
    if (!apiKey) return refused('missing_api_key', call);
    call.apiKey = apiKey;
    const admission = meter.take(apiKey.id);
    if (!admission.allowed) {
      const retryAfterSeconds = Math.max(1, Math.ceil(admission.retryAfterMs / 1000));
      return refused('throttled', call, { retryAfterSeconds });
    }
    return integrated(integration.handler, request, call, apiKey);
  };
}

/** The methods of each path. */
function resourcesOf(
  routes: ApiGatewayOptions['routes'],
  pages: ReadonlyMap<string, Page>,
): ReadonlyMap<string, ReadonlyMap<string, Integration>> {
  const resources = new Map<string, Map<string, Integration>>(
    [['/health', () => healthy] as const, ...pages].map(([path, mock]) => [
      path,
      new Map([['GET', { mock }]]),
    ]),
  );
  for (const { method, path, handler } of routes) {
    const methods = resources.get(path) ?? new Map<string, Integration>();
    // API Gateway refuses such a definition too; taking the last one would hide a route.
    if (methods.has(method)) throw new Error(`The route ${method} ${path} is there twice.`);
    resources.set(path, methods.set(method, { handler }));
  }
  return resources;
}
