/** The function of streams of quotes: it follows the snapshots that functions of market data share, and refreshes as they do. */

import { streamStockSnapshots } from '../../lib/catalogue/live-quotes.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { liveStep } from '../../lib/live/live-step.ts';
import { createStreamShares } from '../../lib/live/stream-shares.ts';
import { describe } from '../log/log.ts';
import type { FunctionSettings } from '../settings/function-settings.ts';
import { readParts } from '../settings/parts.ts';
import { sharedQuotes, upstreamName } from './gateway.ts';
import { composeOffer, group, type Offer } from './group.ts';
import { offer } from './offers.ts';
import type { StreamPorts } from './ports.ts';
import type { Composition } from './start.ts';
import { refusingStreams, type StreamHandler, streamHandler } from './stream-handler.ts';

interface StreamBounds {
  /** Streams of one caller, in all processes. */
  readonly perCaller: number;
  /** Processes at most. */
  readonly processes: number;
}

/** Without a cache there is nothing to follow. */
export const quoteOffer = ({ perCaller, processes }: StreamBounds): Offer<StreamPorts> => ({
  ...offer([streamStockSnapshots]),
  lookUps: [streamStockSnapshots.follows],
  cache: ({ cache, upstreamBaseUrl }, ports) =>
    cache &&
    liveStep({
      ...sharedQuotes(symbolListing, cache, upstreamBaseUrl, ports),
      shares: createStreamShares(ports.streams(cache.tableName, upstreamName(upstreamBaseUrl)), {
        max: perCaller,
        clock: ports.clock,
        sleep: ports.sleep,
      }),
      processes,
      sleep: ports.sleep,
      onFailure: (error) => ports.log({ level: 'warn', event: 'turn_failed', error: describe(error) }),
    }),
});

/** A caller may have a tenth, so that none takes them all; and no more than are counted in one item of the table. */
const mostPerCaller = 1000;

const refusing = group(quoteOffer({ perCaller: 1, processes: 1 }));

interface StreamSettings extends FunctionSettings {
  readonly bounds: StreamBounds;
}

export const quoteStreams: Composition<StreamSettings, StreamPorts, StreamHandler> = {
  read(env) {
    const read = refusing.read(env);
    const bounds = readParts(env, (parts) => {
      parts.required('CACHE');
      const { maxStreams, processes } = parts.required('LIVE');
      return {
        perCaller: Math.min(mostPerCaller, Math.ceil(maxStreams / 10)),
        // Less than streams where several share one.
        processes: processes ?? maxStreams,
      };
    });
    return read.ok && bounds.ok
      ? { ok: true, settings: { ...read.settings, bounds: bounds.settings } }
      : { ok: false, faults: [read, bounds].flatMap((one) => (one.ok ? [] : one.faults)) };
  },
  compose(settings, ports) {
    const gateway = composeOffer(quoteOffer(settings.bounds), settings, ports);
    const { corsOrigins, cache } = settings;
    return streamHandler(gateway, { corsOrigins, networkPrefix: cache?.networkPrefix }, ports);
  },
  wrong: (log) => refusingStreams(refusing.wrong(log)),
};
