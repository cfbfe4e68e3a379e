/**
 * Sessions of the market-data stream: their connections, ids and subscriptions. A session is independent of the transport,
 * and ends together with its connection.
 */

import type { Instrument } from './market/instrument.ts';

export const subTypes = ['SNAPSHOT', 'QUOTE', 'TICK'] as const;

export type SubType = (typeof subTypes)[number];

/** Codes that answer a connection. Those below 100 are MQTT's own. */
export const connack = {
  accepted: 0,
  wrongProtocol: 1,
  idBlank: 2,
  keyBlank: 3,
  unknown: 100,
  alreadyAuthenticated: 102,
  authenticationFailed: 103,
  badKey: 104,
  tooManyConnections: 105,
} as const;

/** Connection of a session. */
export interface Link {
  /** Ends the connection without a message. */
  drop(): void;
}

export interface StreamLimits {
  /** Connections that one app key may have; 5 when absent. */
  readonly connections?: number;
  /** Milliseconds for which a closed connection counts; 60 000 when absent. */
  readonly closedCountsMs?: number;
  /** Milliseconds after its first connection in which a session id is not known over HTTP; 0 when absent. */
  readonly lateMs?: number;
}

interface SubscribeOptions {
  /** Price levels of the book. */
  readonly depth: number;
  readonly overnight: boolean;
}

/** Data of one symbol that is pushed to one session. */
export interface Feed extends SubscribeOptions {
  readonly instrument: Instrument;
  readonly type: SubType;
  /** Time of the last trade that was sent; undefined before the first message. */
  tradeTime: number | undefined;
  /** Times of the last messages. */
  sentAt: readonly number[];
  messages: number;
  /** Members of a snapshot as the client has them, by field number. */
  told: ReadonlyMap<number, string>;
}

export class StreamSession {
  readonly id: string;
  readonly appKey: string;
  readonly link: Link;
  readonly #feeds = new Map<string, Map<SubType, Feed>>();
  /** Set once its data has stopped, until the next subscription or for good. */
  muted: 'until-subscribe' | 'for-good' | undefined;

  constructor(id: string, appKey: string, link: Link) {
    this.id = id;
    this.appKey = appKey;
    this.link = link;
  }

  get symbols(): readonly string[] {
    return [...this.#feeds.keys()];
  }

  get feeds(): readonly Feed[] {
    return [...this.#feeds.values()].flatMap((byType) => [...byType.values()]);
  }

  /** Adds subscriptions. A symbol that is subscribed already is sent again as a whole. */
  subscribe(instruments: readonly Instrument[], types: readonly SubType[], options: SubscribeOptions): void {
    for (const instrument of instruments) {
      const byType = this.#feeds.get(instrument.symbol) ?? new Map<SubType, Feed>();
      this.#feeds.set(instrument.symbol, byType);
      for (const type of types) {
        const { sentAt = [], messages = 0 } = byType.get(type) ?? {};
        const anew = { tradeTime: undefined, told: new Map<number, string>() };
        byType.set(type, { instrument, type, ...options, ...anew, sentAt, messages });
      }
    }
    if (this.muted === 'until-subscribe') this.muted = undefined;
  }

  unsubscribe(symbols: readonly string[], types: readonly SubType[]): void {
    for (const symbol of symbols) {
      const byType = this.#feeds.get(symbol);
      for (const type of types) byType?.delete(type);
      if (byType?.size === 0) this.#feeds.delete(symbol);
    }
  }
}

/** Milliseconds for which the first connection of a session id is remembered. */
const firstRememberedMs = 60_000;

export class StreamSessions {
  /** See `StreamLimits`. */
  lateMs: number;
  readonly #limits: Required<Omit<StreamLimits, 'lateMs'>>;
  readonly #open = new Map<string, StreamSession>();
  /** Closed connections that still count. */
  #closed: { readonly appKey: string; readonly at: number }[] = [];
  readonly #firstConnected = new Map<string, number>();
  readonly #forgotten = new Set<string>();

  constructor({ connections = 5, closedCountsMs = 60_000, lateMs = 0 }: StreamLimits = {}) {
    this.#limits = { connections, closedCountsMs };
    this.lateMs = lateMs;
  }

  get open(): readonly StreamSession[] {
    return [...this.#open.values()];
  }

  /** Opens a session, or returns the code that refuses it. An open session with the same id loses its connection. */
  connect(id: string, appKey: string, link: Link, now: number): StreamSession | number {
    const { connections, closedCountsMs } = this.#limits;
    this.#closed = this.#closed.filter(({ at }) => at > now - closedCountsMs);
    const older = this.#open.get(id);
    const counted = [...this.#open.values(), ...this.#closed].filter(
      (one) => one.appKey === appKey && one !== older,
    );
    if (counted.length >= connections) return connack.tooManyConnections;
    if (older) this.takeOver(older);
    const session = new StreamSession(id, appKey, link);
    this.#open.set(id, session);
    if ((this.#firstConnected.get(id) ?? -Infinity) <= now - firstRememberedMs)
      this.#firstConnected.set(id, now);
    return session;
  }

  /** Ends a session. Its connection counts for a while, unless another one took its place. */
  disconnect(session: StreamSession, now: number): void {
    if (this.#open.get(session.id) !== session) return;
    this.#open.delete(session.id);
    this.#closed.push({ appKey: session.appKey, at: now });
  }

  /** Closes a session as if another client had connected with its id. */
  takeOver(session: StreamSession): void {
    this.#open.delete(session.id);
    session.link.drop();
  }

  /** Finds the session that a request names; undefined if the upstream does not know it, or not yet. */
  find(id: string, appKey: string | undefined, now: number): StreamSession | undefined {
    const session = this.#open.get(id);
    const isLate = now < (this.#firstConnected.get(id) ?? 0) + this.lateMs;
    return session?.appKey === appKey && !isLate && !this.#forgotten.has(id) ? session : undefined;
  }

  /** Leaves the connection open without data; the session's id never works again. */
  forget(session: StreamSession): void {
    this.#forgotten.add(session.id);
    session.muted = 'for-good';
  }
}
