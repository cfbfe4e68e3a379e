/** A model of the upstream: a book of orders, lists of it that lag behind, and streams that tell of each change. */

import { textMembers } from '../../../lib/kernel/json-members.ts';
import type { OrderReads, ReadOrder } from '../../../lib/orders/order-reads.ts';
import { quantityOf, readOrderMembers, termsOf } from '../../../lib/orders/order-state.ts';
import type { TradeEventTransport } from '../../../lib/trade-events/index.ts';
import { StreamError } from '../../../lib/trade-events/index.ts';
import type { VirtualTime } from '../../world/virtual-time.ts';
import { accountsOf, encodeSubscribeResponse } from '../stream-messages.ts';

export interface BookChange {
  readonly account: string;
  readonly clientOrderId: string;
  readonly scene: string;
  readonly status: string;
  readonly filled: number;
  readonly requestId: string;
  readonly at: number;
  /** A listener had it, and lived long enough to write it. */
  delivered: boolean;
}

interface Version {
  readonly at: number;
  readonly status: string;
  readonly filled: number;
  readonly price: number;
  readonly filledAt?: number;
}

export interface BookOrder {
  readonly account: string;
  readonly clientOrderId: string;
  readonly total: number;
  readonly placedAt: number;
  /** The last one is the present. */
  readonly versions: Version[];
}

interface OpenStream {
  readonly accounts: readonly string[];
  readonly queue: (Uint8Array | Error | 'end')[];
  wake: () => void;
  isMuted: boolean;
  isOpen: boolean;
  readonly process: ListeningProcess;
}

/** What has the other end of a stream. */
export interface ListeningProcess {
  /** What a test knows it by. */
  readonly instance: object;
  /** Neither dead nor frozen: what comes is taken. */
  isRunning(): boolean;
  isDead(): boolean;
}

export type StreamFault = 'drop' | 'goaway' | 'expire' | 'mute' | 'silence' | 'unauthenticated' | 'too-many';

const ended = new Set(['FILLED', 'CANCELLED', 'FAILED']);
const pingMs = 20_000;
const goneMs = 200;
/** A listener that lived so long after a message has written what it says. */
const writtenMs = 3_000;

export class ModelUpstream {
  readonly changes: BookChange[] = [];
  readonly orders = new Map<string, BookOrder>();
  /** When a stream was opened, or should have been. */
  readonly attempts: number[] = [];
  readonly tokens: (string | undefined)[] = [];
  readonly openCounts: number[] = [];
  /** How long there was no stream, each time. */
  readonly closedForMs: number[] = [];
  #closedAt: number | undefined;
  lagMs = 2_000;
  readMs = 100;
  delayMs = 30;
  /** From a call to its stream. */
  openMs = 20;
  /** What a subscription is answered with, while it is set. */
  answer: 'subscribed' | 'unauthenticated' | 'too-many' | 'unavailable' = 'subscribed';
  secret: string | undefined;
  /** Of the events before, so many come again after the next subscription. */
  repeat = 0;
  partlyFilled = 'SUBMITTED';
  reads = 0;
  readFault: (() => boolean) | undefined;
  /** Those that the app key reaches: reads of any other are refused. */
  accountIds: readonly string[];
  /** Of an account that it lists, such as a frozen one, it refuses these reads all the same. */
  refuses: ((account: string, read: keyof OrderReads) => boolean) | undefined;
  readonly #time: VirtualTime;
  readonly #streams = new Set<OpenStream>();
  #requests = 0;

  constructor(time: VirtualTime, accounts: readonly string[]) {
    this.#time = time;
    this.accountIds = accounts;
    const ping = () => {
      for (const stream of this.#streams) this.#send(stream, { eventType: 1, contentType: 'text/plain' });
      time.after(pingMs, ping);
    };
    time.after(pingMs, ping);
  }

  get open(): number {
    return this.#streams.size;
  }

  hasStream = (instance: object): boolean =>
    [...this.#streams].some((stream) => stream.process.instance === instance);

  // Changes of the book.

  place(account: string, clientOrderId: string, total: number, price = 100): void {
    const placedAt = this.#time.now();
    const first = { at: placedAt, status: 'SUBMITTED', filled: 0, price };
    this.orders.set(keyOf(account, clientOrderId), {
      account,
      clientOrderId,
      total,
      placedAt,
      versions: [first],
    });
  }

  fill(order: BookOrder, quantity: number): void {
    const { filled } = present(order);
    const now = Math.min(order.total, filled + quantity);
    const isWhole = now === order.total;
    this.#change(order, isWhole ? 'FINAL_FILLED' : 'FILLED', {
      status: isWhole ? 'FILLED' : 'PARTIAL_FILLED',
      filled: now,
      filledAt: this.#time.now(),
    });
  }

  cancel = (order: BookOrder) => this.#change(order, 'CANCEL_SUCCESS', { status: 'CANCELLED' });
  fail = (order: BookOrder) => this.#change(order, 'PLACE_FAILED', { status: 'FAILED' });
  modify = (order: BookOrder, price: number) => this.#change(order, 'MODIFY_SUCCESS', { price });
  refuse = (order: BookOrder, scene: 'MODIFY_FAILED' | 'CANCEL_FAILED') => this.#change(order, scene, {});

  #change(order: BookOrder, scene: string, change: Partial<Version>): void {
    const at = this.#time.now();
    const version = { ...present(order), ...change, at };
    order.versions.push(version);
    const { account, clientOrderId } = order;
    const { status, filled } = version;
    const requestId = `r-${++this.#requests}`;
    const told = status === 'PARTIAL_FILLED' ? this.partlyFilled : status;
    const known = { account, clientOrderId, scene, status: told, filled, requestId, at, delivered: false };
    this.changes.push(known);
    for (const stream of this.#streams) if (!stream.isMuted) this.#tell(stream, known, order.total);
  }

  #tell(stream: OpenStream, change: BookChange, total: number, isRepetition = false): void {
    if (!stream.accounts.includes(change.account)) return;
    const payload = JSON.stringify({
      request_id: change.requestId,
      account_id: change.account,
      client_order_id: change.clientOrderId,
      symbol: 'AAPL',
      category: 'US_STOCK',
      order_status: change.status,
      scene_type: change.scene,
      qty: `${total}.00`,
      filled_qty: `${change.filled}.00`,
    });
    const { requestId, at: timestamp } = change;
    this.#send(
      stream,
      { eventType: 1024, contentType: 'application/json', payload, requestId, timestamp },
      isRepetition ? undefined : change,
    );
  }

  #send(
    stream: OpenStream,
    message: Parameters<typeof encodeSubscribeResponse>[0],
    change?: BookChange,
  ): void {
    const bytes = encodeSubscribeResponse({ timestamp: this.#time.now(), ...message });
    this.#time.after(this.delayMs, () => {
      if (!stream.isOpen) return;
      stream.queue.push(bytes);
      stream.wake();
      const isHad = stream.process.isRunning();
      if (change && isHad)
        this.#time.after(writtenMs, () => {
          change.delivered ||= stream.process.isRunning();
        });
    });
  }

  // Streams.

  /** To all streams that are open. */
  bring(fault: StreamFault): void {
    for (const stream of this.#streams) {
      if (fault === 'mute') stream.isMuted = true;
      // The connection goes on for a moment, and delivers.
      else if (fault === 'goaway')
        this.#time.after(goneMs, () => stream.isOpen && this.#close(stream, new StreamError('UNAVAILABLE')));
      else if (fault === 'silence') {
        stream.isOpen = false;
        this.#remove(stream);
      } else {
        const eventType = { drop: undefined, expire: 4, unauthenticated: 2, 'too-many': 3 }[fault];
        if (eventType !== undefined) stream.queue.push(encodeSubscribeResponse({ eventType }));
        this.#close(stream, eventType === undefined ? new StreamError('UNAVAILABLE') : 'end');
      }
    }
  }

  #close(stream: OpenStream, how: Error | 'end'): void {
    stream.queue.push(how);
    stream.isOpen = false;
    this.#remove(stream);
    stream.wake();
  }

  #remove(stream: OpenStream): void {
    if (this.#streams.delete(stream) && this.#streams.size === 0) this.#closedAt = this.#time.now();
  }

  transport(process: ListeningProcess): TradeEventTransport {
    const upstream = this;
    return {
      async *open({ metadata, message, signal }) {
        upstream.attempts.push(upstream.#time.now());
        upstream.tokens.push(metadata['x-access-token']);
        await upstream.#time.sleep(upstream.openMs);
        if (signal.aborted || process.isDead()) return;
        const isSecretRight = upstream.secret === undefined || metadata['x-access-token'] === upstream.secret;
        const refused = isSecretRight ? upstream.answer : 'unauthenticated';
        if (refused === 'unavailable') throw new StreamError('UNAVAILABLE');
        if (refused === 'unauthenticated') throw new StreamError('UNAUTHENTICATED');
        if (refused === 'too-many') throw new StreamError('RESOURCE_EXHAUSTED');
        yield* upstream.#follow(accountsOf(message), signal, process);
      },
    };
  }

  async *#follow(accounts: readonly string[], signal: AbortSignal, process: ListeningProcess) {
    const stream: OpenStream = {
      accounts,
      queue: [],
      wake: () => {},
      isMuted: false,
      isOpen: true,
      process,
    };
    this.#streams.add(stream);
    if (this.#closedAt !== undefined) this.closedForMs.push(this.#time.now() - this.#closedAt);
    this.#closedAt = undefined;
    this.openCounts.push(this.#streams.size);
    this.#send(stream, { eventType: 0 });
    for (const change of this.repeat > 0 ? this.changes.slice(-this.repeat) : [])
      this.#tell(stream, change, 100, true);
    this.repeat = 0;
    const close = () => {
      stream.isOpen = false;
      this.#remove(stream);
      stream.wake();
    };
    signal.addEventListener('abort', close);
    try {
      for (;;) {
        const next = stream.queue.shift();
        if (next === 'end') return;
        if (next instanceof Error) throw next;
        if (next) yield next;
        else if (signal.aborted) return;
        else
          await new Promise<void>((resolve) => {
            stream.wake = resolve;
          });
      }
    } finally {
      close();
    }
  }

  /** Any message, to all streams. */
  send(message: Parameters<typeof encodeSubscribeResponse>[0] | Uint8Array): void {
    for (const stream of this.#streams)
      if (message instanceof Uint8Array) {
        stream.queue.push(message);
        stream.wake();
      } else this.#send(stream, message);
  }

  /** Closes what dead processes had. */
  bury(): void {
    for (const stream of this.#streams) if (stream.process.isDead()) this.#remove(stream);
  }

  // Reads.

  reader(): OrderReads {
    const read = async <T>(
      answer: () => T,
      account?: string,
      name: keyof OrderReads = 'accounts',
    ): Promise<T> => {
      this.reads++;
      await this.#time.sleep(this.readMs);
      if (this.readFault?.()) throw new Error('the read failed');
      if (account !== undefined && !this.accountIds.includes(account)) throw new Error('not its account');
      if (account !== undefined && this.refuses?.(account, name)) throw new Error('access denied');
      return answer();
    };
    const shown = (
      account: string,
      lagMs: number,
      wanted: (order: BookOrder, version: Version) => boolean,
    ) => {
      const at = this.#time.now() - lagMs;
      return [...this.orders.values()].flatMap((order) => {
        const version = order.versions.findLast((one) => one.at <= at);
        return order.account === account && version && wanted(order, version) ? [readOf(order, version)] : [];
      });
    };
    return {
      accounts: () => read(() => this.accountIds),
      openOrders: (account) =>
        read(() => shown(account, this.lagMs, (_, { status }) => !ended.has(status)), account, 'openOrders'),
      ordersSince: (account, since) =>
        read(() => shown(account, this.lagMs, ({ placedAt }) => placedAt >= since), account, 'ordersSince'),
      order: (account, clientOrderId) =>
        read(
          () => {
            const order = this.orders.get(keyOf(account, clientOrderId));
            return order ? readOf(order, present(order)) : 'not_found';
          },
          account,
          'order',
        ),
    };
  }
}

export const present = ({ versions }: BookOrder): Version => versions.at(-1)!;
export const isOpenOrder = (order: BookOrder): boolean => !ended.has(present(order).status);
const keyOf = (account: string, clientOrderId: string) => `${account} ${clientOrderId}`;

function readOf(order: BookOrder, { status, filled, price, filledAt }: Version): ReadOrder {
  const payload = JSON.stringify({
    client_order_id: order.clientOrderId,
    symbol: 'AAPL',
    status,
    total_quantity: `${order.total}`,
    filled_quantity: `${filled}.000`,
    limit_price: `${price}.00`,
    place_time: order.placedAt,
    ...(filledAt !== undefined && { filled_time: filledAt }),
  });
  const members = textMembers(payload, readOrderMembers)!;
  const { account, clientOrderId } = order;
  const state = { account, clientOrderId, status, filled: quantityOf(`${filled}`), terms: termsOf(members) };
  return { state, payload };
}
