/** The function of streams of quotes: it follows the snapshots that functions of market data share, and refreshes as they do. */

import type { Context } from 'aws-lambda';
import { liveOperations } from '../../lib/catalogue/live.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { liveStep } from '../../lib/live/live-step.ts';
import { createStreamShares } from '../../lib/live/stream-shares.ts';
import { withCors } from '../events/cors.ts';
import { type ProxyEvent, toGatewayRequest } from '../events/rest-proxy.ts';
import { passOn, type Sink } from '../events/texts.ts';
import { describe } from '../log/log.ts';
import type { FunctionSettings } from '../settings/settings.ts';
import { sharedQuotes, upstreamName } from './gateway.ts';
import { composeOffer, group, type Offer } from './group.ts';
import { offer } from './offers.ts';
import type { StreamPorts } from './ports.ts';
import type { Composition } from './start.ts';

/** What stands before the first text. */
export interface Head {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, boolean | number | string>>;
}

export type StreamHandler = (
  event: ProxyEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
  open: (head: Head) => Sink,
) => Promise<void>;

export interface StreamBounds {
  /** Streams of one caller, in all processes. */
  readonly perCaller: number;
  /** Processes at most. */
  readonly processes: number;
}

/** Without a cache there is nothing to follow. */
export const quoteOffer = ({ perCaller, processes }: StreamBounds): Offer<StreamPorts> => ({
  ...offer(liveOperations),
  lookUps: liveOperations.flatMap(({ follows }) => follows ?? []),
  cache: ({ cache, upstreamBaseUrl }, ports) =>
    cache &&
    liveStep({
      ...sharedQuotes(symbolListing, cache, upstreamBaseUrl, ports),
      shares: createStreamShares(ports.streams(cache.tableName, upstreamName(upstreamBaseUrl)), {
        max: perCaller,
        clock: ports.clock,
      }),
      processes,
      sleep: ports.sleep,
      onFailure: (error) => ports.log({ level: 'warn', event: 'turn_failed', error: describe(error) }),
    }),
});

/** A process has one stream. One caller may have a tenth of them, so that none takes them all. */
const boundsOf = (maxStreams: number): StreamBounds => ({
  perCaller: Math.ceil(maxStreams / 10),
  processes: maxStreams,
});

const refusing = group(quoteOffer(boundsOf(1)));

export interface StreamSettings extends FunctionSettings {
  readonly maxStreams: number;
}

export const quoteStreams: Composition<StreamSettings, StreamPorts, StreamHandler> = {
  read(env) {
    const read = refusing.read(env);
    const maxStreams = Number(env.LIVE_MAX_STREAMS);
    const faults = [
      ...(read.ok ? [] : read.faults),
      ...(read.ok && !read.settings.cache ? ['CACHE_TABLE: not set'] : []),
      ...(Number.isSafeInteger(maxStreams) && maxStreams > 0 ? [] : ['LIVE_MAX_STREAMS: not a whole number']),
    ];
    return read.ok && faults.length === 0
      ? { ok: true, settings: { ...read.settings, maxStreams } }
      : { ok: false, faults };
  },
  compose(settings, ports) {
    const gateway = composeOffer(quoteOffer(boundsOf(settings.maxStreams)), settings, ports);
    return async (event, context, open) => {
      const request = await toGatewayRequest(event, settings.cache?.networkPrefix);
      // A stream ends some seconds before it.
      const deadline = ports.clock() + context.getRemainingTimeInMillis();
      const { status, headers, body, stream } = await gateway.handle({ ...request, deadline });
      const sink = open({
        statusCode: status,
        headers: withCors(headers, settings.corsOrigins, request.headers.origin),
      });
      await passOn(stream ?? [body], sink);
    };
  },
  wrong(log) {
    const refuse = refusing.wrong(log);
    return async (event, context, open) => {
      const { statusCode, headers = {}, body } = await refuse(event, context);
      await passOn([Buffer.from(body)], open({ statusCode, headers }));
    };
  },
};
