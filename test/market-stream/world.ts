/**
 * The market stream on a virtual clock: trades of symbols, an upstream that tells them by stream and by fetch, with every
 * fault that was seen, the listener, and instances that follow.
 */

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  createMemorySnapshotStore,
  createMemoryStreamedLog,
  type SnapshotStore,
  type StreamedLog,
  WatchedSnapshots,
} from '../../lib/cache/snapshots/index.ts';
import { createMarketStreamListener } from '../../lib/market-stream/listener.ts';
import {
  type Incoming,
  MarketStreamError,
  type MarketStreamReport,
  type MarketStreamTransport,
  type SubscriptionAnswer,
} from '../../lib/market-stream/ports.ts';
import { createMemoryTradeEventStore } from '../../lib/trade-events/memory-store.ts';
import { createRandom } from '../world/random.ts';
import type { VirtualTime } from '../world/virtual-time.ts';

export interface Trade {
  readonly at: number;
  readonly price: string;
  readonly volume: number;
}

/** What the broker tells of. */
export interface Told {
  hear(listener: (symbol: string) => void): void;
  /** What the symbol is like now. */
  message(symbol: string): Uint8Array;
}

/** Trades of a symbol, of which the last before a moment is known at any time. */
export class Market implements Told {
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #trades = new Map<string, Trade[]>();
  readonly #heard = new Set<(symbol: string) => void>();
  isOpen = true;

  /** @param perSecond trades of each symbol, about */
  constructor(time: VirtualTime, symbols: readonly string[], perSecond: number, seed = 5) {
    this.#time = time;
    this.#random = createRandom(seed);
    for (const symbol of symbols) {
      this.#trades.set(symbol, [{ at: time.now() - 1000, price: '10.00', volume: 1000 }]);
      const next = () => {
        if (this.isOpen) this.trade(symbol);
        time.after((-Math.log(1 - this.#random()) * 1000) / perSecond, next);
      };
      time.after((1000 * this.#random()) / perSecond, next);
    }
  }

  trade(symbol: string): void {
    const trades = this.#trades.get(symbol)!;
    const cents = 1000 + Math.floor(500 * this.#random());
    const volume = trades.at(-1)!.volume + 1 + Math.floor(100 * this.#random());
    const trade = { at: Math.floor(this.#time.now()), price: (cents / 100).toFixed(2), volume };
    trades.push(trade);
    for (const hear of this.#heard) hear(symbol);
  }

  lastOf(symbol: string, until = this.#time.now()): Trade {
    return this.#trades.get(symbol)!.findLast(({ at }) => at <= until) ?? this.#trades.get(symbol)![0]!;
  }

  hear(listener: (symbol: string) => void): void {
    this.#heard.add(listener);
  }

  message(symbol: string): Uint8Array {
    return snapshotMessage(symbol, this.lastOf(symbol), Math.floor(this.#time.now()));
  }
}

export const recordOf = (symbol: string, { at, price, volume }: Trade): string =>
  JSON.stringify({ symbol, price, volume: String(volume), last_trade_time: at, eps: '1.10' });

export function snapshotMessage(symbol: string, trade: Partial<Trade>, sentAt: number): Uint8Array {
  const text = (writer: BinaryWriter, field: number, value: string | undefined) =>
    value === undefined ? writer : writer.tag(field, WireType.LengthDelimited).string(value);
  const basic = text(text(new BinaryWriter(), 1, symbol), 3, String(sentAt)).finish();
  const message = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(basic);
  text(message, 2, trade.at?.toString());
  text(message, 3, trade.price);
  text(message, 8, trade.volume?.toString());
  return message.finish();
}

/** A book of one level, or of one side. */
export function quoteMessage(
  symbol: string,
  { ask, bid }: { readonly ask?: string; readonly bid?: string },
  sentAt: number | undefined,
): Uint8Array {
  const text = (writer: BinaryWriter, field: number, value: string) =>
    writer.tag(field, WireType.LengthDelimited).string(value);
  const basic = text(new BinaryWriter(), 1, symbol);
  if (sentAt !== undefined) text(basic, 3, String(sentAt));
  const message = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(basic.finish());
  for (const [field, price] of [
    [2, ask],
    [3, bid],
  ] as const)
    if (price !== undefined)
      message
        .tag(field, WireType.LengthDelimited)
        .bytes(text(text(new BinaryWriter(), 1, price), 2, '100').finish());
  return message.finish();
}

interface Connection {
  readonly id: string;
  readonly symbols: Set<string>;
  push(incoming: Incoming | Error | undefined): void;
}

/** What goes wrong at the upstream, until it is taken back. */
export interface StreamFaults {
  /** Connections answer pings, and tell nothing; those that are opened then tell again. */
  mute?: boolean;
  /** Nothing at all comes, not even an answer to a ping. */
  dead?: boolean;
  /** New connections are refused with this code. */
  refuse?: number;
  /** Subscriptions are refused with this code. */
  code?: string;
  /** Symbols that it does not stream. */
  unknown?: readonly string[];
  /** Symbols that are subscribed, and of which nothing is told. */
  silent?: readonly string[];
  /** A subscription brings nothing by itself. */
  isBare?: boolean;
  /** One message in so many has its symbol alone. */
  emptyEvery?: number;
}

const networkMs = 40;
/** Connections of one app key at most, and for how long one counts after its end. */
const [maxConnections, countedMs] = [5, 60_000];

/** The upstream's broker, and its subscription operations. */
export class ModelBroker {
  readonly #time: VirtualTime;
  readonly #market: Told;
  readonly #connections = new Map<string, Connection>();
  readonly #muted = new Set<Connection>();
  readonly requests: { readonly at: number; readonly kind: string; readonly symbols: number }[] = [];
  /** With which each connection was asked for. */
  readonly appKeys: string[] = [];
  /** When connections ended that count still. */
  readonly #ended: number[] = [];
  /** Of connections, one too many. */
  refused = 0;
  #messages = 0;
  faults: StreamFaults = {};

  constructor(time: VirtualTime, market: Told) {
    this.#time = time;
    this.#market = market;
    market.hear((symbol) => {
      for (const one of this.#connections.values()) if (one.symbols.has(symbol)) this.#tell(one, symbol);
    });
  }

  get connections(): number {
    return this.#connections.size;
  }

  #tell(connection: Connection, symbol: string): void {
    if (this.#muted.has(connection) || this.faults.silent?.includes(symbol)) return;
    const isEmpty = ++this.#messages % (this.faults.emptyEvery ?? Infinity) === 0;
    const payload = isEmpty
      ? snapshotMessage(symbol, {}, Math.floor(this.#time.now()))
      : this.#market.message(symbol);
    connection.push({ kind: 'message', topic: 'snapshot', payload });
  }

  /** From now on the connections that there are tell nothing. */
  mute(): void {
    for (const connection of this.#connections.values()) this.#muted.add(connection);
  }

  dropAll(): void {
    for (const { push } of this.#connections.values()) push(new MarketStreamError());
  }

  forgetAll(): void {
    this.#connections.clear();
  }

  push(topic: string, payload: Uint8Array): void {
    for (const { push } of this.#connections.values()) push({ kind: 'message', topic, payload });
  }

  readonly transport: MarketStreamTransport = {
    open: ({ sessionId, appKey, pingMs, signal }) => {
      this.appKeys.push(appKey);
      return this.#open(sessionId, pingMs, signal);
    },
  };

  async *#open(id: string, pingMs: number, signal: AbortSignal): AsyncGenerator<Incoming> {
    const time = this.#time;
    await time.sleep(3 * networkMs);
    if (this.faults.refuse !== undefined) throw new MarketStreamError(this.faults.refuse);
    const others = [...this.#connections.keys()].filter((one) => one !== id).length;
    if (others + this.#ended.filter((at) => at > time.now() - countedMs).length >= maxConnections) {
      this.refused++;
      throw new MarketStreamError(105);
    }
    const queue: (Incoming | Error | undefined)[] = [];
    let wake = () => {};
    const push = (incoming: Incoming | Error | undefined) => {
      queue.push(incoming);
      wake();
    };
    // A connection that loses one message loses all that follow.
    let isDead = false;
    const late = (incoming: Incoming | Error | undefined) => {
      isDead ||= this.faults.dead === true;
      if (!isDead) time.after(networkMs, () => push(incoming));
    };
    this.#connections.get(id)?.push(new MarketStreamError());
    const connection: Connection = { id, symbols: new Set(), push: late };
    this.#connections.set(id, connection);
    signal.addEventListener('abort', () => push(undefined));
    const ping = () => {
      const askedAt = time.now();
      time.after(networkMs, () => late({ kind: 'sign', askedAt }));
      cancel = time.after(pingMs, ping);
    };
    let cancel = time.after(pingMs, ping);
    try {
      yield { kind: 'connected' };
      for (;;) {
        while (queue.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        const incoming = queue.shift();
        if (incoming instanceof Error) throw incoming;
        if (!incoming || signal.aborted) return;
        yield incoming;
      }
    } finally {
      cancel();
      if (this.#connections.get(id) === connection) {
        this.#connections.delete(id);
        this.#ended.push(time.now());
      }
    }
  }

  async subscribe(id: string, symbols: readonly string[]): Promise<SubscriptionAnswer> {
    await this.#time.sleep(2 * networkMs);
    this.requests.push({ at: this.#time.now(), kind: 'subscribe', symbols: symbols.length });
    const connection = this.#connections.get(id);
    const refused = (code: string, message: string) => ({ ok: false, status: 417, code, message }) as const;
    if (this.faults.code) return refused(this.faults.code, '');
    if (!connection) return refused('INVALID_SESSION', `Mqtt connection not exist for session:${id}`);
    const unknown = symbols.filter((symbol) => this.faults.unknown?.includes(symbol));
    if (unknown.length > 0)
      return refused('INVALID_SYMBOL', `The symbols does not exist in the category. [${unknown.join(', ')}]`);
    if (new Set([...connection.symbols, ...symbols]).size > 100)
      return refused('TOO_MANY_SYMBOLS_SUBSCRIPTION', 'Maximum number of subscribe tickers:100');
    for (const symbol of symbols) {
      connection.symbols.add(symbol);
      if (!this.faults.isBare) this.#tell(connection, symbol);
    }
    return { ok: true };
  }

  async unsubscribe(id: string, symbols: readonly string[]): Promise<SubscriptionAnswer> {
    await this.#time.sleep(2 * networkMs);
    this.requests.push({ at: this.#time.now(), kind: 'unsubscribe', symbols: symbols.length });
    for (const symbol of symbols) this.#connections.get(id)?.symbols.delete(symbol);
    return { ok: true };
  }
}

/** A listener in front of the broker, over the stores of instances. */
export function createListening(
  time: VirtualTime,
  broker: ModelBroker,
  {
    log = createMemoryStreamedLog(time.now),
    store = createMemorySnapshotStore(time.now),
    leases = createMemoryTradeEventStore(time.now),
    secret = { appKey: 'key' },
    sessions = 4,
    report = () => {},
  }: {
    readonly log?: StreamedLog;
    readonly store?: SnapshotStore;
    readonly leases?: ReturnType<typeof createMemoryTradeEventStore>;
    readonly secret?: { readonly appKey: string };
    readonly sessions?: number;
    readonly report?: (report: MarketStreamReport) => void;
  } = {},
) {
  const reports: MarketStreamReport[] = [];
  const begin = (forMs = 840_000) => {
    const random = createRandom(3);
    const listener = createMarketStreamListener({
      transport: broker.transport,
      store: leases,
      async account() {
        const { appKey } = secret;
        return {
          appKey,
          isCurrent: async () => secret.appKey === appKey,
          lease: `stream of ${appKey}`,
          log,
          demand: new WatchedSnapshots(store, { clock: time.now, sleep: time.sleep, random }),
          calls: {
            subscribe: ({ sessionId, symbols }) => broker.subscribe(sessionId, symbols),
            unsubscribe: ({ sessionId, symbols }) => broker.unsubscribe(sessionId, symbols),
          },
        };
      },
      clock: time.now,
      monotonic: time.now,
      random,
      sleep: (ms, signal) => time.sleep(ms, signal).catch(() => {}),
      report(one) {
        reports.push(one);
        report(one);
      },
      tuning: { sessions },
    });
    const ending = new AbortController();
    const done = listener.run({ until: time.now() + forMs, signal: ending.signal });
    return { done, end: () => ending.abort() };
  };
  return { log, store, reports, begin };
}
