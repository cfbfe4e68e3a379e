/** Clients of the market-data stream, the pushes to each session, and the faults that hit them. */

import type { SimulatedUpstream } from '../handle.ts';
import { lastTradeTime } from '../market/tape.ts';
import { connack, type Feed, type StreamSession, type SubType } from '../stream-sessions.ts';
import type { Transport, Way } from './door.ts';
import { type MarketStreamFault, oddMessage } from './faults.ts';
import { type Introduction, MqttConnection } from './mqtt.ts';
import { nextMessage, type TickTime } from './updates.ts';

export interface PushOptions {
  /** Milliseconds between two looks for data to push, while a client is connected; 250 when absent, 0 for never. */
  readonly pushMs?: number;
  /** Milliseconds between two heartbeats; 30 000 when absent. The upstream's own interval is not known. */
  readonly echoMs?: number;
  /** Form of a tick's time; `clock` when absent. */
  readonly tickTime?: TickTime;
  /** Called for each message of market data, even one that lacks something. */
  readonly onPush?: (message: PushedMessage) => void;
}

/** Content of a message; times in milliseconds since the epoch. */
export interface PushedMessage {
  readonly type: SubType;
  readonly symbol: string;
  readonly tradedAt: number;
  readonly sentAt: number;
}

/** Record of one connection. */
export interface StreamConnection {
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly transport: Transport;
  readonly sessionId: string;
  readonly appKey: string;
  /** Code of the answer; 0 for an accepted connection. */
  readonly code: number;
  /** Time at which it ended; absent while it is open, and for a refused one. */
  endedAt?: number;
}

/** Connection of a session. */
interface StreamClient {
  readonly session: StreamSession;
  readonly connection: MqttConnection;
  readonly sayBye: () => void;
  echoedAt: number;
}

const topics = { SNAPSHOT: 'snapshot', QUOTE: 'quote', TICK: 'tick' } as const;

/** Messages of one symbol and type to one session in any second; the last one has the newest data. */
const perSecond = 3;

/** Number of connections that are remembered. */
const maxConnections = 10_000;

export class MarketPushes {
  readonly connections: StreamConnection[] = [];
  readonly sent = new Map<string, number>();
  readonly #upstream: SimulatedUpstream;
  readonly #clock: () => number;
  readonly #options: PushOptions;
  readonly #clients = new Set<StreamClient>();
  readonly #refusals: number[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(upstream: SimulatedUpstream, clock: () => number, options: PushOptions) {
    this.#upstream = upstream;
    this.#clock = clock;
    this.#options = options;
  }

  /** Starts the conversation with a new client. */
  admit({ transport, stream, sayBye }: Way): void {
    const connection = new MqttConnection(stream, {
      clock: this.#clock,
      onConnect: (introduction, fault) => {
        const session = fault ?? this.#connect(introduction, connection);
        const code = typeof session === 'number' ? session : connack.accepted;
        const entry = this.#remember(transport, introduction, code);
        if (typeof session !== 'number')
          this.#enter({ session, connection, sayBye, echoedAt: entry.at }, stream, entry);
        return code;
      },
    });
  }

  push(): void {
    const now = this.#clock();
    for (const client of this.#clients) {
      client.connection.endIfSilent(now);
      if (client.session.muted === undefined) this.#pushTo(client);
      if (now - client.echoedAt >= (this.#options.echoMs ?? 30_000)) this.#echo(client, now);
    }
  }

  bring(fault: MarketStreamFault): void {
    if (fault.kind === 'refuse') {
      for (let times = fault.times ?? 1; times > 0; times--) this.#refusals.push(fault.code);
      return;
    }
    if (fault.kind === 'late') {
      this.#upstream.world.streamSessions.lateMs = fault.ms;
      return;
    }
    for (const client of [...this.#clients])
      if (fault.session === undefined || fault.session === client.session.id) this.#bringTo(client, fault);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #connect({ sessionId, appKey }: Introduction, connection: MqttConnection): StreamSession | number {
    const { credentials, world } = this.#upstream;
    if (!credentials.has(appKey)) return connack.badKey;
    return (
      this.#refusals.shift() ?? world.streamSessions.connect(sessionId, appKey, connection, this.#clock())
    );
  }

  #remember(transport: Transport, { sessionId, appKey }: Introduction, code: number): StreamConnection {
    const entry = { at: this.#clock(), transport, sessionId, appKey, code };
    this.connections.push(entry);
    if (this.connections.length > maxConnections) this.connections.shift();
    return entry;
  }

  #enter(client: StreamClient, stream: Way['stream'], entry: StreamConnection): void {
    this.#clients.add(client);
    stream.once('close', () => {
      this.#clients.delete(client);
      entry.endedAt = this.#clock();
      this.#upstream.world.streamSessions.disconnect(client.session, entry.endedAt);
      if (this.#clients.size === 0) this.stop();
    });
    const { pushMs = 250 } = this.#options;
    // The timer does not keep the process alive, as the servers do; it runs only while a client is connected.
    if (pushMs > 0) this.#timer ??= setInterval(() => this.push(), pushMs).unref();
  }

  #pushTo(client: StreamClient): void {
    for (const feed of client.session.feeds) {
      // Read for each message, because sending all of them takes a while and each has its own time.
      const now = this.#clock();
      const time = lastTradeTime(feed.instrument, now);
      if (time === feed.tradeTime || !hasTurn(feed, now)) continue;
      this.#send(client, topics[feed.type], nextMessage(feed, time, now, this.#options.tickTime ?? 'clock'));
      feed.tradeTime = time;
      feed.sentAt = [...feed.sentAt, now].slice(-perSecond);
      const { type, instrument } = feed;
      this.#options.onPush?.({ type, symbol: instrument.symbol, tradedAt: time, sentAt: now });
    }
  }

  #echo(client: StreamClient, now: number): void {
    client.echoedAt = now;
    const { sent, unsent: drop } = client.connection;
    this.#send(client, 'echo', new Uint8Array());
    this.#notice(client, { type: 'status', rtt: 100, drop, sent });
  }

  #notice(client: StreamClient, notice: object): void {
    this.#send(client, 'notice', Buffer.from(JSON.stringify(notice)));
  }

  #send({ connection }: StreamClient, topic: string, payload: Uint8Array): void {
    if (connection.publish(topic, payload)) this.sent.set(topic, (this.sent.get(topic) ?? 0) + 1);
  }

  #bringTo(client: StreamClient, fault: Exclude<MarketStreamFault, { kind: 'refuse' | 'late' }>): void {
    const { session, connection, sayBye } = client;
    const { streamSessions } = this.#upstream.world;
    const { kind } = fault;
    if (kind === 'mute') session.muted = fault.until === 'never' ? 'for-good' : 'until-subscribe';
    else if (kind === 'freeze') connection.freeze();
    else if (kind === 'forget') streamSessions.forget(session);
    else if (kind === 'take-over') streamSessions.takeOver(session);
    else if (kind === 'drop') connection.drop();
    else if (kind === 'bye-bye') sayBye();
    else if (kind === 'deliver') connection.delivery = { qos: fault.qos, retain: fault.retain };
    else if (kind === 'send') this.#send(client, ...oddMessage(fault.what, this.#clock()));
    else
      this.#notice(client, {
        type: '1002',
        content: `Permission grabbed by other session, category : ${fault.category ?? 'us-stock'}`,
      });
  }
}

const hasTurn = ({ sentAt }: Feed, now: number): boolean =>
  sentAt.length < perSecond || sentAt[0]! <= now - 1000;
