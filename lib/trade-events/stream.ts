/**
 * One stream from its opening to its end: signs, opens, hands on what comes, and closes before it resolves. Its life is a
 * pure function of what comes and when, which needs no transport.
 */

import { backOffMs, halfJitteredMs } from '../kernel/pauses.ts';
import { settledWithin } from '../listener/runtime.ts';
import { createSubscriptionSigner } from '../signer/subscription.ts';
import {
  encodeSubscribeRequest,
  parseStreamMessage,
  type StreamMessage,
  type StreamMessageKind,
  subscribeTypes,
} from './messages.ts';
import { type StreamCredential, type StreamEnd, StreamError, type TradeEventParts } from './ports.ts';

export interface StreamState {
  readonly openedAt: number;
  /** When the upstream accepted the subscription; absent before. */
  readonly subscribedAt?: number;
  /** When the last message came, be it a ping. */
  readonly lastSignAt: number;
  /** Why it ended, or has to be ended. */
  readonly end?: StreamEnd;
}

export type StreamInput =
  | { readonly kind: 'message'; readonly message: StreamMessageKind }
  /** Time has passed. */
  | { readonly kind: 'tick' }
  /** The transport has ended; `status` is the gRPC status. */
  | { readonly kind: 'closed'; readonly status: string };

/**
 * State of a stream that is being opened.
 *
 * @param now in milliseconds, like all times here
 * @example
 * let state = openStream(Date.now());
 */
export const openStream = (now: number): StreamState => ({ openedAt: now, lastSignAt: now });

const endOfMessage: Partial<Record<StreamMessageKind, StreamEnd>> = {
  authentication_error: 'authentication_error',
  too_many_connections: 'too_many_connections',
  expired: 'expired',
};

const endOfStatus: ReadonlyMap<string, StreamEnd> = new Map([
  ['UNAUTHENTICATED', 'authentication_error'],
  ['PERMISSION_DENIED', 'authentication_error'],
  ['RESOURCE_EXHAUSTED', 'too_many_connections'],
]);

/** A stream on which nothing came for so long, not even a ping, is dead. */
const silenceMs = 90_000;

/**
 * The state after an input. Once it has an `end` it stays: close the stream, and ask `reconnectPause` what comes next.
 *
 * @param deadAfterMs a stream on which nothing came for so long is dead
 * @example
 * for await (const bytes of stream) {
 *   const { kind: message } = parseStreamMessage(bytes);
 *   state = nextStreamState(state, { kind: 'message', message }, Date.now());
 *   if (state.end) break;
 * }
 */
export function nextStreamState(
  state: StreamState,
  input: StreamInput,
  now: number,
  deadAfterMs = silenceMs,
): StreamState {
  if (state.end) return state;
  if (input.kind === 'closed') return { ...state, end: endOfStatus.get(input.status) ?? 'broken' };
  if (input.kind === 'tick')
    return now - state.lastSignAt >= deadAfterMs ? { ...state, end: 'silent' } : state;
  const end = endOfMessage[input.message];
  if (end) return { ...state, end };
  // A stream that delivers is subscribed, even if its first message was lost.
  return { ...state, subscribedAt: state.subscribedAt ?? now, lastSignAt: now };
}

/** How long to wait after a stream, and how many ends in a row count for the next pause. */
export interface Reconnect {
  readonly pauseMs: number;
  readonly failures: number;
}

/** A stream that lived so long was no failure. */
const livedMs = 60_000;
const broken = { firstMs: 500, maxMs: 30_000 };
/** More connections would make it worse. */
const tooMany = { firstMs: 60_000, maxMs: 600_000 };
/** The key or the secret is wrong: only an operator can change that. */
const refused = { firstMs: 900_000, maxMs: 4 * 3_600_000 };

/**
 * How long to wait before the next stream. An expired one, or one that ended for a reason of ours, is followed at once,
 * unless this happens again and again.
 *
 * @param failures how many ends in a row there were before, as the last call returned
 * @param random between 0 and 1: clients that lost their streams together do not come back together
 * @example
 * const { pauseMs, failures } = reconnectPause(state, Date.now(), 0, Math.random());
 */
export function reconnectPause(
  { end, subscribedAt }: StreamState,
  now: number,
  failures: number,
  random: number,
): Reconnect {
  if (end === 'authentication_error' || end === 'too_many_connections') {
    const pauseMs = backOffMs(end === 'authentication_error' ? refused : tooMany, failures);
    return { pauseMs: Math.round(pauseMs * (1 + random / 4)), failures: failures + 1 };
  }
  const inRow = subscribedAt !== undefined && now - subscribedAt >= livedMs ? 0 : failures;
  const isExpected = end === 'expired' || end === 'secret_changed' || end === 'mute';
  const pauseMs = isExpected && inRow === 0 ? 0 : halfJitteredMs(broken, inRow, () => random);
  return { pauseMs: Math.round(pauseMs), failures: inRow + 1 };
}

/** A transport that does not close is left alone after so long. */
const closeMs = 2_000;

const everything = subscribeTypes.orders + subscribeTypes.positions + subscribeTypes.options;

/** @param hasSubscribed whether this message is the first that shows the subscription */
type OnMessage = (message: StreamMessage, receivedAt: number, hasSubscribed: boolean) => void;

export class EventStream {
  readonly #parts: TradeEventParts;
  readonly #onMessage: OnMessage;
  readonly #closing = new AbortController();
  state: StreamState;
  /** The gRPC status, where the transport ended the stream. */
  code: string | undefined;

  constructor(parts: TradeEventParts, onMessage: OnMessage) {
    this.#parts = parts;
    this.#onMessage = onMessage;
    this.state = openStream(parts.clock());
  }

  get isHealthy(): boolean {
    return this.state.subscribedAt !== undefined && this.state.end === undefined;
  }

  /** The first reason counts. */
  end(reason: StreamEnd): void {
    if (!this.state.end) this.state = { ...this.state, end: reason };
    this.#closing.abort();
  }

  /** Resolves when the stream is closed. Never rejects. */
  async run(credential: StreamCredential, accounts: readonly string[]): Promise<void> {
    const { clock } = this.#parts;
    const reading = this.#read(credential, accounts).catch((error: unknown) => this.#closed(error));
    const watching = this.#watchSilence();
    await Promise.race([reading, watching]);
    this.end('broken');
    await settledWithin(this.#parts, reading, closeMs);
    // The watch ends with the stream, so that no timer outlives it.
    await watching;
    if (this.state.lastSignAt > clock()) this.state = { ...this.state, lastSignAt: clock() };
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
    const wasSubscribed = this.state.subscribedAt !== undefined;
    this.#step({ kind: 'message', message: message.kind });
    this.#onMessage(message, now, !wasSubscribed && this.isHealthy);
  }

  #closed(error: unknown): void {
    const status = error instanceof StreamError ? error.status : 'UNKNOWN';
    if (!this.state.end) this.code = status;
    this.#step({ kind: 'closed', status });
  }

  #step(input: StreamInput): void {
    this.state = nextStreamState(this.state, input, this.#parts.clock());
    if (this.state.end) this.#closing.abort();
  }

  async #watchSilence(): Promise<void> {
    const { clock, pause } = this.#parts;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await pause(this.state.lastSignAt + silenceMs - clock(), signal);
      if (!signal.aborted) this.#step({ kind: 'tick' });
    }
  }
}
