/** A stream of a gateway, over connections that come and go. */

import type { Operation } from '../catalogue/operation.ts';
import { type BackOff, jitteredMs, sleep } from '../kernel/pauses.ts';
import { readAnswer } from './answer.ts';
import type { Connection, PreparedRequest } from './connection.ts';
import { RefusedError } from './errors.ts';
import { type FollowedQuote, Quotes } from './followed.ts';
import { toRequest } from './request.ts';
import { serverSentEvents } from './server-sent.ts';
import type { ItemOf, QueryOf } from './types.ts';

/** An operation whose answer is a stream of the records of another. */
export type StreamOperation = Operation & { readonly follows: Operation };

export interface FollowOptions {
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** A connection that is silent for so long is given up; the gateway sends a beat each 5 s. Default 12 s. */
  readonly silenceMs?: number;
}

export interface FollowUpdate<R> {
  /** All that is followed, as it is known now. */
  readonly quotes: ReadonlyMap<string, FollowedQuote<R>>;
  /** Of which symbols it is news; none after a beat. */
  readonly changed: ReadonlySet<string>;
  /** False after a connection was lost, until the next one has begun. */
  readonly isConnected: boolean;
  /** The gateway's code of what keeps records from being refreshed, with the states that it causes. */
  readonly cause?: string;
  /** Milliseconds since the upstream was asked for a record, by the gateway's clock; undefined without one. */
  ageMs(symbol: string): number | undefined;
}

const backOff: BackOff = { firstMs: 1000, maxMs: 30_000 };
const defaultSilenceMs = 12_000;

/**
 * Yields an update for each event of the stream, and after a connection was lost; then it connects again, with jitter.
 * Each connection begins with all that is known, so that nothing is missed. It ends when the signal aborts, or when it is
 * left.
 *
 * `EventSource` of browsers cannot send the header x-api-key; this reads the stream of `fetch`.
 *
 * @throws InvalidRequestError for a wrong query
 * @throws RefusedError for a refusal that another connection would meet again: 4xx but 429
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
  { signal, silenceMs = defaultSilenceMs }: FollowOptions = {},
): AsyncGenerator<FollowUpdate<ItemOf<O['follows']>>, void, undefined> {
  type R = ItemOf<O['follows']>;
  const request = toRequest(operation, operation.path, input, {});
  const quotes = new Quotes<R>(Date.now);
  const ageMs = (symbol: string) => quotes.ageMs(symbol);
  for (let failures = 0; !signal?.aborted; ) {
    const prepared = await connection.prepare(request);
    let waitMs: number | undefined;
    try {
      for await (const event of eventsOf(operation, connection, prepared, silenceMs, signal)) {
        const { message, changed } = quotes.take(event);
        failures = 0;
        waitMs = message.retry_after_ms;
        const { cause } = message;
        yield {
          quotes: quotes.bySymbol,
          changed,
          isConnected: true,
          ageMs,
          ...(cause !== undefined && { cause }),
        };
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (isFinal(error)) throw error;
      if (error instanceof RefusedError) waitMs = (error.retryAfterSeconds ?? 0) * 1000;
    }
    if (signal?.aborted) return;
    yield { quotes: quotes.bySymbol, changed: new Set(), isConnected: false, ageMs };
    const pauseMs = (waitMs ?? 0) + jitteredMs(backOff, failures++, Math.random);
    await sleep(pauseMs, signal).catch(() => {});
  }
}

/** Of one connection. */
async function* eventsOf(
  operation: Operation,
  connection: Connection,
  prepared: PreparedRequest,
  silenceMs: number,
  signal: AbortSignal | undefined,
) {
  const over = new AbortController();
  const end = () => over.abort();
  signal?.addEventListener('abort', end);
  let silence = setTimeout(end, silenceMs);
  async function* heard(chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      clearTimeout(silence);
      silence = setTimeout(end, silenceMs);
      yield chunk;
    }
  }
  const open = async ({ url, method, headers }: PreparedRequest) =>
    (connection.fetch ?? fetch)(url, { method, headers, signal: over.signal, redirect: 'manual' });
  const refusalOf = async (response: Response) => ({
    status: response.status,
    headers: response.headers,
    text: await response.text(),
  });
  try {
    let response = await open(prepared);
    if (response.status !== 200 && connection.again) {
      const again = await connection.again(prepared, await refusalOf(response.clone()));
      if (again) response = await open(again);
    }
    if (response.status !== 200) readAnswer(operation, await refusalOf(response));
    if (response.body) yield* serverSentEvents(heard(chunksOf(response.body)));
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', end);
    end();
  }
}

/** Not every runtime iterates over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

const isFinal = (error: unknown): boolean =>
  error instanceof RefusedError && error.status >= 400 && error.status < 500 && error.status !== 429;
