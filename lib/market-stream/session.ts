/**
 * One session of the market stream: a connection that is opened again when it ends, the symbols that are subscribed on it,
 * and what it told of each. The class holds the state; the steps are functions.
 */

import { memberGroups, streamedMembers } from '../cache/snapshots/newer-members.ts';
import { type BackOff, jitteredMs } from '../kernel/pauses.ts';
import { keyOf, type Refusals } from './assign.ts';
import { SessionLife } from './life.ts';
import { readMessage, type StreamedPart } from './messages.ts';
import {
  type AccountStream,
  type CategorySymbol,
  MarketStreamError,
  type MarketStreamParts,
  type SubscriptionRefusal,
} from './ports.ts';

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
const refusalPauses: Readonly<Record<number, number>> = {
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
/** A symbol whose book is not told for so long may have none: a later fetch shows the book as it is. */
const bookMs = 3000;
/** A value that was fetched, and that the stream has not told so long after the fetch was sent, will not be told. */
const behindMs = 3000;
/** In a quiet market values are as old as the last answer. */
const pingMs = 1000;

export class MarketSession {
  readonly parts: MarketStreamParts;
  readonly account: AccountStream;
  /** Learns which symbols and categories the upstream refuses. */
  readonly refusals: Refusals;
  id: string;
  readonly life = new SessionLife();
  /** Keyed by symbol alone: messages name no category. */
  readonly states = new Map<string, SymbolState>();
  readonly changed = new Set<SymbolState>();
  /** The symbols that it was asked to carry last. */
  desired: readonly CategorySymbol[] = [];
  connection: AbortController | undefined;
  isConnected = false;
  /** No subscription is requested before. */
  notBefore = 0;
  /** How many times in a row the upstream did not know the session. */
  unknown = 0;
  mutedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: MarketStreamParts, account: AccountStream, refusals: Refusals, id: string) {
    this.parts = parts;
    this.account = account;
    this.refusals = refusals;
    this.id = id;
  }
}

/** Something of it changed that was not told: until it is told, its record is known to be older than the session's sign. */
export const isTorn = ({ torn }: SymbolState): boolean => torn.size > 0;

/** The symbols that it tells of. */
export const carriedBy = ({ states }: MarketSession): readonly SymbolState[] =>
  [...states.values()].filter(({ hasTrade, hasBook }) => hasTrade && hasBook);

/** The symbols that changed since this was called last. */
export function takeChanged({ changed }: MarketSession): readonly SymbolState[] {
  const taken = [...changed];
  changed.clear();
  return taken;
}

/**
 * Connects, and connects again, until `over` aborts. A connection that is open then stays until `closed` aborts, or the
 * next listener takes its place.
 */
export async function keepConnected(
  session: MarketSession,
  over: AbortSignal,
  closed: AbortSignal,
): Promise<void> {
  const { clock, pause, random, report } = session.parts;
  for (let failures = 0; !over.aborted; ) {
    const openedAt = clock();
    const pauseMs = await listen(session, closed).catch((error: unknown) => {
      // The next listener has taken the connection over.
      if (!over.aborted) report({ kind: 'failed', step: 'connection', cause: error });
      return error instanceof MarketStreamError ? refusalPauses[error.refusal ?? 0] : undefined;
    });
    // A connection that ends takes its subscriptions with it.
    session.isConnected = false;
    session.states.clear();
    session.changed.clear();
    if (over.aborted) return;
    report({ kind: 'ended' });
    failures = clock() - openedAt > reconnecting.maxMs ? 0 : failures + 1;
    await pause(pauseMs ?? jitteredMs(reconnecting, failures, random), over);
  }
}

async function listen(session: MarketSession, closed: AbortSignal): Promise<undefined> {
  const { transport, clock, report } = session.parts;
  const connection = new AbortController();
  session.connection = connection;
  const signal = AbortSignal.any([closed, connection.signal]);
  const call = { sessionId: session.id, appKey: session.account.appKey, pingMs, signal };
  for await (const incoming of transport.open(call)) {
    const now = clock();
    if (incoming.kind === 'message') receive(session, incoming.topic, incoming.payload, now);
    else if (incoming.kind === 'sign') session.life.sign(now, incoming.askedAt);
    else {
      session.isConnected = true;
      session.life.begin(now);
      session.notBefore = now + settleMs;
      report({ kind: 'connected' });
    }
  }
  return undefined;
}

function receive(session: MarketSession, topic: string, payload: Uint8Array, now: number): void {
  const message = readMessage(topic, payload, now);
  if (message.kind === 'invalid' || message.kind === 'notice') session.parts.report(message);
  else if (message.kind === 'values' || message.kind === 'torn') {
    session.life.values(now);
    const state = session.states.get(message.symbol);
    if (state && message.kind === 'values') merge(session, state, message.members);
    else if (state && message.kind === 'torn') state.torn.add(message.part);
  }
}

const partOf = ({ time }: (typeof memberGroups)[number]): StreamedPart =>
  time === 'quote_time' ? 'book' : 'trade';

/** Leaves members as they were where the message is empty, or older than what is known. */
function merge(
  { changed }: MarketSession,
  state: SymbolState,
  members: Readonly<Record<string, string>>,
): void {
  state.hasTrade ||= members.last_trade_time !== undefined;
  state.hasBook ||= members.quote_time !== undefined;
  for (const group of memberGroups) {
    const isOlder = Number(members[group.time] ?? Infinity) < Number(state.members[group.time] ?? 0);
    if (isOlder) continue;
    if (members[group.time] !== undefined) state.torn.delete(partOf(group));
    for (const name of [group.time, ...group.members])
      if (members[name] !== undefined) state.members[name] = members[name];
  }
  changed.add(state);
}

/** Notices when the session does not tell what it should, and begins anew what it does not tell. */
export function watch(session: MarketSession, now: number): void {
  const { states, life } = session;
  if (!session.isConnected || states.size === 0) return;
  for (const state of states.values())
    if (!state.hasBook && !state.torn.has('book')) mergeFetchedBook(session, state);
  const isMute = life.isMute(now);
  const untold = isMute
    ? [...states.values()]
    : carriedBy(session).filter((one) => !isTorn(one) && isBehind(session, one, now));
  if (untold.length === 0) return;
  session.parts.report({ kind: 'mute', symbols: untold.length });
  // None of them is carried until it is told again; they are subscribed again at the next turn.
  forget(session, untold);
  if (!isMute) return;
  // It told nothing even when all was subscribed again.
  if (life.valuesAt <= session.mutedAt) renew(session);
  session.mutedAt = now;
  life.beginAgain(now);
}

function forget({ states, changed }: MarketSession, symbols: readonly SymbolState[]): void {
  for (const state of symbols) {
    states.delete(state.symbol);
    changed.delete(state);
  }
}

const bookNames = new Set(
  memberGroups.filter((group) => partOf(group) === 'book').flatMap(({ time, members }) => [time, ...members]),
);

/** The session may tell nothing of a book that does not change. One of before the subscription may have changed untold. */
function mergeFetchedBook(session: MarketSession, state: SymbolState): void {
  const fetched = session.account.demand.fetched(state.category, state.symbol);
  if (!fetched || fetched.at - state.subscribedAt <= bookMs) return;
  const book = Object.entries(streamedMembers(fetched.record)).filter(([name]) => bookNames.has(name));
  merge(session, state, Object.fromEntries(book));
  state.hasBook = true;
}

/** Whether a fetch since it was subscribed has shown a trade that the session has not told. */
function isBehind(
  { account }: MarketSession,
  { category, symbol, members, subscribedAt }: SymbolState,
  now: number,
): boolean {
  const fetched = account.demand.fetched(category, symbol);
  if (!fetched || fetched.at < subscribedAt || now - fetched.at < behindMs) return false;
  const { last_trade_time: tradedAt } = streamedMembers(fetched.record);
  return Number(tradedAt ?? 0) > Number(members.last_trade_time ?? 0);
}

/** Connects under another id, of which the upstream knows nothing. */
function renew(session: MarketSession): void {
  session.id = crypto.randomUUID();
  session.unknown = 0;
  session.connection?.abort();
}

/** Makes one subscription request, if there is anything to subscribe or to give up. */
export async function sync(session: MarketSession): Promise<boolean> {
  const { parts, states, desired } = session;
  if (!session.isConnected || parts.clock() < session.notBefore) return false;
  const keys = new Set(desired.map(keyOf));
  const out = [...states.values()].filter((state) => !keys.has(keyOf(state)));
  const added = desired.filter(({ symbol }) => !states.has(symbol));
  const [first] = out.length > 0 ? out : added;
  if (!first) return false;
  const isOfCategory = ({ category }: CategorySymbol) => category === first.category;
  if (out.length > 0) await giveUp(session, out.filter(isOfCategory));
  else await subscribe(session, added.filter(isOfCategory));
  return true;
}

async function giveUp(session: MarketSession, given: readonly SymbolState[]): Promise<void> {
  forget(session, given);
  // One that stays subscribed is told in vain, and counts among the session's symbols.
  const answer = await session.account.calls.unsubscribe(callOf(session, given));
  if (!answer.ok) refused(session, answer);
}

async function subscribe(session: MarketSession, symbols: readonly CategorySymbol[]): Promise<void> {
  const { states } = session;
  const { demand, calls } = session.account;
  const [before, subscribedAt] = [session.id, session.parts.clock()];
  // Before the request: the first values may come before its answer does.
  for (const { category, symbol } of symbols) {
    const record = demand.fetched(category, symbol)?.record;
    const members = record ? { ...streamedMembers(record) } : {};
    const nothing = { hasTrade: false, hasBook: false, torn: new Set<StreamedPart>() };
    states.set(symbol, { category, symbol, members, subscribedAt, ...nothing });
  }
  const answer = await calls.subscribe(callOf(session, symbols));
  if (answer.ok) {
    session.unknown = 0;
    return;
  }
  if (before === session.id) for (const { symbol } of symbols) states.delete(symbol);
  refused(session, answer);
  session.refusals.add(answer, symbols);
}

const callOf = ({ id }: MarketSession, symbols: readonly CategorySymbol[]) => ({
  sessionId: id,
  category: symbols[0]?.category ?? '',
  symbols: symbols.map(({ symbol }) => symbol),
});

/** Reports a refused request, and waits before the next one. */
function refused(session: MarketSession, { code }: SubscriptionRefusal): void {
  const { clock, report } = session.parts;
  report({ kind: 'refused', code });
  // The upstream counts symbols that this session has given up: another id has none.
  if (code === 'TOO_MANY_SYMBOLS_SUBSCRIPTION') renew(session);
  else if (code !== 'INVALID_SESSION')
    session.notBefore = clock() + (code === 'INVALID_SYMBOL' ? 0 : refusedMs);
  else if (session.unknown < unknownMs.length) session.notBefore = clock() + unknownMs[session.unknown++]!;
  else renew(session);
}
