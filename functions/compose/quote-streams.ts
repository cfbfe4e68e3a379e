/** The function of streams of quotes: it follows the snapshots that functions of market data share, and refreshes as they do. */

import { streamStockSnapshots } from '../../lib/catalogue/live-quotes.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { liveStep } from '../../lib/live/live-step.ts';
import { createStreamShares } from '../../lib/live/stream-shares.ts';
import { describe } from '../log/log.ts';
import { readMaxStreams, readWhole } from '../settings/environment.ts';
import { followers, quoteStreams as streamsRange } from '../settings/ranges.ts';
import type { FunctionSettings } from '../settings/settings.ts';
import { sharedQuotes, upstreamName } from './gateway.ts';
import { composeOffer, group, type Offer } from './group.ts';
import { offer } from './offers.ts';
import type { StreamPorts } from './ports.ts';
import type { Composition } from './start.ts';
import { refusingStreams, type StreamHandler, streamHandler } from './stream-handler.ts';

export interface StreamBounds {
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

export interface StreamSettings extends FunctionSettings {
  readonly bounds: StreamBounds;
}

export const quoteStreams: Composition<StreamSettings, StreamPorts, StreamHandler> = {
  read(env) {
    const read = refusing.read(env);
    const faults = [
      ...(read.ok ? [] : read.faults),
      ...(read.ok && !read.settings.cache ? ['CACHE_TABLE: not set'] : []),
    ];
    const maxStreams = readMaxStreams(env, streamsRange, faults);
    const bounds = {
      perCaller: Math.min(mostPerCaller, Math.ceil(maxStreams / 10)),
      // Less than streams where several share one.
      processes: readWhole(env, 'LIVE_PROCESSES', followers, faults) ?? maxStreams,
    };
    return read.ok && faults.length === 0
      ? { ok: true, settings: { ...read.settings, bounds } }
      : { ok: false, faults };
  },
  compose(settings, ports) {
    const gateway = composeOffer(quoteOffer(settings.bounds), settings, ports);
    const { corsOrigins, cache } = settings;
    return streamHandler(gateway, { corsOrigins, networkPrefix: cache?.networkPrefix }, ports);
  },
  wrong: (log) => refusingStreams(refusing.wrong(log)),
};
