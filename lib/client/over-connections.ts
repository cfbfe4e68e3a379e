/** Reads a stream of a gateway, and reconnects after each lost connection. */

import type { Operation } from '../catalogue/operation.ts';
import { type BackOff, jitteredMs, sleep } from '../kernel/pauses.ts';
import { readAnswer } from './answer.ts';
import type { Connection, PreparedRequest } from './connection.ts';
import { BrokenAnswerError, RefusedError } from './errors.ts';
import type { ClientRequest } from './request.ts';
import { type ServerSent, serverSentEvents } from './server-sent.ts';

export interface FollowOptions {
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Silence in milliseconds after which a connection counts as lost; the gateway sends a beat each 5 s. Default 12 s. */
  readonly silenceMs?: number;
}

/** Result of an event. */
export interface Taken<T> {
  readonly update: T;
  /** Wait before the next connection, if the event ends the stream. */
  readonly retryAfterMs?: number | undefined;
}

const backOff: BackOff = { firstMs: 1000, maxMs: 30_000 };
const defaultSilenceMs = 12_000;
/** Limit of a wait that the gateway names; a timer of weeks would fire at once. */
const maxWaitMs = 3_600_000;

/**
 * Yields the update that `take` makes of each event, and undefined after a connection was lost; then it connects again,
 * with jitter. The generator ends when the signal aborts, or when the caller leaves its loop.
 *
 * @param requestNow makes the request of the next connection
 * @throws RefusedError for a refusal that another connection would meet again: 4xx but 429
 * @throws BrokenAnswerError when the first answer is no stream
 */
export async function* overConnections<T>(
  operation: Operation,
  connection: Connection,
  requestNow: () => ClientRequest,
  take: (event: ServerSent) => Taken<T>,
  { signal, silenceMs = defaultSilenceMs }: FollowOptions,
): AsyncGenerator<T | undefined, void, undefined> {
  const ended = abortOf(signal);
  let hasBegun = false;
  try {
    for (let failures = 0; !signal?.aborted; ) {
      let waitMs = 0;
      let prepared: PreparedRequest | undefined;
      try {
        prepared = await ended.or(connection.prepare(requestNow()));
      } catch (error) {
        // Once the stream has begun, a failure to get a token counts as a lost connection.
        if (!hasBegun && !signal?.aborted) throw error;
      }
      try {
        for await (const event of prepared
          ? eventsOf(operation, connection, prepared, silenceMs, signal)
          : []) {
          const { update, retryAfterMs = 0 } = take(event);
          [failures, hasBegun] = [0, true];
          waitMs = retryAfterMs;
          yield update;
        }
      } catch (error) {
        if (signal?.aborted) break;
        if (isFinal(error) || (error instanceof BrokenAnswerError && !hasBegun)) throw error;
        if (error instanceof RefusedError) waitMs = (error.retryAfterSeconds ?? 0) * 1000;
      }
      if (signal?.aborted) break;
      yield undefined;
      const pauseMs = Math.min(maxWaitMs, waitMs || 0) + jitteredMs(backOff, failures++, Math.random);
      await sleep(pauseMs, signal).catch(() => {});
    }
  } finally {
    ended.forget();
  }
}

/** Lets many promises end with one signal, with a single listener on it. */
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

/** Opens one connection and yields its events. */
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
    // Such a fetch would answer when the stream has ended.
    if (!('body' in Response.prototype) && (connection.fetch ?? fetch) === fetch)
      throw new BrokenAnswerError(operation.id, noStream, '');
    let response = await open(prepared);
    if (response.status !== 200 && connection.again) {
      const again = await connection.again(prepared, await refusalOf(response.clone()));
      if (again) response = await open(again);
    }
    if (response.status !== 200) readAnswer(operation, await refusalOf(response));
    if (!response.body) throw new BrokenAnswerError(operation.id, noStream, '');
    if (!/^text\/event-stream\b/.test(response.headers.get('content-type') ?? ''))
      throw new BrokenAnswerError(operation.id, 'the answer is no stream of events', '');
    for await (const event of serverSentEvents(chunksOf(response.body))) {
      // The time that the caller needs for an event does not count as silence.
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

/** The fault of a platform's own fetch, such as React Native's, that gives no body before the answer's end. */
const noStream =
  'this fetch does not stream: give the connection one that does, such as `fetch` of expo/fetch (docs/library.md, React Native)';

/** Iterates over a stream by its reader, because not every runtime's streams are iterable. */
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
