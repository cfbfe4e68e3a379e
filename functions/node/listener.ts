/** A gateway as a listener of a server of Node. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createAnswers, type ServedGateway, type ServerOptions } from '../../lib/fetch/answer.ts';
import type { GatewayResponse } from '../../lib/gateway/index.ts';
import { passOn } from '../events/texts.ts';
import { readBody, targetOf } from './received.ts';

export type NodeListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * For `node:http`, and for frameworks that give its requests and responses. The gateway's `access` and the code in front
 * decide who may call. With `single-user`, `hosts` keeps pages of other sites out.
 *
 * @throws TypeError for a base path that does not begin with a slash
 *
 * @example
 * const listener = createNodeListener(createGateway({ operations, upstreamBaseUrl, secrets }));
 * createServer(listener).listen(8080);
 */
export function createNodeListener(
  gateway: ServedGateway,
  options: ServerOptions<IncomingMessage> = {},
): NodeListener {
  const answer = createAnswers(gateway, options);
  return async (request, response) => {
    const { path, query } = targetOf(request.url ?? '');
    let isIncomplete = false;
    const answered = await answer(request, {
      method: request.method ?? '',
      target: query === undefined ? path : `${path}?${query}`,
      headers: headersOf(request),
      async body(maxBytes) {
        const body = await readBody(request, maxBytes);
        if (body !== 'incomplete') return body;
        isIncomplete = true;
        throw new Error('the client left before its request was complete');
      },
    });
    // No one is there to read an answer.
    if (isIncomplete) return;
    await send(answered, response, options.maxBlockedMs).catch(() => response.destroy());
  };
}

async function send(
  { status, headers, body, stream }: GatewayResponse,
  response: ServerResponse,
  blockedMs: number | undefined,
): Promise<void> {
  response.writeHead(status, { ...headers });
  if (!stream) return void response.end(body);
  response.flushHeaders();
  await passOn(stream, response, blockedMs);
}

/** As Web requests have them: lines of one name are one list. Node by itself drops all but one of some names. */
const headersOf = ({ headersDistinct }: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values]) => [name, values?.join(', ') ?? '']),
  );
