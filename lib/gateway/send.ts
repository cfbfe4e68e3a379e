/** Sends a signed request, and reports as exactly as possible how far the request came. */

import type { Bytes } from '../signer/canonical.ts';
import { type Cause, causeOfConnection } from '../upstream/cause.ts';
import { neverConnected } from '../upstream/certainty.ts';

/** A signed request, with its unsigned headers. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The result of one try on the wire. */
export type Attempt =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly header: (name: string) => string | undefined;
      /** Decompressed body. */
      readonly body: Bytes;
    }
  /** No connection was made: certainly nothing was sent. */
  | { readonly kind: 'unreachable'; readonly cause?: Cause | undefined }
  /** `letGo` refused: certainly nothing was sent. */
  | { readonly kind: 'not_sent' }
  /**
   * A kept-alive connection ended before the first byte of an answer: most likely the upstream had closed it already,
   * and the request never arrived.
   */
  | { readonly kind: 'dropped' }
  /** The request may have arrived; its answer did not, or not completely. */
  | { readonly kind: 'timeout' | 'lost' | 'too_large' };

export interface SendLimits {
  /** Time limit up to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Largest body, decompressed. */
  readonly maxBytes: number;
  /**
   * Sends on a new connection, where the runtime offers that choice. Set for a request with a side effect, whose outcome
   * a dead kept-alive connection would leave unknown, and for a request that was dropped once.
   */
  readonly freshConnection?: boolean;
  /** When present, the request is sent only when this function calls `leave`. */
  readonly letGo?: LetGo | undefined;
}

/**
 * Called once, as late as the runtime allows: when the connection is open and nothing is written. Either calls `leave`,
 * at once or later, or resolves to false: then the request must not be sent.
 */
export type LetGo = (leave: () => void) => Promise<boolean>;

/** Port: one attempt, never more. Resolves always; rejects only for a defect. */
export type Send = (request: OutgoingRequest, limits: SendLimits) => Promise<Attempt>;

/**
 * Sends over the runtime's fetch, or a given one. Fetch offers no choice of connections, and does not show when one is
 * open.
 *
 * @example
 * const gateway = createGateway({ operations, upstreamBaseUrl, secrets, send: createFetchSend() });
 */
export function createFetchSend(send?: typeof globalThis.fetch): Send {
  return async (request, { timeoutMs, maxBytes, letGo }) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const begin = () =>
      (send ?? fetch)(request.url, {
        method: request.method,
        headers: request.headers,
        // Following a redirect would send the signature to another server.
        redirect: 'manual',
        signal,
        ...(request.body !== undefined && { body: request.body }),
      });
    const begun = letGo ? await beginWhenLetGo(letGo, signal, begin) : { response: begin() };
    if (!begun) return { kind: 'not_sent' };
    try {
      const response = await begun.response;
      const body = await readAtMost(response, maxBytes);
      if (!body) return { kind: 'too_large' };
      return {
        kind: 'answer',
        status: response.status,
        header: (name) => response.headers.get(name) ?? undefined,
        body,
      };
    } catch (error) {
      if (signal.aborted) return { kind: 'timeout' };
      if (!neverConnected(error)) return { kind: 'lost' };
      return unreachable(error instanceof Error ? error.cause : undefined);
    }
  };
}

/** The attempt's result when no connection was made, with the cause if the error's code shows it. */
export function unreachable(error: unknown): Attempt {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  const cause = causeOfConnection(code);
  return { kind: 'unreachable', cause };
}

/** Begins the request when `letGo` allows it. Wraps the response's promise: an async function would await a bare one. */
async function beginWhenLetGo(
  letGo: LetGo,
  signal: AbortSignal,
  begin: () => Promise<Response>,
): Promise<{ readonly response: Promise<Response> } | undefined> {
  let response: Promise<Response> | undefined;
  const mayLeave = await letGo(() => {
    if (signal.aborted) return;
    response = begin();
    // The caller handles a rejection when it awaits the response; until then it must not count as unhandled.
    response.catch(() => {});
  });
  return mayLeave && response ? { response } : undefined;
}

/** Reads the whole body; stops and returns undefined as soon as it is longer than `maxBytes`. */
export async function readAtMost(
  { body: read }: Pick<Response, 'body'>,
  maxBytes: number,
): Promise<Bytes | undefined> {
  if (!read) return new Uint8Array(0);
  const reader = read.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
  const body = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
}
