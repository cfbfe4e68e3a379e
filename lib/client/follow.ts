/** A stream of a gateway, over connections that come and go. */

import type { Operation } from '../catalogue/operation.ts';
import { type BackOff, jitteredMs, sleep } from '../kernel/pauses.ts';
import { readAnswer } from './answer.ts';
import type { Connection, PreparedRequest } from './connection.ts';
import { BrokenAnswerError, RefusedError } from './errors.ts';
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
/** Of a pause that the gateway names; a timer of days would fire at once. */
const maxWaitMs = 3_600_000;

/**
 * Yields an update for each event of the stream, and after a connection was lost; then it connects again, with jitter.
 * Each connection begins with all that is known, so that nothing is missed. It ends when the signal aborts, or when it is
 * left.
 *
 * `EventSource` of browsers cannot send the header x-api-key; this reads the stream of `fetch`.
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
  { signal, silenceMs = defaultSilenceMs }: FollowOptions = {},
): AsyncGenerator<FollowUpdate<ItemOf<O['follows']>>, void, undefined> {
  type R = ItemOf<O['follows']>;
  const request = toRequest(operation, operation.path, input, {});
  const quotes = new Quotes<R>(Date.now);
  const ageMs = (symbol: string) => quotes.ageMs(symbol);
  const ended = abortOf(signal);
  let hasBegun = false;
  for (let failures = 0; !signal?.aborted; ) {
    let waitMs = 0;
    let prepared: PreparedRequest | undefined;
    try {
      prepared = await ended.or(connection.prepare(request));
    } catch (error) {
      // Later a token that cannot be had is a connection that is lost.
      if (!hasBegun && !signal?.aborted) throw error;
    }
    try {
      for await (const event of prepared
        ? eventsOf(operation, connection, prepared, silenceMs, signal)
        : []) {
        const { message, changed } = quotes.take(event);
        [failures, hasBegun] = [0, true];
        waitMs = Number(message.retry_after_ms ?? 0);
        const { cause } = message;
        const news = { quotes: quotes.bySymbol, changed, isConnected: true, ageMs };
        yield cause === undefined ? news : { ...news, cause };
      }
    } catch (error) {
      if (signal?.aborted) break;
      if (isFinal(error) || (error instanceof BrokenAnswerError && !hasBegun)) throw error;
      if (error instanceof RefusedError) waitMs = (error.retryAfterSeconds ?? 0) * 1000;
    }
    if (signal?.aborted) break;
    yield { quotes: quotes.bySymbol, changed: new Set(), isConnected: false, ageMs };
    const pauseMs = Math.min(maxWaitMs, waitMs || 0) + jitteredMs(backOff, failures++, Math.random);
    await sleep(pauseMs, signal).catch(() => {});
  }
  ended.forget();
}

/** Of one signal, however many promises wait for it. */
function abortOf(signal: AbortSignal | undefined) {
  let abort = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    abort = () => resolve(undefined);
  });
  signal?.addEventListener('abort', abort);
  return {
    or: <T>(work: Promise<T>): Promise<T | undefined> => Promise.race([work, aborted]),
    forget: () => signal?.removeEventListener('abort', abort),
  };
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
  if (signal?.aborted) end();
  let silence = setTimeout(end, silenceMs);
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
    if (!response.body || !/^text\/event-stream\b/.test(response.headers.get('content-type') ?? ''))
      throw new BrokenAnswerError(operation.id, 'the answer is no stream of events', '');
    for await (const event of serverSentEvents(chunksOf(response.body))) {
      // While the caller is busy with an event, nothing is silent.
      clearTimeout(silence);
      yield event;
      silence = setTimeout(end, silenceMs);
    }
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
