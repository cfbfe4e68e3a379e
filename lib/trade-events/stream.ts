/** One stream from its opening to its end: signs, opens, hands on what comes, and closes before it resolves. */

import { settledWithin } from '../listener/runtime.ts';
import { createSubscriptionSigner } from '../signer/subscription.ts';
import type { Parts, StreamCredential, StreamEnd } from './listener-options.ts';
import { encodeSubscribeRequest, subscribeTypes } from './messages.ts';
import { parseStreamMessage, type StreamMessage } from './parse.ts';
import { StreamError } from './ports.ts';
import {
  nextStreamState,
  openStream,
  type StreamInput,
  type StreamState,
  silenceMs,
} from './stream-state.ts';

interface StreamCallbacks {
  readonly onMessage: (message: StreamMessage, receivedAt: number) => void;
  /** After the message that says so. */
  readonly onSubscribed: (receivedAt: number) => void;
}

export interface EndedStream {
  readonly state: StreamState;
  readonly end: StreamEnd;
  /** The gRPC status, where the transport ended it. */
  readonly code?: string;
}

/** A transport that does not close is left alone after so long. */
const closeMs = 2_000;

const everything = subscribeTypes.orders + subscribeTypes.positions + subscribeTypes.options;

export class Stream {
  readonly #parts: Parts;
  readonly #callbacks: StreamCallbacks;
  readonly #closing = new AbortController();
  #state: StreamState;
  #code: string | undefined;

  constructor(parts: Parts, callbacks: StreamCallbacks) {
    this.#parts = parts;
    this.#callbacks = callbacks;
    this.#state = openStream(parts.clock());
  }

  get state(): StreamState {
    return this.#state;
  }

  get isHealthy(): boolean {
    return this.#state.subscribedAt !== undefined && this.#state.end === undefined;
  }

  /** The first reason counts. */
  end(reason: StreamEnd): void {
    if (!this.#state.end) this.#state = { ...this.#state, end: reason };
    this.#closing.abort();
  }

  /** Resolves when the stream is closed. Never rejects. */
  async run(credential: StreamCredential, accounts: readonly string[]): Promise<EndedStream> {
    const { clock } = this.#parts;
    const reading = this.#read(credential, accounts).catch((error: unknown) => this.#closed(error));
    const watching = this.#watchSilence();
    await Promise.race([reading, watching]);
    this.end('broken');
    await settledWithin(this.#parts, reading, closeMs);
    // The watch ends with the stream, so that no timer outlives it.
    await watching;
    const { end = 'broken' } = this.#state;
    if (this.#state.lastSignAt > clock()) this.#state = { ...this.#state, lastSignAt: clock() };
    return { state: this.#state, end, ...(this.#code !== undefined && { code: this.#code }) };
  }

  async #read(credential: StreamCredential, accounts: readonly string[]): Promise<void> {
    const { transport, clock } = this.#parts;
    const { signal } = this.#closing;
    const request = { subscribeType: everything, timestamp: clock(), accounts };
    const message = encodeSubscribeRequest(request);
    const metadata = await createSubscriptionSigner({ ...credential, clock }).signSubscription(message);
    if (signal.aborted) return;
    for await (const bytes of transport.open({ metadata, message, signal })) {
      this.#received(bytes);
      if (signal.aborted) return;
    }
    this.#closed(new StreamError('OK'));
  }

  #received(bytes: Uint8Array): void {
    const { clock, report } = this.#parts;
    const now = clock();
    let message: StreamMessage;
    try {
      message = parseStreamMessage(bytes);
    } catch (cause) {
      report({ kind: 'failed', step: 'parse', cause });
      return;
    }
    const wasSubscribed = this.#state.subscribedAt !== undefined;
    this.#step({ kind: 'message', message: message.kind });
    this.#callbacks.onMessage(message, now);
    if (!wasSubscribed && this.isHealthy) this.#callbacks.onSubscribed(now);
  }

  #closed(error: unknown): void {
    const status = error instanceof StreamError ? error.status : 'UNKNOWN';
    if (!this.#state.end) this.#code = status;
    this.#step({ kind: 'closed', status });
  }

  #step(input: StreamInput): void {
    this.#state = nextStreamState(this.#state, input, this.#parts.clock());
    if (this.#state.end) this.#closing.abort();
  }

  async #watchSilence(): Promise<void> {
    const { clock, pause } = this.#parts;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await pause(this.#state.lastSignAt + silenceMs - clock(), signal);
      if (!signal.aborted) this.#step({ kind: 'tick' });
    }
  }
}
