/**
 * Lambda's Node runtime, as functions that stream need it: answers as they come, by two globals that are there before a
 * handler's file is read, and on managed instances many streams in one worker thread.
 */

import { subscribe } from 'node:diagnostics_channel';
import type { Agent, ClientRequest } from 'node:http';
import type { StreamHandler } from '../compose/stream-handler.ts';
import type { ProxyEvent } from '../events/rest-proxy.ts';
import { describe, type Log } from '../log/log.ts';

/**
 * Marks the handler, so that the runtime gives it a stream in place of waiting for what it returns.
 *
 * @example export const handler = streaming(start(quoteStreams, process.env, streamPorts(lambdaHost())));
 */
export const streaming = (handler: StreamHandler) =>
  awslambda.streamifyResponse<ProxyEvent>((event, stream, context) =>
    // What stands before the first text as JSON, and eight zero bytes after it: API Gateway makes status and headers of it.
    handler(event, context, (head) => awslambda.HttpResponseStream.from(stream, { ...head })),
  );

/**
 * Adds what version 4.0.2 of the runtime's client, the one that is published, lacks where one thread has many streams; a
 * version that does without takes no harm from it.
 *
 * - The runtime writes answers over one connection. A stream would wait for the end of the one before it.
 * - When the connection of one answer breaks, as it does where a client is cut off, a promise of the runtime rejects that
 *   nobody awaits. It would end the thread, with the streams of everybody else, and no other would be started.
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
