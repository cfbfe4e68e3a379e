/** Streams of quotes, as the function that is deployed for them answers. */

import type { ServerResponse } from 'node:http';
import { composeOffer } from '../../functions/compose/group.ts';
import { quoteOffer } from '../../functions/compose/quote-streams.ts';
import { withCors } from '../../functions/events/cors.ts';
import { passOn } from '../../functions/events/texts.ts';
import { readGatewaySettings } from '../../functions/settings/environment.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import { onDemand } from '../../lib/kernel/once.ts';
import type { FunctionParts } from './functions.ts';
import type { LocalStream } from './options.ts';
import type { LocalSettings } from './settings.ts';

/** One process has all of them. */
const bounds = { perCaller: 100, processes: 1 };

/** The gateway begins with the first stream. */
export function createQuoteStreams(
  { platform, env }: FunctionParts,
  { corsOrigins = [], streamSeconds = 900 }: Pick<LocalSettings, 'corsOrigins' | 'streamSeconds'>,
): readonly LocalStream[] {
  const gateway = onDemand(() => {
    const offer = quoteOffer(bounds);
    const asked = [...offer.operations, ...offer.lookUps];
    const read = readGatewaySettings(env(asked, false), asked, undefined);
    if (!read.ok) throw new TypeError(read.faults.join('; '));
    return composeOffer(offer, read.settings, platform.ports);
  });
  return liveOperations.map(({ path }) => ({
    path,
    async open(request) {
      const { status, headers, body, stream } = await gateway().handle({
        ...request,
        deadline: platform.ports.clock() + streamSeconds * 1000,
      });
      const all = withCors(headers, corsOrigins, request.headers.origin);
      return {
        status,
        headers: new Map(Object.entries(all).map(([name, value]) => [name, [value]])),
        body,
        ...(stream && {
          stream: (response: ServerResponse) => void passOn(stream, response).catch(() => response.destroy()),
        }),
      };
    },
  }));
}
