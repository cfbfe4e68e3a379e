/**
 * What Lambda's Node runtime lacks where one worker thread has many streams: on managed instances. Seen in version 4.0.2
 * of its client, the one that is published; a version that does without takes no harm from it.
 */

import { subscribe } from 'node:diagnostics_channel';
import type { Agent, ClientRequest } from 'node:http';
import { describe, type Log } from '../log/log.ts';

/**
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
