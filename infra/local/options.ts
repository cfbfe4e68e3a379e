/** What the local API Gateway is given. */

import type { CorsOrigins } from '../../functions/events/cors.ts';
import type { UsagePlan } from '../../lib/catalogue/plans.ts';
import type { GatewayRequest } from '../../lib/gateway/index.ts';
import type { ProxyHandler } from './invocation.ts';
import type { FormPage, LocalPage } from './page-answer.ts';
import type { HttpResponse } from './proxy-result.ts';
import type { ApiKey } from './usage-plan.ts';

export interface LocalRoute {
  readonly method: string;
  /** The exact path; no parameters in it. */
  readonly path: string;
  readonly handler: ProxyHandler;
  /** What a preflight allows besides the headers that it allows for every route. */
  readonly headers?: readonly string[] | undefined;
  /** Answered to the first key alone: what an operator of a deployment does with rights that no caller has. */
  readonly isOperators?: true;
  /** What a page asks each second: it takes nothing of the key's plan, and is not logged. */
  readonly isUnseen?: true;
}

/** Answered to GET with a key, by this process itself: API Gateway has no response without an end. */
export interface LocalStream {
  readonly path: string;
  /** As of a route. */
  readonly headers?: readonly string[] | undefined;
  open(request: GatewayRequest): Promise<HttpResponse>;
}

/** One line for each answered request. No key in it, and no query: both can hold what a log must not. */
export interface AccessLogEntry {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly milliseconds: number;
  /** Null when the request was answered before its key was read, or had no known one. */
  readonly apiKeyId: string | null;
  /** Of a refusal: its code, and its sentence for people. */
  readonly refusal?: { readonly code: string; readonly detail: string };
}

export interface ApiGatewayOptions {
  readonly routes: readonly LocalRoute[];
  readonly streams?: readonly LocalStream[];
  /** Answered to GET without a key, by path. */
  readonly pages?: ReadonlyMap<string, LocalPage>;
  /** Answered to POST without a key, by path. */
  readonly forms?: ReadonlyMap<string, FormPage>;
  /** The first one is the operator's. */
  readonly apiKeys: readonly ApiKey[];
  /** One token bucket for each key. */
  readonly plan: UsagePlan;
  readonly refuse: Refuse;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** The address to listen on. Default: loopback alone. With another one, requests may name this machine's addresses. */
  readonly host?: string | undefined;
  /** Unix time in milliseconds. */
  readonly clock?: () => number;
  /** @param query as it was sent; it may hold what a log must not */
  readonly log?: (entry: AccessLogEntry, query: string) => void;
  /** Called with the reason of a `gateway_error`: what the handler threw, or what is wrong with its result. */
  readonly onHandlerError?: (error: unknown, requestId: string) => void;
  /** Whose scripts may read what is answered here; handlers say it of their own answers. Default: none. */
  readonly corsOrigins?: CorsOrigins | undefined;
  readonly stage?: string;
  /** How long a handler may take; API Gateway's own limit by default. */
  readonly timeoutMs?: number;
  /** The limit of a request's body and of a response's; API Gateway's own by default. */
  readonly maxPayloadBytes?: number;
  /** How long `close` waits for requests that are being answered. */
  readonly closeGraceMs?: number;
}

/** What API Gateway itself refuses. The texts come from outside: this server has none of its own. */
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
  /** With `method_not_allowed`: the methods that the path has. */
  readonly allow?: readonly string[];
  /** With `throttled`: whole seconds, at least 1. */
  readonly retryAfterSeconds?: number;
  /** Why, where the code does not say it. */
  readonly detail?: string;
}

/** Makes the response; `allow` and `retry-after` are added to it where it does not set them. */
export type Refuse = (
  code: ApiRefusalCode,
  detail: RefusalDetail,
) => { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };
