/** Handles one request as API Gateway does: route, key, plan, payload, function. */

import type { IncomingMessage } from 'node:http';
import { readBody } from '../../functions/node/received.ts';
import { createHostCheck } from '../../lib/fetch/site-check.ts';
import type { GatewayRequest } from '../../lib/gateway/index.ts';
import { callerOf } from '../../lib/identity/caller.ts';
import { healthBody } from '../api-gateway-answers.ts';
import { loopback } from '../listen.ts';
import { createLocalCors, type LocalCors } from './cors.ts';
import { invoke, type ProxyHandler } from './invocation.ts';
import type {
  ApiGatewayOptions,
  ApiRefusalCode,
  LocalRoute,
  LocalStream,
  RefusalDetail,
  Refuse,
} from './options.ts';
import type { FormPage, LocalPage } from './page-answer.ts';
import { proxyEvent } from './proxy-event.ts';
import { type HttpResponse, responseOf } from './proxy-result.ts';
import { type ApiKey, apiKeyFinder, createUsagePlan } from './usage-plan.ts';

/** Request that is being handled. */
export interface ApiRequest {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly query: string | undefined;
  /** Unix time in milliseconds. */
  readonly receivedAt: number;
  /** Set as soon as the key is known. */
  apiKey?: ApiKey;
  /** Set if its route is unseen. */
  isUnseen?: true;
}

/** Integrations without a function and without a key: API Gateway's type `mock`, and forms, which it does not have. */
type Mock = { readonly mock: LocalPage };
type Form = { readonly form: FormPage };
type KeyedIntegration =
  | Pick<LocalRoute, 'handler' | 'headers' | 'isOperators' | 'isUnseen'>
  | Pick<LocalStream, 'open' | 'headers'>;
type Integration = KeyedIntegration | Mock | Form;

const maxFormBytes = 16_384;

const healthAnswer: HttpResponse = {
  status: 200,
  headers: new Map([['content-type', ['application/json']]]),
  body: Buffer.from(healthBody),
};

/** Creates a function that answers requests; it returns undefined when the client left before its request was complete. */
export function createRestApi({
  routes,
  streams = [],
  pages = new Map(),
  forms = new Map(),
  apiKeys,
  plan,
  refuse,
  onHandlerError,
  corsOrigins = [],
  host = loopback,
  clock = Date.now,
  stage = 'local',
  timeoutMs = 29_000,
  maxPayloadBytes = 10 * 1024 * 1024,
}: ApiGatewayOptions): (request: IncomingMessage, call: ApiRequest) => Promise<HttpResponse | undefined> {
  const resources = resourcesOf(routes, streams, pages, forms);
  const findApiKey = apiKeyFinder(apiKeys);
  const meter = createUsagePlan({ ...plan, clock });
  const cors = createLocalCors(corsOrigins);
  const hostFault = createHostCheck([host]);
  const refused = createRefuse(refuse, cors);

  async function withoutFunction(
    integration: Mock | Form,
    request: IncomingMessage,
    call: ApiRequest,
  ): Promise<HttpResponse | undefined> {
    try {
      const { accept, origin } = request.headers;
      if ('mock' in integration) {
        const query = new URLSearchParams(call.query);
        const page = await integration.mock({ query, accept, requestId: call.requestId });
        return page ? cors.answer(page, origin) : refused('unknown_operation', call);
      }
      const body = await readBody(request, maxFormBytes);
      if (body === 'incomplete') return undefined;
      if (body === 'too large') return refused('payload_too_large', call);
      const fields = new URLSearchParams(new TextDecoder().decode(body));
      return cors.answer(await integration.form(fields, accept), origin);
    } catch (error) {
      onHandlerError?.(error, call.requestId);
      return refused('gateway_error', call);
    }
  }

  async function opened({ open }: Pick<LocalStream, 'open'>, request: GatewayRequest, call: ApiRequest) {
    try {
      return await open(request);
    } catch (error) {
      onHandlerError?.(error, request.requestId);
      return refused('gateway_error', call);
    }
  }

  async function integrated(
    handler: ProxyHandler,
    request: IncomingMessage,
    call: ApiRequest,
    apiKey: ApiKey,
  ) {
    const body = await readBody(request, maxPayloadBytes);
    if (body === 'incomplete') return undefined;
    if (body === 'too large') return refused('payload_too_large', call);

    const { rawHeaders, socket } = request;
    const sourceIp = socket.remoteAddress ?? '';
    const event = proxyEvent({ ...call, rawHeaders, body, resource: call.path, stage, sourceIp, apiKey });
    const outcome = await invoke(handler, event, call.isUnseen ? ownTimeoutMs : timeoutMs);
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
    const otherHost = hostFault(request.headers.host);
    if (otherHost) return refused('forbidden', call, { detail: `${otherHost} ${ownNames}` });
    const methods = resources.get(call.path);
    if (!methods) return refused('unknown_operation', call);
    const integration = methods.get(call.method);
    if (!integration) {
      const preflight =
        call.method === 'OPTIONS' && cors.preflight(headersOf(methods), request.headers.origin);
      // API Gateway has one refusal for both; here the caller learns which of the two it is.
      return preflight || refused('method_not_allowed', call, { allow: [...methods.keys()] });
    }
    if ('mock' in integration || 'form' in integration) return withoutFunction(integration, request, call);

    // Node joins a repeated header, which then matches no key.
    const apiKey = findApiKey(String(request.headers['x-api-key'] ?? ''));
    if (!apiKey) return refused(...keyFault(request, call, findApiKey));
    call.apiKey = apiKey;
    if ('isUnseen' in integration && integration.isUnseen) call.isUnseen = true;
    const admission = call.isUnseen ? unmeteredAdmission : meter.take(apiKey.id);
    if (!admission.allowed) {
      const retryAfterSeconds = Math.max(1, Math.ceil(admission.retryAfterMs / 1000));
      return refused('throttled', call, { retryAfterSeconds });
    }
    if ('isOperators' in integration && apiKey !== apiKeys[0])
      return refused('forbidden', call, { detail: operatorsAlone });
    return 'open' in integration
      ? opened(integration, await requestOf(request, call, apiKey), call)
      : integrated(integration.handler, request, call, apiKey);
  };
}

/** Time limit of the run's own routes, which no deployment has: on a slow machine a thousand phones take long. */
const ownTimeoutMs = 300_000;

const unmeteredAdmission = { allowed: true } as const;

/** Headers in which people put a key that API Gateway reads only in x-api-key. */
const otherHeaders = ['authorization', 'api-key', 'apikey', 'x-apikey', 'x-api-token', 'x-auth-token'];

/** Says in detail what is wrong with the key, for a person at the console; API Gateway has one sentence for everything. */
function keyFault(
  { headers }: IncomingMessage,
  call: ApiRequest,
  findApiKey: (sent: string) => ApiKey | undefined,
): [ApiRefusalCode, ApiRequest, Pick<RefusalDetail, 'detail'>] {
  if (headers['x-api-key'])
    return [
      'unknown_api_key',
      call,
      { detail: 'The key in x-api-key is not one of this run: npm start prints the key when it begins.' },
    ];
  const inHeader = otherHeaders.find((name) =>
    findApiKey(String(headers[name] ?? '').replace(/^(Bearer|Basic|ApiKey)\s+/i, '')),
  );
  const inQuery = [...new URLSearchParams(call.query)].find(([, value]) => findApiKey(value))?.[0];
  if (inHeader !== undefined)
    return [
      'missing_api_key',
      call,
      { detail: `The key came in the header ${inHeader}: send it as x-api-key.` },
    ];
  if (inQuery !== undefined)
    return [
      'missing_api_key',
      call,
      {
        detail: `The key came in the query, as ${inQuery}: send it in the header x-api-key, where no log keeps it.`,
      },
    ];
  return ['missing_api_key', call, { detail: 'The header x-api-key is missing.' }];
}

const operatorsAlone = 'This path is the operator’s: it answers to the first key of the run alone.';
const ownNames = 'Call the run as 127.0.0.1 or localhost.';

const createRefuse =
  (refuse: Refuse, cors: LocalCors) =>
  (
    code: ApiRefusalCode,
    { requestId, method, path }: ApiRequest,
    extra: Pick<RefusalDetail, 'allow' | 'retryAfterSeconds' | 'detail'> = {},
  ): HttpResponse => {
    const { status, headers, body } = refuse(code, { requestId, method, path, ...extra });
    const all = new Map<string, readonly string[]>();
    if (extra.allow) all.set('allow', [extra.allow.join(', ')]);
    if (extra.retryAfterSeconds !== undefined) all.set('retry-after', [String(extra.retryAfterSeconds)]);
    for (const [name, value] of Object.entries({ ...headers, ...cors.ofRefusal }))
      all.set(name.toLowerCase(), [value]);
    return { status, headers: all, body: Buffer.from(body) };
  };

/** Makes a request without a body, as a function makes one from an event. */
const requestOf = async (
  request: IncomingMessage,
  { requestId, method, path, query }: ApiRequest,
  key: ApiKey,
): Promise<GatewayRequest> => ({
  requestId,
  method,
  path,
  query: [...new URLSearchParams(query)],
  headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
  caller: await callerOf({ key: key.id, address: request.socket.remoteAddress }),
  evidence: { apiKeyId: key.id },
});

type Methods = ReadonlyMap<string, Integration>;

const headersOf = (methods: Methods): readonly string[] =>
  [...methods.values()].flatMap((one) => ('headers' in one && one.headers) || []);

/** Integrations by path and method. */
const headOf =
  (mock: LocalPage): LocalPage =>
  async (request) => {
    const answer = await mock(request);
    return answer && { ...answer, body: Buffer.of() };
  };

function resourcesOf(
  routes: readonly LocalRoute[],
  streams: readonly LocalStream[],
  pages: ReadonlyMap<string, LocalPage>,
  forms: ReadonlyMap<string, FormPage>,
): ReadonlyMap<string, Methods> {
  const resources = new Map<string, Map<string, Integration>>([
    ...[['/health', () => healthAnswer] as const, ...pages].map(
      ([path, mock]) =>
        [
          path,
          new Map([
            ['GET', { mock }],
            ['HEAD', { mock: headOf(mock) }],
          ]),
        ] as const,
    ),
    ...[...forms].map(([path, form]) => [path, new Map([['POST', { form }]])] as const),
  ]);
  const withKey: readonly (KeyedIntegration & { method: string; path: string })[] = [
    ...routes,
    ...streams.map((stream) => ({ ...stream, method: 'GET' })),
  ];
  for (const { method, path, ...integration } of withKey) {
    const methods = resources.get(path) ?? new Map<string, Integration>();
    // A repeated route fails, as in API Gateway: otherwise the second would hide the first.
    if (methods.has(method)) throw new Error(`The route ${method} ${path} is there twice.`);
    resources.set(path, methods.set(method, integration));
  }
  return resources;
}
