/**
 * The listener of the market stream: waits for the lease, has the symbols in demand most carried by a few sessions, and
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
  type ShiftEnd,
  type ShiftWork,
} from '../listener/shift.ts';
import { assign, keyOf, Refusals, symbolOf } from './assign.ts';
import { Batches } from './batches.ts';
import { defaultSessions, type MarketStreamListenerOptions, type Parts } from './listener-options.ts';
import type { AccountStream, WantedSymbol } from './ports.ts';
import { isTorn, StreamSession } from './session.ts';

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
/** Symbols that take the place of others within one assignment. */
const maxMoves = 20;

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

async function workOf(parts: Parts): Promise<LeasedWork | undefined> {
  try {
    const account = await parts.account();
    return { name: account.lease, start: (shift) => new Listening(parts, account, shift) };
  } catch (cause) {
    parts.report({ kind: 'failed', step: 'account', cause });
    return undefined;
  }
}

/** What one listener does while it has the lease. */
class Listening implements ShiftWork {
  readonly #parts: Parts;
  readonly #account: AccountStream;
  readonly #shift: Shift;
  readonly #sessions: readonly StreamSession[];
  readonly #refusals: Refusals;
  readonly #batches: Batches;
  /** Connections stay open for the next listener when all else is over. */
  readonly #closed = new AbortController();
  #connections: Promise<unknown> = Promise.resolve();
  #assigned: ReadonlySet<string> = new Set();
  #wanted: readonly WantedSymbol[] = [];
  /** Ended because the secret names another account. */
  #isReplaced = false;

  constructor(parts: Parts, account: AccountStream, shift: Shift) {
    const { tuning, clock } = parts;
    this.#parts = parts;
    this.#account = account;
    this.#shift = shift;
    this.#refusals = new Refusals(clock);
    this.#sessions = Array.from(
      { length: tuning.sessions ?? defaultSessions },
      (_, index) =>
        new StreamSession(
          parts,
          account,
          shift.lease.state.sessionIds?.[index] ?? crypto.randomUUID(),
          (refused, symbols) => this.#refusals.add(refused, symbols),
        ),
    );
    this.#batches = new Batches(account.log, this.#sessions);
  }

  begin(): readonly Promise<void>[] {
    const tasks = [
      this.#plan(),
      this.#write(),
      this.#watchTime(),
      this.#shift.each(secretEveryMs, () => this.#watchSecret()),
    ];
    const connections = this.#sessions.map((one, index) => this.#keep(one, index));
    this.#connections = Promise.all(
      connections.map((one) => one.catch((cause: unknown) => this.fail(cause))),
    );
    return tasks;
  }

  /** The listener ends, and another one begins. */
  fail(cause: unknown): void {
    this.#parts.report({ kind: 'failed', step: 'task', cause });
    this.#shift.end();
  }

  async settle(tasks: Promise<unknown>): Promise<void> {
    await tasks;
    this.#noteSessions();
  }

  /** The upstream counts a connection for a minute after its end, but not one that another takes the place of. */
  async close(isLost: boolean): Promise<ShiftEnd> {
    const isHandedOn = !isLost && !this.#shift.stopped.aborted && !this.#isReplaced;
    if (isHandedOn) await settledWithin(this.#parts, this.#connections, handOverMs);
    this.#closed.abort();
    await this.#connections;
    return {
      result: isLost ? 'lease_lost' : 'listened',
      ...((isLost || this.#isReplaced) && { again: { result: 'not_needed' } }),
    };
  }

  /** A session is opened when there are symbols for it. */
  async #keep(session: StreamSession, index: number): Promise<void> {
    const { pause } = this.#parts;
    const { over } = this.#shift;
    while (!over.aborted && this.#assigned.size <= index * symbolsEach) await pause(turnMs, over);
    if (!over.aborted) await session.keep(over, this.#closed.signal);
  }

  /** One subscription request a turn, of all sessions together. */
  async #plan(): Promise<void> {
    const { pause, clock } = this.#parts;
    const { over } = this.#shift;
    for (let turn = 0, assignAt = 0; !over.aborted; turn++) {
      await this.#account.demand.poll();
      const now = clock();
      if (now >= assignAt) {
        this.#assign();
        assignAt = now + assignEveryMs;
      }
      for (const session of this.#sessions) session.watch(now);
      this.#noteSessions();
      for (let index = 0; index < this.#sessions.length; index++)
        if (await this.#sessions[(turn + index) % this.#sessions.length]!.sync()) break;
      await pause(turnMs, over);
    }
  }

  /** For the next listener, which connects with the same ids. */
  #noteSessions(): void {
    this.#shift.lease.note({ sessionIds: this.#sessions.map(({ id }) => id) });
  }

  #assign(): void {
    const capacity = this.#sessions.length * symbolsEach;
    this.#wanted = this.#account.demand.wanted().filter((one) => !this.#refusals.has(one));
    const carried = [...this.#assigned].filter((key) => !this.#refusals.has(symbolOf(key)));
    this.#assigned = assign(new Set(carried), this.#wanted, { capacity, maxMoves });
    this.#distribute();
  }

  /** A symbol stays with its session; one that is new goes where there is room. */
  #distribute(): void {
    const left = new Set(this.#assigned);
    const places = this.#sessions.map((session) => {
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
    for (const { session, symbols } of places) session.want(symbols);
  }

  async #write(): Promise<void> {
    const { pause, clock, report } = this.#parts;
    const { over } = this.#shift;
    while (!over.aborted && this.#shift.lease.isHeld()) {
      try {
        await this.#batches.write(clock());
      } catch (cause) {
        report({ kind: 'failed', step: 'log', cause });
        await pause(turnMs, over);
      }
      await pause(batchMs, over);
    }
  }

  async #watchTime(): Promise<void> {
    if (!this.#shift.over.aborted) this.#report();
    await this.#shift.watchTime(() => this.#report());
  }

  /** Sessions stay while the app key does: the broker has nothing else of the secret, and counts each for a minute after its end. */
  async #watchSecret(): Promise<void> {
    if (await this.#account.isCurrent().catch(() => true)) return;
    this.#isReplaced = true;
    this.#shift.end();
  }

  #report(): void {
    const now = this.#parts.clock();
    const connected = this.#sessions.filter(({ isConnected }) => isConnected);
    const symbols = connected.flatMap(({ carried }) => carried);
    const signs = connected.map(({ signAt }) => now - signAt);
    this.#parts.report({
      kind: 'state',
      sessions: connected.length,
      symbols: symbols.length,
      torn: symbols.filter(isTorn).length,
      wanted: this.#wanted.length,
      ...(signs.length > 0 && { lastSignAgeMs: Math.max(...signs) }),
    });
  }
}
