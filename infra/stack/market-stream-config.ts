/** The upstream's real-time channel of quotes: what a deployer may configure. */

import * as v from 'valibot';
import { defaultSessions } from '../../lib/market-stream/listener.ts';
import { marketStreamUrlFault } from '../../lib/upstream/base-url.ts';
import type { Mistakes } from '../mistakes.ts';
import { ConfigError, whole } from './schema-parts.ts';

export interface MarketStreamConfig {
  /**
   * The upstream's broker: `mqtts://HOST:PORT`, or `wss://HOST:PORT/mqtt`. It has a host of its own for each Region and
   * environment, of the same environment as `upstream.baseUrl`.
   */
  readonly url: string;
  /**
   * Connections at once, each for 100 symbols: 1 to 4. The upstream allows five to an app key, and counts one for a minute
   * after its end. Default 4.
   */
  readonly sessions?: number;
}

/** With nothing left open. */
export type ResolvedMarketStream = Required<MarketStreamConfig>;

export const marketStreamSchema = v.strictObject({
  url: v.string('takes the URL of the upstream’s broker'),
  sessions: v.optional(whole(1, 4), defaultSessions),
});

interface Surroundings {
  readonly cache: unknown;
  readonly allowLoopback: boolean;
  readonly hasMarketData: boolean;
}

/** @throws ConfigError in one sentence that names the property */
export function resolveMarketStream(
  { url, sessions }: v.InferOutput<typeof marketStreamSchema>,
  { cache, allowLoopback, hasMarketData }: Surroundings,
  mistakes: Mistakes,
): ResolvedMarketStream {
  const fault = marketStreamUrlFault(url);
  if (fault) throw new ConfigError(`marketStream.url ${JSON.stringify(url)} cannot be used: it ${fault}.`);
  if (!allowLoopback && !/^(mqtts|wss):/.test(url))
    throw new ConfigError(
      'marketStream.url takes mqtts or wss: in Lambda a loopback address is the function’s own.',
    );
  if (cache === 'off')
    mistakes.add(
      "marketStream needs the cache, which all quotes of the stream go into: leave out cache: 'off', or leave out marketStream.",
    );
  if (!hasMarketData)
    mistakes.add(
      'marketStream needs groups.market-data, whose quotes it keeps fresh: open it, or leave out marketStream.',
    );
  return { url, sessions };
}

/** What a deployer learns when the template is made. */
export const marketStreamInWords =
  'marketStream is experimental: its limits are guesses until a live account shows them. The upstream may also give a data right to one connection at a time, which would take it from the account holder’s own devices (docs/market-stream.md).';
