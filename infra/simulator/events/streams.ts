/** Open event streams: the delivery of events, and the end of each stream. It is independent of the transport. */

import { randomUUID } from 'node:crypto';
import type { SimulatedUpstream } from '../handle.ts';
import type { LoggedChange } from '../trading/change-log.ts';
import { type EventFault, oddEvent } from './faults.ts';
import { type GrpcAnswer, type GrpcCall, grpcStatus } from './grpc-server.ts';
import { decodeSubscribeRequest, type EventMessage, encodeEvent, type ParsedSubscribe } from './messages.ts';
import { verifySubscription } from './verify.ts';

/** Record of one subscription. */
export interface EventSubscription {
  /** Unix time in milliseconds. */
  readonly at: number;
  /** `subscribed`, or the reason of a refusal: an error code, or the fault that was caused. */
  readonly outcome: string;
  /** Absent for a subscription that was refused before its signature was verified. */
  readonly appKey?: string;
  readonly accounts: readonly string[];
  readonly subscribeType: number;
  /** Time at which the stream ended; absent while it is open, and for a refused subscription. */
  endedAt?: number;
}

/** Bits of `subscribeType`, each with the type of its events. */
const eventKinds = {
  order: { bit: 1, eventType: 1024 },
  position: { bit: 2, eventType: 1028 },
  option: { bit: 4, eventType: 1032 },
} as const;

/**
 * Ends of a stream by the upstream: an event with the reason, then a status. Only one fact is known about the statuses:
 * clients in the field subscribe again after UNAVAILABLE, INTERNAL and UNKNOWN. Ends after which they must not therefore
 * have another one.
 */
const streamEnds = {
  'authentication-error': { eventType: 2, status: grpcStatus.unauthenticated },
  'too-many-connections': { eventType: 3, status: grpcStatus.resourceExhausted },
  expire: { eventType: 4, status: grpcStatus.ok },
} as const;

type StreamEndKind = keyof typeof streamEnds;

interface Stream {
  readonly subscription: EventSubscription;
  readonly answer: GrpcAnswer;
  isMuted: boolean;
}

interface SentEvents {
  readonly accountId: string;
  readonly bit: number;
  readonly message: Uint8Array;
}

/** Number of events that can be repeated, and of subscriptions that are remembered. */
const maxKept = 10_000;

export class EventStreams {
  readonly subscriptions: EventSubscription[] = [];
  /** Largest number of streams that were open at a time. */
  mostOpen = 0;
  readonly #upstream: SimulatedUpstream;
  readonly #clock: () => number;
  readonly #allowed: number;
  readonly #open = new Set<Stream>();
  readonly #sent: SentEvents[] = [];
  readonly #refusals: Extract<EventFault, { kind: 'refuse' }>['as'][] = [];
  #toRepeat = 0;
  #toLose = 0;

  /** `allowed` is the number of streams that one app key may have open at a time. */
  constructor(upstream: SimulatedUpstream, clock: () => number, allowed: number) {
    this.#upstream = upstream;
    this.#clock = clock;
    this.#allowed = allowed;
  }

  get open(): number {
    return this.#open.size;
  }

  /** Answers a subscription. The returned function must be called when the stream has ended. */
  subscribe({ rawMetadata, message }: GrpcCall, answer: GrpcAnswer): () => void {
    const now = this.#clock();
    // A stream that begins now gets no event for earlier changes.
    this.#upstream.world.orders.settle(now);
    const request = decodeSubscribeRequest(message);
    const { accounts = [], subscribeType = 0 } = request ?? {};
    const admitted = this.#admit({ rawMetadata, message }, request, now);
    const { outcome, appKey, text } = admitted;
    const subscription = {
      at: now,
      outcome,
      ...(appKey !== undefined && { appKey }),
      accounts,
      subscribeType,
    };
    this.subscriptions.push(subscription);
    if (this.subscriptions.length > maxKept) this.subscriptions.shift();
    if (outcome !== 'subscribed') {
      this.#refuse(answer, subscription, text ?? outcome);
      return () => {};
    }
    const stream: Stream = { subscription, answer, isMuted: false };
    this.#open.add(stream);
    this.mostOpen = Math.max(this.mostOpen, this.#open.size);
    answer.send(this.#note(0, subscribeType, 'subscribed'));
    this.#repeat(stream);
    return () => this.#leave(stream);
  }

  /** Sends a ping on every stream. */
  ping(): void {
    for (const { answer, subscription } of this.#open)
      answer.send(this.#note(1, subscription.subscribeType, 'ping'));
  }

  order({ accountId, requestId, at, payload }: LoggedChange): void {
    this.#push('order', accountId, payload, { requestId, timestamp: at });
  }

  /** Sends a change of an account's position or option. */
  data(kind: 'position' | 'option', accountId: string, payload: object): void {
    this.#push(kind, accountId, payload, { requestId: newRequestId(), timestamp: this.#clock() });
  }

  bring(fault: EventFault): void {
    switch (fault.kind) {
      case 'refuse':
        for (let times = fault.times ?? 1; times > 0; times--) this.#refusals.push(fault.as);
        return;
      case 'repeat':
        this.#toRepeat = fault.events;
        return;
      case 'lose':
        this.#toLose = fault.events;
        return;
      default:
        for (const stream of [...this.#open]) this.#bringTo(stream, fault);
    }
  }

  #bringTo(stream: Stream, fault: Exclude<EventFault, { kind: 'refuse' | 'repeat' | 'lose' }>): void {
    const { answer } = stream;
    switch (fault.kind) {
      case 'mute':
        stream.isMuted = true;
        return;
      case 'send':
        answer.send(oddEvent(fault.what, newRequestId(), this.#clock()));
        return;
      case 'drop':
        this.#leave(stream);
        answer.drop();
        return;
      case 'goaway':
        this.#leave(stream);
        answer.goAway(fault.code ?? 0);
        return;
      case 'freeze':
        this.#leave(stream);
        answer.freeze();
        return;
      default:
        this.#leave(stream);
        this.#end(answer, stream.subscription.subscribeType, fault.kind, fault.kind);
    }
  }

  /** Tells whether a subscription is admitted; otherwise the outcome names the reason. */
  #admit(
    call: GrpcCall,
    request: ParsedSubscribe | undefined,
    now: number,
  ): { readonly outcome: string; readonly appKey?: string; readonly text?: string } {
    const { credentials, foreignKeys, toleranceSeconds, nonces, accessToken, world } = this.#upstream;
    const verified = verifySubscription(
      { ...call, now },
      {
        secretOf: (key) => (foreignKeys.has(key) ? undefined : credentials.get(key)),
        toleranceSeconds,
      },
    );
    if (!verified.ok) return { outcome: verified.error_code, text: verified.message };
    const { appKey, nonce, timestamp } = verified;
    if (!nonces.admit(appKey, nonce, timestamp + toleranceSeconds * 1000, now))
      return { outcome: 'DUPPLICATED_REQUEST', appKey, text: 'The nonce was used before' };
    if (accessToken !== undefined) {
      const at = call.rawMetadata.findIndex((name, index) => index % 2 === 0 && name === 'x-access-token');
      const token = at < 0 ? undefined : call.rawMetadata[at + 1];
      if (token !== accessToken && !world.tokens.use(token, now))
        return { outcome: 'INVALID_TOKEN', appKey, text: 'x-access-token is missing or not valid' };
    }
    if (!request) return { outcome: 'invalid-message', appKey };
    const fault = this.#refusals.shift();
    if (fault) return { outcome: fault, appKey };
    const own = [...this.#open].filter(({ subscription }) => subscription.appKey === appKey);
    return { outcome: own.length < this.#allowed ? 'subscribed' : 'too-many-connections', appKey };
  }

  #refuse(answer: GrpcAnswer, { outcome, subscribeType }: EventSubscription, text: string): void {
    if (outcome === 'invalid-message') answer.end(grpcStatus.invalidArgument, 'The request cannot be read');
    else if (outcome === 'unavailable') answer.end(grpcStatus.unavailable, 'Try again later');
    else if (outcome === 'too-many-connections') this.#end(answer, subscribeType, outcome, text);
    else this.#end(answer, subscribeType, 'authentication-error', text);
  }

  #end(answer: GrpcAnswer, subscribeType: number, end: StreamEndKind, text: string): void {
    const { eventType, status } = streamEnds[end];
    answer.send(this.#note(eventType, subscribeType, text));
    answer.end(status, status === grpcStatus.ok ? '' : text);
  }

  #leave(stream: Stream): void {
    if (this.#open.delete(stream)) stream.subscription.endedAt = this.#clock();
  }

  /** Sends the last events again, as far as this stream would have got them. */
  #repeat({ answer, subscription }: Stream): void {
    if (this.#toRepeat === 0) return;
    const repeated = this.#sent.filter((sent) => isFor(subscription, sent)).slice(-this.#toRepeat);
    this.#toRepeat = 0;
    for (const { message } of repeated) answer.send(message);
  }

  #push(
    kind: keyof typeof eventKinds,
    accountId: string,
    payload: object,
    { requestId, timestamp }: Pick<EventMessage, 'requestId' | 'timestamp'>,
  ): void {
    const { bit, eventType } = eventKinds[kind];
    const message = encodeEvent({
      eventType,
      subscribeType: bit,
      contentType: 'application/json',
      payload: JSON.stringify(payload),
      requestId,
      timestamp,
    });
    const sent = { accountId, bit, message };
    const takers = [...this.#open].filter(
      ({ isMuted, subscription }) => !isMuted && isFor(subscription, sent),
    );
    if (takers.length === 0) return;
    if (this.#toLose > 0) {
      this.#toLose -= 1;
      return;
    }
    this.#sent.push(sent);
    if (this.#sent.length > maxKept) this.#sent.shift();
    for (const { answer } of takers) answer.send(message);
  }

  /** Encodes a message about the stream itself. */
  #note(eventType: number, subscribeType: number, payload: string): Uint8Array {
    const timestamp = this.#clock();
    const contentType = 'text/plain';
    return encodeEvent({
      eventType,
      subscribeType,
      contentType,
      payload,
      requestId: newRequestId(),
      timestamp,
    });
  }
}

const isFor = ({ accounts, subscribeType }: EventSubscription, { accountId, bit }: SentEvents): boolean =>
  (subscribeType & bit) !== 0 && accounts.includes(accountId);

const newRequestId = () => randomUUID().replaceAll('-', '');
