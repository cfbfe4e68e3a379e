/**
 * Trade and position events: what a deployer may configure, where the upstream's event service is, and how many instances
 * are kept free for the listener.
 */

import * as v from 'valibot';
import type { TradeEventSettings } from '../../functions/settings/parts.ts';
import { defaultCompareMs } from '../../lib/trade-events/comparing.ts';
import { eventsUrlFault } from '../../lib/upstream/base-url.ts';
import { ConfigError, matching, topicArn, whole } from './schema-parts.ts';

export interface TradeEventsConfig {
  /**
   * The host of the upstream's event service, with a port unless it is 443. Default the host of `upstream.baseUrl`; the
   * broker may name another one for events.
   */
  readonly endpoint?: string;
  /**
   * How often what the stream delivered is compared with the open orders, besides after each gap: so long a stream that
   * is open and delivers nothing stays unnoticed. Each comparison takes one request for each page of open orders, two or
   * more for each account. Default 5.
   */
  readonly compareEveryMinutes?: number;
  /** The ARN of the SNS topic that hears of the alarms. Default none: the alarms exist all the same. */
  readonly alarmTopic?: string;
}

/** With nothing left open. */
export interface ResolvedTradeEvents extends Pick<TradeEventSettings, 'url' | 'compareEveryMs'> {
  readonly reservedConcurrency?: number;
  readonly alarmTopic?: string | undefined;
}

const minuteMs = 60_000;

const endpointFault = 'takes a host name, with or without a port, such as events.example.com:443';

export const tradeEventsSchema = v.strictObject({
  endpoint: v.optional(matching(/^([\w.-]{1,253}|\[[\da-f:]+\])(:\d{1,5})?$/i, endpointFault)),
  // A stream that is mute for an hour is no longer of use to a trading app.
  compareEveryMinutes: v.optional(whole(1, 60), defaultCompareMs / minuteMs),
  alarmTopic: v.optional(topicArn),
});

/** The one that listens, the one that follows it, and the one that finds both. */
const reserved = 3;

/** @throws ConfigError in one sentence that names the property */
export function resolveTradeEvents(
  { endpoint, compareEveryMinutes, alarmTopic }: v.InferOutput<typeof tradeEventsSchema>,
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
  return {
    url,
    compareEveryMs: compareEveryMinutes * minuteMs,
    alarmTopic,
    ...(!reservesNone && { reservedConcurrency: reserved }),
  };
}

interface Surroundings {
  readonly baseUrl: string;
  readonly allowLoopback: boolean;
  /** As `functions.reservedConcurrency: 'none'` says, for accounts that have too few instances. */
  readonly reservesNone: boolean;
}
