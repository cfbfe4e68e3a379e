/** The function of streams of quotes: it follows the snapshots that functions of market data share, and refreshes as they do. */

import type { Context } from 'aws-lambda';
import { liveOperations } from '../../lib/catalogue/live.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { liveStep } from '../../lib/live/live-step.ts';
import { withCors } from '../events/cors.ts';
import { type ProxyEvent, toGatewayRequest } from '../events/rest-proxy.ts';
import { passOn, type Sink } from '../events/texts.ts';
import { describe } from '../log/log.ts';
import type { FunctionSettings } from '../settings/settings.ts';
import { sharedQuotes } from './gateway.ts';
import { composeOffer, group, type Offer } from './group.ts';
import { offer } from './offers.ts';
import type { QuotePorts } from './ports.ts';
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

/** Without a cache there is nothing to follow. */
export const quoteOffer = (): Offer<QuotePorts> => ({
  ...offer(liveOperations),
  lookUps: liveOperations.flatMap(({ follows }) => follows ?? []),
  cache: ({ cache, upstreamBaseUrl }, ports) =>
    cache &&
    liveStep({
      ...sharedQuotes(symbolListing, cache, upstreamBaseUrl, ports),
      sleep: ports.sleep,
      onFailure: (error) => ports.log({ level: 'warn', event: 'turn_failed', error: describe(error) }),
    }),
});

const refusing = group(quoteOffer());

export const quoteStreams: Composition<FunctionSettings, QuotePorts, StreamHandler> = {
  read(env) {
    const read = refusing.read(env);
    return read.ok && !read.settings.cache ? { ok: false, faults: ['CACHE_TABLE: not set'] } : read;
  },
  compose(settings, ports) {
    const gateway = composeOffer(quoteOffer(), settings, ports);
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
