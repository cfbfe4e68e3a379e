/**
 * One session of the market stream: a connection that is opened again when it ends, the symbols that are subscribed on it,
 * and what it told of each.
 */

import { memberGroups, streamedMembers } from '../cache/snapshots/newer-members.ts';
import { type BackOff, jitteredMs } from '../kernel/pauses.ts';
import { keyOf, type Refused } from './assign.ts';
import { SessionLife } from './life.ts';
import type { Parts } from './listener-options.ts';
import { readMessage, type StreamedPart } from './messages.ts';
import { type AccountStream, type CategorySymbol, MarketStreamError } from './ports.ts';

/** A symbol that is subscribed, and all that is known of the members that the stream carries. */
export interface SymbolState extends CategorySymbol {
  readonly members: Record<string, string>;
  readonly subscribedAt: number;
  /** A trade was told since it was subscribed, and a state of the book was, or was fetched: each that follows is told. */
  hasTrade: boolean;
  hasBook: boolean;
  /** The parts that have changed untold. */
  readonly torn: Set<StreamedPart>;
}

const reconnecting: BackOff = { firstMs: 500, maxMs: 30_000 };
/** The upstream counts a connection for a minute after its end. */
const tooManyMs = 65_000;
/** The upstream refuses the app key: it may be replaced soon. */
const keyRefusedMs = 30_000;
/** CONNACK codes that no further attempt changes soon. */
const refusals: Readonly<Record<number, number>> = {
  4: keyRefusedMs,
  5: keyRefusedMs,
  103: keyRefusedMs,
  104: keyRefusedMs,
  105: tooManyMs,
};
/** The upstream was seen not to know a session for a second or so after it accepted the connection. */
const settleMs = 1000;
/** Pauses after `INVALID_SESSION`; after the last the session begins anew under another id. */
const unknownMs = [1000, 2000, 4000] as const;
/** After any other refusal. */
const refusedMs = 10_000;
/** A symbol without a word of its book for so long may have none: what is fetched from then on has the book as it is. */
const bookMs = 3000;
/** A value that was fetched, and that the stream has not told so long after the fetch was sent, will not be told. */
const behindMs = 3000;
/** In a quiet market values are as old as the last answer. */
const pingMs = 1000;

/** Something of it changed that was not told: until it is told, its record is known to be older than the session's sign. */
export const isTorn = ({ torn }: SymbolState): boolean => torn.size > 0;

const partOf = ({ time }: (typeof memberGroups)[number]): StreamedPart =>
  time === 'quote_time' ? 'book' : 'trade';

const bookNames = new Set(
  memberGroups.filter((group) => partOf(group) === 'book').flatMap(({ time, members }) => [time, ...members]),
);

type Refuse = (refused: Refused, symbols: readonly CategorySymbol[]) => void;

export class StreamSession {
  readonly #parts: Parts;
  readonly #account: AccountStream;
  readonly #refuse: Refuse;
  readonly #life = new SessionLife();
  /** By symbol: messages name no category. */
  readonly #states = new Map<string, SymbolState>();
  readonly #changed = new Set<SymbolState>();
  #desired: readonly CategorySymbol[] = [];
  #id: string;
  #connection: AbortController | undefined;
  #isConnected = false;
  /** No subscription is asked for before. */
  #notBefore = 0;
  #unknown = 0;
  #mutedAt = Number.NEGATIVE_INFINITY;

  /** @param refuse told of symbols, or a category, that the upstream refuses */
  constructor(parts: Parts, account: AccountStream, id: string, refuse: Refuse) {
    this.#parts = parts;
    this.#id = id;
    this.#account = account;
    this.#refuse = refuse;
  }

  get id(): string {
    return this.#id;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  get signAt(): number {
    return this.#life.signAt;
  }

  /** The symbols that it tells of. */
  get carried(): readonly SymbolState[] {
    return [...this.#states.values()].filter(({ hasTrade, hasBook }) => hasTrade && hasBook);
  }

  /** Those that changed since this was called last. */
  takeChanged(): readonly SymbolState[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** The symbols that it was asked to carry last. */
  get desired(): readonly CategorySymbol[] {
    return this.#desired;
  }

  want(symbols: readonly CategorySymbol[]): void {
    this.#desired = symbols;
  }

  /**
   * Connects, and connects again, until `over` aborts. A connection that is open then stays until `closed` aborts, or the
   * next listener takes its place.
   */
  async keep(over: AbortSignal, closed: AbortSignal): Promise<void> {
    const { clock, pause, random, report } = this.#parts;
    for (let failures = 0; !over.aborted; ) {
      const openedAt = clock();
      const pauseMs = await this.#listen(closed).catch((error: unknown) => {
        // The next listener has taken the connection over.
        if (!over.aborted) report({ kind: 'failed', step: 'connection', cause: error });
        return error instanceof MarketStreamError ? refusals[error.refusal ?? 0] : undefined;
      });
      this.#forget();
      if (over.aborted) return;
      report({ kind: 'ended' });
      failures = clock() - openedAt > reconnecting.maxMs ? 0 : failures + 1;
      await pause(pauseMs ?? jitteredMs(reconnecting, failures, random), over);
    }
  }

  async #listen(signal: AbortSignal): Promise<undefined> {
    const { transport, clock, report } = this.#parts;
    const connection = new AbortController();
    this.#connection = connection;
    const either = AbortSignal.any([signal, connection.signal]);
    const call = { sessionId: this.#id, appKey: this.#account.appKey, pingMs, signal: either };
    for await (const incoming of transport.open(call)) {
      const now = clock();
      if (incoming.kind === 'message') this.#receive(incoming.topic, incoming.payload, now);
      else if (incoming.kind === 'sign') this.#life.sign(now, incoming.askedAt);
      else {
        this.#isConnected = true;
        this.#life.begin(now);
        this.#notBefore = now + settleMs;
        report({ kind: 'connected' });
      }
    }
    return undefined;
  }

  /** A connection that ends takes its subscriptions with it. */
  #forget(): void {
    this.#isConnected = false;
    this.#states.clear();
    this.#changed.clear();
  }

  #receive(topic: string, payload: Uint8Array, now: number): void {
    const message = readMessage(topic, payload, now);
    if (message.kind === 'invalid' || message.kind === 'notice') this.#parts.report(message);
    else if (message.kind === 'values' || message.kind === 'torn') {
      this.#life.values(now);
      const state = this.#states.get(message.symbol);
      if (state && message.kind === 'values') this.#take(state, message.members);
      else if (state && message.kind === 'torn') state.torn.add(message.part);
    }
  }

  /** What is empty in a message stays as it was; what is older than what is known is left out. */
  #take(state: SymbolState, members: Readonly<Record<string, string>>): void {
    state.hasTrade ||= members.last_trade_time !== undefined;
    state.hasBook ||= members.quote_time !== undefined;
    for (const group of memberGroups) {
      const isOlder = Number(members[group.time] ?? Infinity) < Number(state.members[group.time] ?? 0);
      if (isOlder) continue;
      if (members[group.time] !== undefined) state.torn.delete(partOf(group));
      for (const name of [group.time, ...group.members])
        if (members[name] !== undefined) state.members[name] = members[name];
    }
    this.#changed.add(state);
  }

  /** Notices when the session does not tell what it should, and begins anew what it does not tell. */
  watch(now: number): void {
    if (!this.#isConnected || this.#states.size === 0) return;
    for (const state of this.#states.values())
      if (!state.hasBook && !state.torn.has('book')) this.#takeFetchedBook(state);
    const isMute = this.#life.isMute(now);
    const untold = isMute
      ? [...this.#states.values()]
      : this.carried.filter((one) => !isTorn(one) && this.#isBehind(one, now));
    if (untold.length === 0) return;
    this.#parts.report({ kind: 'mute', symbols: untold.length });
    // None of them is carried until it is told again; they are subscribed again at the next turn.
    for (const state of untold) {
      this.#states.delete(state.symbol);
      this.#changed.delete(state);
    }
    if (!isMute) return;
    // It told nothing even when all was subscribed again.
    if (this.#life.valuesAt <= this.#mutedAt) this.#renew();
    this.#mutedAt = now;
    this.#life.beginAgain(now);
  }

  /** The session may tell nothing of a book that does not change. One of before the subscription may have changed untold. */
  #takeFetchedBook(state: SymbolState): void {
    const fetched = this.#account.demand.fetched(state.category, state.symbol);
    if (!fetched || fetched.at - state.subscribedAt <= bookMs) return;
    const book = Object.entries(streamedMembers(fetched.record)).filter(([name]) => bookNames.has(name));
    this.#take(state, Object.fromEntries(book));
    state.hasBook = true;
  }

  /** A fetch since it was subscribed has shown a trade that the session has not told. */
  #isBehind({ category, symbol, members, subscribedAt }: SymbolState, now: number): boolean {
    const fetched = this.#account.demand.fetched(category, symbol);
    if (!fetched || fetched.at < subscribedAt || now - fetched.at < behindMs) return false;
    const { last_trade_time: tradedAt } = streamedMembers(fetched.record);
    return Number(tradedAt ?? 0) > Number(members.last_trade_time ?? 0);
  }

  /** Another id: of this one the upstream knows nothing any more. */
  #renew(): void {
    this.#id = crypto.randomUUID();
    this.#unknown = 0;
    this.#connection?.abort();
  }

  /** Makes one subscription request, if there is anything to subscribe or to give up. */
  async sync(): Promise<boolean> {
    const { clock } = this.#parts;
    if (!this.#isConnected || clock() < this.#notBefore) return false;
    const desired = new Set(this.#desired.map(keyOf));
    const out = [...this.#states.values()].filter((state) => !desired.has(keyOf(state)));
    const added = this.#desired.filter(({ symbol }) => !this.#states.has(symbol));
    const [first] = out.length > 0 ? out : added;
    if (!first) return false;
    const ofCategory = ({ category }: CategorySymbol) => category === first.category;
    if (out.length > 0) await this.#giveUp(out.filter(ofCategory));
    else await this.#subscribe(added.filter(ofCategory));
    return true;
  }

  async #giveUp(states: readonly SymbolState[]): Promise<void> {
    for (const state of states) {
      this.#states.delete(state.symbol);
      this.#changed.delete(state);
    }
    // One that stays subscribed is told in vain, and counts among the session's symbols.
    const answer = await this.#account.calls.unsubscribe(this.#call(states));
    if (!answer.ok) this.#wait(answer);
  }

  async #subscribe(symbols: readonly CategorySymbol[]): Promise<void> {
    const { demand, calls } = this.#account;
    const [before, subscribedAt] = [this.#id, this.#parts.clock()];
    // Before the request: the first values may come before its answer does.
    for (const { category, symbol } of symbols) {
      const record = demand.fetched(category, symbol)?.record;
      const members = record ? { ...streamedMembers(record) } : {};
      const nothing = { hasTrade: false, hasBook: false, torn: new Set<StreamedPart>() };
      this.#states.set(symbol, { category, symbol, members, subscribedAt, ...nothing });
    }
    const answer = await calls.subscribe(this.#call(symbols));
    if (answer.ok) {
      this.#unknown = 0;
      return;
    }
    if (before === this.#id) for (const { symbol } of symbols) this.#states.delete(symbol);
    this.#wait(answer);
    this.#refuse(answer, symbols);
  }

  #call(symbols: readonly CategorySymbol[]) {
    const category = symbols[0]?.category ?? '';
    return { sessionId: this.#id, category, symbols: symbols.map(({ symbol }) => symbol) };
  }

  #wait({ code }: Refused): void {
    const { clock } = this.#parts;
    this.#parts.report({ kind: 'refused', code });
    // The upstream counts symbols that this session has given up: another id has none.
    if (code === 'TOO_MANY_SYMBOLS_SUBSCRIPTION') this.#renew();
    else if (code !== 'INVALID_SESSION')
      this.#notBefore = clock() + (code === 'INVALID_SYMBOL' ? 0 : refusedMs);
    else if (this.#unknown < unknownMs.length) this.#notBefore = clock() + unknownMs[this.#unknown++]!;
    else this.#renew();
  }
}
