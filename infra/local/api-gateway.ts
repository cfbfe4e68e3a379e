/**
 * API Gateway's REST API with Lambda proxy integration, on this machine: the very handlers that are deployed
 * run behind it. It knows routes, keys, plans and events; everything else is the handlers' business.
 */

import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { UsagePlan } from '../../lib/catalogue/plans.ts';
import type { ApiKey } from './api-keys.ts';
import { compressed } from './compression.ts';
import type { ProxyHandler } from './invocation.ts';
import type { Page } from './pages.ts';
import type { HttpResponse } from './proxy-result.ts';
import { targetOf } from './received.ts';
import type { Refuse } from './refusals.ts';
import { type Call, createRestApi } from './rest-api.ts';

export type { ApiKey } from './api-keys.ts';
export type { ProxyHandler } from './invocation.ts';
export type { RefusalCode, RefusalDetail, Refuse } from './refusals.ts';

export interface LocalRoute {
  readonly method: string;
  /** The exact path; no parameters in it. */
  readonly path: string;
  readonly handler: ProxyHandler;
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
  /** Answered to GET without a key, by path. */
  readonly pages?: ReadonlyMap<string, Page>;
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
  readonly stage?: string;
  /** How long a handler may take; API Gateway's own limit by default. */
  readonly timeoutMs?: number;
  /** The limit of a request's body and of a response's; API Gateway's own by default. */
  readonly maxPayloadBytes?: number;
  /** How long `close` waits for requests that are being answered. */
  readonly closeGraceMs?: number;
}

export interface LocalApiGateway {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Rejects with the listener's own error (`EADDRINUSE`) when the port is taken. */
export async function startApiGateway(options: ApiGatewayOptions): Promise<LocalApiGateway> {
  const { clock = Date.now, log, port = 0, closeGraceMs = 2000 } = options;
  const respond = createRestApi(options);

  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    const call: Call = { requestId: randomUUID(), method, ...targetOf(url), receivedAt: clock() };
    const answered = await respond(request, call);
    // API Gateway never sees a request that the client did not finish: nothing to send, nothing to log.
    if (!answered) return;
    const sent = await compressed(answered, request.headers['accept-encoding']?.toString());
    // Without this a client's kept connection would hold up `close`.
    if (!server.listening) response.setHeader('connection', 'close');
    send(response, sent, call.requestId);
    log?.({
      requestId: call.requestId,
      method,
      path: call.path,
      status: answered.status,
      milliseconds: clock() - call.receivedAt,
      apiKeyId: call.apiKey?.id ?? null,
    });
  });

  await listen(server, port);
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${actualPort}`,
    port: actualPort,
    close: () => closeServer(server, closeGraceMs),
  };
}

const host = '127.0.0.1';

function send(response: ServerResponse, { status, headers, body }: HttpResponse, requestId: string): void {
  response.statusCode = status;
  for (const [name, values] of headers) response.setHeader(name, values);
  response.setHeader('x-amzn-requestid', requestId);
  response.end(body);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const impatience = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(impatience);
      resolve();
    });
  });
}
