/** What a deployer may configure of trade and position events. */

import * as v from 'valibot';
import { topicArn, whole } from './schema-parts.ts';

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
export interface ResolvedTradeEvents {
  /** As the function takes it. */
  readonly url: string;
  readonly compareEveryMinutes: number;
  readonly reservedConcurrency?: number;
  readonly alarmTopic?: string | undefined;
}

const endpointFault = 'takes a host name, with or without a port, such as events.example.com:443';

export const tradeEventsSchema = v.strictObject({
  endpoint: v.optional(
    v.pipe(v.string(endpointFault), v.regex(/^([\w.-]{1,253}|\[[\da-f:]+\])(:\d{1,5})?$/i, endpointFault)),
  ),
  // A stream that is mute for an hour is no longer of use to a trading app.
  compareEveryMinutes: v.optional(whole(1, 60), 5),
  alarmTopic: v.optional(topicArn),
});
