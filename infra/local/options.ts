/** Options of the local API Gateway. */

import type { CorsOrigins } from '../../functions/events/cors.ts';
import type { UsagePlan } from '../../lib/catalogue/plans.ts';
import type { GatewayRequest } from '../../lib/gateway/index.ts';
import type { ProxyHandler } from './invocation.ts';
import type { FormPage, LocalPage } from './page-answer.ts';
import type { HttpResponse } from './proxy-result.ts';
import type { ApiKey } from './usage-plan.ts';

export interface LocalRoute {
  readonly method: string;
  /** Exact path, without parameters. */
  readonly path: string;
  readonly handler: ProxyHandler;
  /** Headers that a preflight allows besides those of every route. */
  readonly headers?: readonly string[] | undefined;
  /** Whether only the first key may call it, for actions that on AWS need the operator's own rights. */
  readonly isOperators?: true;
  /** Whether its calls, which a page makes each second, are neither counted in the key's plan nor logged. */
  readonly isUnseen?: true;
}

/** Stream for a GET with a key, answered by this process itself: API Gateway has no response without an end. */
export interface LocalStream {
  readonly path: string;
  /** Headers that a preflight allows besides those of every route. */
  readonly headers?: readonly string[] | undefined;
  open(request: GatewayRequest): Promise<HttpResponse>;
}

/** Entry for each answered request, without key and query, which can contain what a log must not. */
export interface AccessLogEntry {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly milliseconds: number;
  /** Id of the key; null when the request was answered before its key was read, or had no known one. */
  readonly apiKeyId: string | null;
  /** Code and sentence of a refusal. */
  readonly refusal?: { readonly code: string; readonly detail: string };
}

export interface ApiGatewayOptions {
  readonly routes: readonly LocalRoute[];
  readonly streams?: readonly LocalStream[];
  /** Pages, by path, that answer GET without a key. */
  readonly pages?: ReadonlyMap<string, LocalPage>;
  /** Forms, by path, that answer POST without a key. */
  readonly forms?: ReadonlyMap<string, FormPage>;
  /** Keys of the run; the first one is the operator's. */
  readonly apiKeys: readonly ApiKey[];
  /** Token bucket, one for each key. */
  readonly plan: UsagePlan;
  readonly refuse: Refuse;
  /** Port; 0, the default, takes any free one. */
  readonly port?: number;
  /** Address to listen on. Default: loopback alone. With another one, requests may name this machine's addresses. */
  readonly host?: string | undefined;
  /** Returns Unix time in milliseconds. */
  readonly clock?: () => number;
  /** @param query as sent; it may contain what a log must not */
  readonly log?: (entry: AccessLogEntry, query: string) => void;
  /** Called with the cause of a `gateway_error`: the handler's error, or the fault in its result. */
  readonly onHandlerError?: (error: unknown, requestId: string) => void;
  /** Origins whose scripts may read this server's own answers; handlers name theirs. Default: none. */
  readonly corsOrigins?: CorsOrigins | undefined;
  readonly stage?: string;
  /** Milliseconds that a handler may take; API Gateway's own limit by default. */
  readonly timeoutMs?: number;
  /** Limit of a request's body and of a response's; API Gateway's own by default. */
  readonly maxPayloadBytes?: number;
  /** Milliseconds for which `close` waits for requests under way. */
  readonly closeGraceMs?: number;
}

/** Codes of refusals by API Gateway itself. This server has no texts for them: `Refuse` makes them. */
export type ApiRefusalCode =
  | 'forbidden'
  | 'missing_api_key'
  | 'unknown_api_key'
  | 'throttled'
  | 'unknown_operation'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'gateway_error'
  | 'gateway_timeout';

export interface RefusalDetail {
  readonly requestId: string;
  readonly path: string;
  readonly method: string;
  /** Methods of the path, with `method_not_allowed`. */
  readonly allow?: readonly string[];
  /** Whole seconds, at least 1, with `throttled`. */
  readonly retryAfterSeconds?: number;
  /** Reason, if the code does not tell it. */
  readonly detail?: string;
}

/** Makes the response of a refusal; `allow` and `retry-after` are added if it does not set them. */
export type Refuse = (
  code: ApiRefusalCode,
  detail: RefusalDetail,
) => { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };
