/** Streams of quotes and of trade events, answered as the deployed functions for them do. */

import type { ServerResponse } from 'node:http';
import { composeOffer } from '../../functions/compose/group.ts';
import { composeOrderStreams, orderStreams } from '../../functions/compose/order-streams.ts';
import { quoteOffer } from '../../functions/compose/quote-streams.ts';
import { withCors } from '../../functions/events/cors.ts';
import { passOn } from '../../functions/events/texts.ts';
import { readFunctionSettings } from '../../functions/settings/function-settings.ts';
import { type Environment, type Read, writePart } from '../../functions/settings/parts.ts';
import { streamOrderEvents, streamStockSnapshots } from '../../lib/catalogue/live.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { Gateway } from '../../lib/gateway/index.ts';
import { onDemand } from '../../lib/kernel/once.ts';
import type { CalledParts, FunctionParts } from './functions.ts';
import type { LocalStream } from './options.ts';
import { ofStreams } from './quote-origins.ts';
import type { LocalSettings } from './settings.ts';

/** Limits for streams; one process has all of them. */
const streamBounds = { perCaller: 100, processes: 1 };

type LocalStreamSettings = Pick<LocalSettings, 'corsOrigins' | 'streamSeconds'>;

export function createQuoteStream({ portsOf, env }: CalledParts, settings: LocalStreamSettings): LocalStream {
  const ports = portsOf(ofStreams);
  return streamOf(streamStockSnapshots, ports, settings, () => {
    const offer = quoteOffer(streamBounds);
    const operations = [...offer.operations, ...offer.lookUps];
    return composeOffer(
      offer,
      settingsIn(env(operations, false), (one) => readFunctionSettings(one, operations)),
      ports,
    );
  });
}

export function createEventStream(
  { platform, env }: FunctionParts,
  settings: LocalStreamSettings,
): LocalStream {
  return streamOf(streamOrderEvents, platform.ports, settings, () =>
    composeOrderStreams(
      settingsIn(
        { ...env([], true), ...writePart('LIVE', { maxStreams: 1, processes: 1 }) },
        orderStreams.read,
      ),
      platform.ports,
      streamBounds.perCaller,
    ),
  );
}

/** @param create makes the gateway, when the first stream opens */
function streamOf(
  { path, headers: taken }: Operation,
  { clock }: FunctionParts['platform']['ports'],
  { corsOrigins = [], streamSeconds = 900 }: LocalStreamSettings,
  create: () => Pick<Gateway, 'handle'>,
): LocalStream {
  const gateway = onDemand(create);
  return {
    path,
    headers: taken,
    async open(request) {
      const deadline = clock() + streamSeconds * 1000;
      const { status, headers, body, stream } = await gateway().handle({ ...request, deadline });
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
  };
}

function settingsIn<Settings>(env: Environment, read: (env: Environment) => Read<Settings>): Settings {
  const found = read(env);
  if (!found.ok) throw new TypeError(found.faults.join('; '));
  return found.settings;
}
