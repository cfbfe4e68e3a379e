/**
 * Adapts Lambda's Node runtime for functions that stream. Streamed answers use two globals that exist before the handler's
 * file is loaded; on managed instances, one worker thread has many streams.
 */

import { subscribe } from 'node:diagnostics_channel';
import type { Agent, ClientRequest } from 'node:http';
import type { StreamHandler } from '../compose/stream-handler.ts';
import type { ProxyEvent } from '../events/rest-proxy.ts';
import { describe, type Log } from '../log/log.ts';

/**
 * Marks the handler, so that the runtime gives it a stream instead of waiting for its result.
 *
 * @example export const handler = streaming(start(quoteStreams, process.env, streamPorts(lambdaHost())));
 */
export const streaming = (handler: StreamHandler) =>
  awslambda.streamifyResponse<ProxyEvent>((event, stream, context) =>
    // Before the first text comes the head as JSON, then eight zero bytes: API Gateway makes status and headers of it.
    handler(event, context, (head) => awslambda.HttpResponseStream.from(stream, { ...head })),
  );

/**
 * Corrects two faults of version 4.0.2 of the runtime's client, the published one, where one thread has many streams; it
 * does no harm to a version without them.
 *
 * - The runtime writes answers over one connection. A stream would wait for the end of the one before it.
 * - When the connection of one answer breaks, as when a client is cut off, a promise of the runtime rejects that no code
 *   awaits. It would end the thread with all other streams, and no new thread would start.
 *
 * @param env AWS sets the variable there and nowhere else
 */
export function shareRuntime(
  { AWS_LAMBDA_MAX_CONCURRENCY: isShared, AWS_LAMBDA_RUNTIME_API: api = '' }: NodeJS.ProcessEnv,
  log: Log,
): void {
  if (isShared === undefined) return;
  subscribe('http.client.request.created', (message) => {
    const { host, agent } = (message as { readonly request: ClientRequest & { agent?: Agent } }).request;
    if (agent && host === api.split(':')[0]) agent.maxSockets = Number.POSITIVE_INFINITY;
  });
  process.on('unhandledRejection', (error) =>
    log({ level: 'warn', event: 'unhandled_rejection', error: describe(error) }),
  );
}
