/** Trade events: where the upstream's event service is, and how many instances are kept free for the listener. */

import type * as v from 'valibot';
import { eventsUrlFault } from '../../lib/trade-events/events-url.ts';
import { ConfigError } from './config.ts';
import type { ResolvedTradeEvents, tradeEventsSchema } from './trade-events-config.ts';

/** The one that listens, the one that follows it, and the one that finds both. */
const reserved = 3;

/** @throws ConfigError in one sentence that names the property */
export function resolveTradeEvents(
  { endpoint, ...given }: v.InferOutput<typeof tradeEventsSchema>,
  { baseUrl, allowLoopback, reservesNone }: Surroundings,
): ResolvedTradeEvents {
  const { protocol, hostname } = new URL(baseUrl);
  // For emulators, as the upstream itself: neither has a certificate there.
  const isLoopback = allowLoopback && protocol === 'http:';
  if (isLoopback && endpoint === undefined)
    throw new ConfigError(
      'tradeEvents.endpoint is required where upstream.baseUrl is http: an emulator has its events on another port.',
    );
  const url = `${isLoopback ? 'http' : 'https'}://${endpoint ?? hostname}`;
  const fault = eventsUrlFault(url);
  if (fault)
    throw new ConfigError(`tradeEvents.endpoint ${JSON.stringify(endpoint)} cannot be used: it ${fault}.`);
  return { ...given, url, ...(!reservesNone && { reservedConcurrency: reserved }) };
}

interface Surroundings {
  readonly baseUrl: string;
  readonly allowLoopback: boolean;
  /** As `functions.reservedConcurrency: 'none'` says, for accounts that have too few instances. */
  readonly reservesNone: boolean;
}
