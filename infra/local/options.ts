/** What the local API Gateway is given. */

import type { CorsOrigins } from '../../functions/events/cors.ts';
import type { UsagePlan } from '../../lib/catalogue/plans.ts';
import type { GatewayRequest } from '../../lib/gateway/index.ts';
import type { ApiKey } from './api-keys.ts';
import type { ProxyHandler } from './invocation.ts';
import type { FormPage, Page } from './pages.ts';
import type { HttpResponse } from './proxy-result.ts';
import type { Refuse } from './refusals.ts';

export interface LocalRoute {
  readonly method: string;
  /** The exact path; no parameters in it. */
  readonly path: string;
  readonly handler: ProxyHandler;
  /** What a preflight allows besides the headers that it allows for every route. */
  readonly headers?: readonly string[] | undefined;
}

/** Answered to GET with a key, by this process itself: API Gateway has no response without an end. */
export interface LocalStream {
  readonly path: string;
  /** As of a route. */
  readonly headers?: readonly string[] | undefined;
  open(request: GatewayRequest): Promise<HttpResponse>;
}

/** One line for each answered request. No query and no key in it: both can hold what a log must not. */
export interface AccessLogEntry {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly milliseconds: number;
  /** Null when the request was answered before its key was read, or had no known one. */
  readonly apiKeyId: string | null;
}

export interface ApiGatewayOptions {
  readonly routes: readonly LocalRoute[];
  readonly streams?: readonly LocalStream[];
  /** Answered to GET without a key, by path. */
  readonly pages?: ReadonlyMap<string, Page>;
  /** Answered to POST without a key, by path. */
  readonly forms?: ReadonlyMap<string, FormPage>;
  readonly apiKeys: readonly ApiKey[];
  /** One token bucket for each key. */
  readonly plan: UsagePlan;
  readonly refuse: Refuse;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Unix time in milliseconds. */
  readonly clock?: () => number;
  readonly log?: (entry: AccessLogEntry) => void;
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
