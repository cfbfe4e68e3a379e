/**
 * API Gateway's REST API with Lambda proxy integration, on this machine: the deployed handlers themselves run behind it. It
 * handles routes, keys, plans and events; everything else is up to the handlers.
 */

import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { targetOf } from '../../functions/node/received.ts';
import { listenOn, loopback } from '../listen.ts';
import { compressed } from './compression.ts';
import type { AccessLogEntry, ApiGatewayOptions } from './options.ts';
import type { HttpResponse } from './proxy-result.ts';
import { type ApiRequest, createRestApi } from './rest-api.ts';

export type { ProxyHandler } from './invocation.ts';
export type {
  AccessLogEntry,
  ApiGatewayOptions,
  LocalRoute,
  LocalStream,
  RefusalDetail,
  Refuse,
} from './options.ts';
export type { ApiKey } from './usage-plan.ts';

export interface LocalApiGateway {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Rejects with the listener's own error (`EADDRINUSE`) when the port is in use. */
export async function startApiGateway(options: ApiGatewayOptions): Promise<LocalApiGateway> {
  const { clock = Date.now, log, port = 0, host = loopback, closeGraceMs = 2000 } = options;
  const respond = createRestApi(options);
  /** Responses without an end of their own, which would hold up `close`. */
  const streams = new Set<ServerResponse>();

  // Node's default of five seconds ends a kept connection just when a client on a busy machine uses it again.
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const { method = '', url = '' } = request;
    const call: ApiRequest = { requestId: randomUUID(), method, ...targetOf(url), receivedAt: clock() };
    const answered = await respond(request, call);
    // API Gateway never sees a request that the client did not finish: nothing to send, nothing to log.
    if (!answered) return;
    const sent = await compressed(answered, request.headers['accept-encoding']?.toString());
    // Ends a client's kept connection, which would hold up `close`.
    if (!server.listening) response.setHeader('connection', 'close');
    if (sent.stream) streams.add(response.once('close', () => streams.delete(response)));
    send(response, sent, call.requestId);
    if (call.isUnseen) return;
    const refusal = answered.status < 400 ? undefined : refusalIn(answered);
    const entry = {
      requestId: call.requestId,
      method,
      path: call.path,
      status: answered.status,
      milliseconds: clock() - call.receivedAt,
      apiKeyId: call.apiKey?.id ?? null,
      ...(refusal && { refusal }),
    };
    log?.(entry, call.query ?? '');
  });

  const actualPort = await listenOn(server, port, host);
  return {
    url: `http://${calledBy(host)}:${actualPort}`,
    port: actualPort,
    close() {
      for (const stream of streams) stream.end();
      return closeServer(server, closeGraceMs);
    },
  };
}

/** Host to call the server by: a server on all addresses is called by loopback. */
const calledBy = (host: string) =>
  host === '0.0.0.0' || host === '::' ? loopback : host.includes(':') ? `[${host}]` : host;

/** @returns undefined for an answer that is not one of the gateway's forms of a refusal */
function refusalIn({ body }: HttpResponse): AccessLogEntry['refusal'] {
  try {
    const { code, detail } = JSON.parse(Buffer.from(body).toString()) as Readonly<Record<string, unknown>>;
    return typeof code === 'string' && typeof detail === 'string' ? { code, detail } : undefined;
  } catch {
    return undefined;
  }
}

function send(
  response: ServerResponse,
  { status, headers, body, stream }: HttpResponse,
  requestId: string,
): void {
  response.statusCode = status;
  for (const [name, values] of headers) response.setHeader(name, values);
  response.setHeader('x-amzn-requestid', requestId);
  if (!stream) return void response.end(body);
  response.flushHeaders();
  stream(response);
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
