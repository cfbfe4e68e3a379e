/**
 * A stream of the gateway over connections that come and go, in browsers and Node. It reads the answer of `fetch`, because
 * the `EventSource` of browsers cannot send the header x-api-key.
 */

import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';

/** The gateway sends a beat each 5 s. */
const silenceMs = 12_000;
const [firstPauseMs, longestPauseMs] = [1000, 30_000];

/** Another connection would be refused, too. */
export class Refused extends Error {}

export interface FollowOptions {
  readonly url: string;
  /** Asked before each connection: by then the last token may be too old. Ends when the signal aborts. */
  readonly headers: (signal: AbortSignal) => Promise<Record<string, string>>;
  readonly onEvent: (event: EventSourceMessage) => void;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** @throws Refused with the gateway's sentence */
export async function follow({ url, headers, onEvent, signal }: FollowOptions): Promise<void> {
  let lastId = '';
  for (let failures = 0; !signal?.aborted; failures++) {
    let pauseMs = 0;
    const isOver = new AbortController();
    const end = () => isOver.abort();
    signal?.addEventListener('abort', end);
    let silence = setTimeout(end, silenceMs);
    const take = (event: EventSourceMessage) => {
      clearTimeout(silence);
      silence = setTimeout(end, silenceMs);
      failures = 0;
      if (event.id) lastId = event.id;
      if (event.event === 'end') pauseMs = JSON.parse(event.data).retry_after_ms;
      onEvent(event);
    };
    try {
      const sent = { ...(await headers(isOver.signal)), ...(lastId && { 'last-event-id': lastId }) };
      const response = await fetch(url, { headers: sent, signal: isOver.signal });
      const isPassing = response.status === 429 || response.status >= 500;
      if (!response.ok && !isPassing) throw new Refused(await response.text());
      pauseMs = 1000 * Number(response.headers.get('retry-after'));
      if (response.ok && response.body)
        await response.body
          .pipeThrough(new TextDecoderStream())
          .pipeThrough(new EventSourceParserStream())
          .pipeTo(new WritableStream({ write: take }));
    } catch (error) {
      if (error instanceof Refused) throw error;
    } finally {
      clearTimeout(silence);
      signal?.removeEventListener('abort', end);
    }
    // Clients that lost their connections together come back apart.
    const jitterMs = Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** failures);
    if (!signal?.aborted) await new Promise((resolve) => setTimeout(resolve, pauseMs + jitterMs));
  }
}
