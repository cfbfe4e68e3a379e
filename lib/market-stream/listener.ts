/**
 * The listener of the market stream: waits for the lease, has the symbols in most demand carried by a few sessions, and
 * writes what they tell for all instances.
 *
 *     acquire      one listener                                        listener/lease.ts
 *     assign       demand → which symbols are carried                  assign.ts
 *     session      connect, subscribe, receive, notice silence         session.ts, life.ts
 *     message      bytes → members of a snapshot record                messages.ts
 *     batch        members → log of all instances                      batches.ts
 */

import { type ListenerSeams, listenerRuntime, settledWithin } from '../listener/runtime.ts';
import {
  type LeasedListener,
  type LeasedWork,
  runLeased,
  type Shift,
  type ShiftWork,
} from '../listener/shift.ts';
import { assign, keyOf, Refusals, symbolOf } from './assign.ts';
import { Batches } from './batches.ts';
import type { AccountStream, MarketStreamListenerOptions, MarketStreamParts, WantedSymbol } from './ports.ts';
import { carriedBy, isTorn, keepConnected, MarketSession, sync, watch } from './session.ts';

export const defaultSessions = 4;
/** Symbols that one session may have. */
const symbolsEach = 100;
/** Between two writes of what changed, for all instances. */
const batchMs = 100;
/** Between two subscription requests: the upstream takes 60 in a minute. */
const turnMs = 1000;
const assignEveryMs = 5000;
const secretEveryMs = 60_000;
/** The next listener has acquired the lease and connected long before. */
const handOverMs = 20_000;

/**
 * One listener of the quotes of an account. Start one every minute: those that are not needed resolve at once.
 *
 * @example
 * const listener = createMarketStreamListener({ transport, store, account });
 * const { result } = await listener.run({ until: Date.now() + 14 * 60_000 });
 */
export function createMarketStreamListener(
  options: MarketStreamListenerOptions & ListenerSeams,
): LeasedListener {
  const parts = { ...options, ...listenerRuntime(options) };
  return { run: (call) => runLeased(parts, call, () => workOf(parts)) };
}

async function workOf(parts: MarketStreamParts): Promise<LeasedWork | undefined> {
  try {
    const account = await parts.account();
    return { name: account.lease, start: (shift) => work(listeningOf(parts, account, shift)) };
  } catch (cause) {
    parts.report({ kind: 'failed', step: 'account', cause });
    return undefined;
  }
}

/** A listener while it has the lease: a plain value. Its steps are functions that take it. */
interface MarketListening {
  readonly parts: MarketStreamParts;
  readonly account: AccountStream;
  readonly shift: Shift;
  readonly sessions: readonly MarketSession[];
  readonly refusals: Refusals;
  /** Keys of the symbols that sessions are to carry. */
  assigned: ReadonlySet<string>;
  wanted: readonly WantedSymbol[];
}

function listeningOf(parts: MarketStreamParts, account: AccountStream, shift: Shift): MarketListening {
  const refusals = new Refusals(parts.clock);
  const { sessionIds } = shift.lease.state;
  const sessions = Array.from(
    { length: parts.tuning.sessions ?? defaultSessions },
    (_, index) => new MarketSession(parts, account, refusals, sessionIds?.[index] ?? crypto.randomUUID()),
  );
  return { parts, account, shift, sessions, refusals, assigned: new Set(), wanted: [] };
}

/** Work of one listener while it has the lease. */
function work(listening: MarketListening): ShiftWork {
  const { parts, account, shift, sessions } = listening;
  /** Connections stay open for the next listener when all else is over. */
  const closed = new AbortController();
  let connections: Promise<unknown> = Promise.resolve();
  /** Ended because the secret names another account. */
  let isReplaced = false;

  /** Sessions stay while the app key does: the broker has nothing else of the secret, and counts each for a minute after its end. */
  async function watchSecret(): Promise<void> {
    if (await account.isCurrent().catch(() => true)) return;
    isReplaced = true;
    shift.end();
  }

  /** The listener ends, and another one begins. */
  function fail(cause: unknown): void {
    parts.report({ kind: 'failed', step: 'task', cause });
    shift.end();
  }

  return {
    begin() {
      const tasks = [
        plan(listening),
        writeBatches(listening),
        watchTime(listening),
        shift.each(secretEveryMs, watchSecret),
      ];
      const kept = sessions.map((one, index) => keepSession(listening, one, index, closed.signal));
      connections = Promise.all(kept.map((one) => one.catch(fail)));
      return tasks;
    },
    fail,
    async settle(tasks) {
      await tasks;
      noteSessions(listening);
    },
    /** The upstream counts a connection for a minute after its end, but not one that another takes the place of. */
    async close(isLost) {
      const isHandedOn = !isLost && !shift.stopped.aborted && !isReplaced;
      if (isHandedOn) await settledWithin(parts, connections, handOverMs);
      closed.abort();
      await connections;
      return {
        result: isLost ? 'lease_lost' : 'listened',
        ...((isLost || isReplaced) && { again: { result: 'not_needed' } }),
      };
    },
  };
}

/** Opens a session when there are symbols for it. */
async function keepSession(
  listening: MarketListening,
  session: MarketSession,
  index: number,
  closed: AbortSignal,
): Promise<void> {
  const { pause } = listening.parts;
  const { over } = listening.shift;
  while (!over.aborted && listening.assigned.size <= index * symbolsEach) await pause(turnMs, over);
  if (!over.aborted) await keepConnected(session, over, closed);
}

/** Makes one subscription request a turn, for all sessions together. */
async function plan(listening: MarketListening): Promise<void> {
  const { parts, account, sessions, shift } = listening;
  const { over } = shift;
  for (let turn = 0, assignAt = 0; !over.aborted; turn++) {
    await account.demand.poll();
    const now = parts.clock();
    if (now >= assignAt) {
      assignSymbols(listening);
      assignAt = now + assignEveryMs;
    }
    for (const session of sessions) watch(session, now);
    noteSessions(listening);
    for (let index = 0; index < sessions.length; index++)
      if (await sync(sessions[(turn + index) % sessions.length]!)) break;
    await parts.pause(turnMs, over);
  }
}

/** For the next listener, which connects with the same ids. */
const noteSessions = ({ shift, sessions }: MarketListening): void =>
  shift.lease.note({ sessionIds: sessions.map(({ id }) => id) });

/** Chooses the symbols to carry. One stays with its session; a new one goes where there is room. */
function assignSymbols(listening: MarketListening): void {
  const { account, refusals, sessions } = listening;
  listening.wanted = account.demand.wanted().filter((one) => !refusals.has(one));
  const carried = [...listening.assigned].filter((key) => !refusals.has(symbolOf(key)));
  listening.assigned = assign(new Set(carried), listening.wanted, sessions.length * symbolsEach);
  const left = new Set(listening.assigned);
  const places = sessions.map((session) => {
    const kept = session.desired.filter((one) => left.delete(keyOf(one)));
    return { session, symbols: [...kept] };
  });
  for (const key of left) {
    const one = symbolOf(key);
    // Messages name no category: two symbols of one name are never in one session.
    const place = places.find(
      ({ symbols }) => symbols.length < symbolsEach && symbols.every(({ symbol }) => symbol !== one.symbol),
    );
    place?.symbols.push(one);
  }
  for (const { session, symbols } of places) session.desired = symbols;
}

async function writeBatches({ parts, account, shift, sessions }: MarketListening): Promise<void> {
  const { pause, clock, report } = parts;
  const { over, lease } = shift;
  const batches = new Batches(account.log, sessions);
  while (!over.aborted && lease.isHeld()) {
    try {
      await batches.write(clock());
    } catch (cause) {
      report({ kind: 'failed', step: 'log', cause });
      await pause(turnMs, over);
    }
    await pause(batchMs, over);
  }
}

async function watchTime(listening: MarketListening): Promise<void> {
  const { shift } = listening;
  if (!shift.over.aborted) reportState(listening);
  await shift.watchTime(() => reportState(listening));
}

function reportState({ parts, sessions, wanted }: MarketListening): void {
  const now = parts.clock();
  const connected = sessions.filter(({ isConnected }) => isConnected);
  const symbols = connected.flatMap(carriedBy);
  const signs = connected.map(({ life }) => now - life.signAt);
  parts.report({
    kind: 'state',
    sessions: connected.length,
    symbols: symbols.length,
    torn: symbols.filter(isTorn).length,
    wanted: wanted.length,
    ...(signs.length > 0 && { lastSignAgeMs: Math.max(...signs) }),
  });
}
