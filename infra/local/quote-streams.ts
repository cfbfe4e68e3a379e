/** Streams of quotes, as the function that is deployed for them answers. */

import type { ServerResponse } from 'node:http';
import { composeOffer } from '../../functions/compose/group.ts';
import { quoteStreams } from '../../functions/compose/quote-streams.ts';
import { type CorsOrigins, withCors } from '../../functions/events/cors.ts';
import { readGatewaySettings } from '../../functions/settings/environment.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import { onDemand } from '../../lib/kernel/once.ts';
import type { FunctionParts } from './functions.ts';
import type { LocalStream } from './options.ts';

/** A client that takes nothing for so long is cut off: it is gone, or comes back. */
const blockedMs = 30_000;

/** The gateway begins with the first stream. */
export function createQuoteStreams(
  { platform, env }: FunctionParts,
  corsOrigins: CorsOrigins = [],
): readonly LocalStream[] {
  const gateway = onDemand(() => {
    const offer = quoteStreams();
    const asked = [...offer.operations, ...offer.lookUps];
    const read = readGatewaySettings(env(asked, false), asked, undefined);
    if (!read.ok) throw new TypeError(read.faults.join('; '));
    return composeOffer(offer, read.settings, platform.ports);
  });
  return liveOperations.map(({ path }) => ({
    path,
    async open(request) {
      const { status, headers, body, stream } = await gateway().handle(request);
      const all = withCors(headers, corsOrigins, request.headers.origin);
      return {
        status,
        headers: new Map(Object.entries(all).map(([name, value]) => [name, [value]])),
        body,
        ...(stream && {
          stream: (response: ServerResponse) => void pass(stream, response).catch(() => response.destroy()),
        }),
      };
    },
  }));
}

/** Asks for the next text when the client has taken the last one. */
async function pass(texts: AsyncIterable<string>, response: ServerResponse): Promise<void> {
  for await (const text of texts) {
    if (response.closed) return;
    if (!response.write(text) && !(await hasDrained(response))) return void response.destroy();
  }
  response.end();
}

const hasDrained = (response: ServerResponse): Promise<boolean> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(impatience);
      resolve(!response.closed && !response.writableNeedDrain);
    };
    const impatience = setTimeout(done, blockedMs);
    response.once('drain', done).once('close', done);
  });
