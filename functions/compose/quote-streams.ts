/** The function of streams of quotes: it follows the snapshots that functions of market data share, and refreshes as they do. */

import { liveOperations } from '../../lib/catalogue/live.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { liveStep } from '../../lib/live/live-step.ts';
import { describe } from '../log/log.ts';
import { sharedQuotes } from './gateway.ts';
import type { Offer } from './group.ts';
import { offer } from './offers.ts';
import type { QuotePorts } from './ports.ts';

/** Without a cache there is nothing to follow. */
export const quoteStreams = (): Offer<QuotePorts> => ({
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
