/** Follows quotes over a stream that reconnects after each lost connection. */

import type { Operation } from '../catalogue/operation.ts';
import { steadyClock } from '../kernel/age.ts';
import type { Connection } from './connection.ts';
import { type FollowedQuote, Quotes } from './followed.ts';
import { type FollowOptions, overConnections } from './over-connections.ts';
import { toRequest } from './request.ts';
import type { ServerSent } from './server-sent.ts';
import type { ItemOf, QueryOf } from './types.ts';

/** An operation whose answer is a stream of another operation's records. */
export type StreamOperation = Operation & { readonly follows: Operation };

export interface FollowUpdate<R> {
  /** Every followed symbol, with its latest state. */
  readonly quotes: ReadonlyMap<string, FollowedQuote<R>>;
  /** Symbols about which this update has news; none after a beat. */
  readonly changed: ReadonlySet<string>;
  /** False after a connection was lost, until the next one has begun. */
  readonly isConnected: boolean;
  /** The gateway's code for the reason why records are not refreshed; it comes with the states that it causes. */
  readonly cause?: string;
  /**
   * Milliseconds since the upstream was asked for the symbol's record, by the gateway's clock; undefined without a record.
   * A slow reader does not make the age smaller. It is too small by the transfer time of the connection's quickest event.
   */
  ageMs(symbol: string): number | undefined;
}

/**
 * Yields an update for each event of the stream, and one after a connection was lost; then it connects again, with jitter.
 * Each connection begins with every known record, so that nothing is missed. The generator ends when the signal aborts, or
 * when the caller leaves its loop.
 *
 * The `EventSource` of browsers cannot send the header x-api-key, so this function reads the stream with `fetch`.
 *
 * @throws InvalidRequestError for a wrong query
 * @throws RefusedError for a refusal that another connection would meet again: 4xx but 429
 * @throws BrokenAnswerError when the first answer is no stream
 * @example
 * const connection = viaGateway({ baseUrl: 'https://api.example.com', apiKey });
 * const query = { symbols: ['AAPL', 'MSFT'], category: 'US_STOCK' } as const;
 * for await (const { quotes, ageMs } of follow(streamStockSnapshots, connection, query))
 *   console.log(quotes.get('AAPL')?.record?.price, ageMs('AAPL'));
 */
export async function* follow<O extends StreamOperation>(
  operation: O,
  connection: Connection,
  input: QueryOf<O>,
  options: FollowOptions = {},
): AsyncGenerator<FollowUpdate<ItemOf<O['follows']>>, void, undefined> {
  type R = ItemOf<O['follows']>;
  const request = toRequest(operation, operation.path, input, {});
  const quotes = new Quotes<R>(steadyClock(Date.now));
  const ageMs = (symbol: string) => quotes.ageMs(symbol);
  const take = (event: ServerSent) => {
    const { message, changed } = quotes.take(event);
    const { cause, retry_after_ms } = message;
    const news = { quotes: quotes.bySymbol, changed, isConnected: true, ageMs };
    return {
      update: cause === undefined ? news : { ...news, cause },
      retryAfterMs: Number(retry_after_ms ?? 0),
    };
  };
  for await (const update of overConnections(operation, connection, () => request, take, options))
    yield update ?? { quotes: quotes.bySymbol, changed: new Set(), isConnected: false, ageMs };
}
