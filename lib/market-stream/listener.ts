/**
 * The listener of the market stream: waits for the lease, has the symbols in demand most carried by a few sessions, and
 * writes what they tell for all instances.
 *
 *     acquire      one listener                                        trade-events/lease.ts
 *     assign       demand → which symbols are carried                  assign.ts
 *     session      connect, subscribe, receive, notice silence         session.ts, life.ts
 *     message      bytes → members of a snapshot record                messages.ts
 *     batch        members → log of all instances                      batches.ts
 */

import type { ListenerSeams } from '../kernel/listener-runtime.ts';
import { acquireLease, type Lease, type LeaseParts } from '../trade-events/lease.ts';
import { assign, keyOf } from './assign.ts';
import { Batches } from './batches.ts';
import {
  type MarketStreamListener,
  type MarketStreamListenerOptions,
  type MarketStreamRun,
  type Parts,
  partsOf,
} from './listener-options.ts';
import type { AccountStream, WantedSymbol } from './ports.ts';
import { Refusals } from './refusals.ts';
import { isTorn, StreamSession } from './session.ts';

/** As those of the listener of trade events, for which they are explained. */
const leaseTuning = { leaseMs: 12_000, renewEveryMs: 3_000, pollMs: 100, waitMs: 75_000, marginMs: 2_000 };
/** Between two subscription requests: the upstream takes 60 in a minute. */
const turnMs = 1000;
const assignEveryMs = 5000;
const reportEveryMs = 60_000;
const secretEveryMs = 60_000;
/** The next listener has acquired the lease and connected long before. */
const handOverMs = 20_000;
/** Symbols that take the place of others within one assignment. */
const maxMoves = 20;

type Run = Parameters<MarketStreamListener['run']>[0];

/**
 * One listener of the quotes of an account. Start one every minute: those that are not needed resolve at once.
 *
 * @example
 * const listener = createMarketStreamListener({ transport, store, account });
 * const { result } = await listener.run({ until: Date.now() + 14 * 60_000 });
 */
export function createMarketStreamListener(
  options: MarketStreamListenerOptions & ListenerSeams,
): MarketStreamListener {
  const parts = partsOf(options);
  return { run: (call) => run(parts, call) };
}

async function run(
  parts: Parts,
  { until, signal = new AbortController().signal }: Run,
): Promise<MarketStreamRun> {
  const owner = crypto.randomUUID();
  const leaseParts: LeaseParts = {
    ...parts,
    tuning: leaseTuning,
    report: ({ cause }) => parts.report({ kind: 'failed', step: 'store', cause }),
  };
  for (;;) {
    const account = await parts.account().catch((cause: unknown) => {
      parts.report({ kind: 'failed', step: 'account', cause });
      return undefined;
    });
    if (!account) return { result: 'refused' };
    const lease = await acquireLease(leaseParts, { name: account.lease, owner, endsAt: until, signal });
    if (!lease) return { result: 'not_needed' };
    const shift = new Shift(parts, account, lease);
    const result = await shift.work(until, signal);
    const goesOn = result === 'lease_lost' || shift.isReplaced;
    if (!goesOn || signal.aborted || parts.clock() >= until) return { result };
  }
}

/** What one listener does while it has the lease. */
class Shift {
  readonly #parts: Parts;
  readonly #account: AccountStream;
  readonly #lease: Lease;
  readonly #sessions: readonly StreamSession[];
  readonly #refusals: Refusals;
  readonly #batches: Batches;
  readonly #over = new AbortController();
  /** Connections stay open for the next listener when all else is over. */
  readonly #closed = new AbortController();
  #assigned: ReadonlySet<string> = new Set();
  #wanted: readonly WantedSymbol[] = [];
  /** Ended because the secret names another account. */
  isReplaced = false;

  constructor(parts: Parts, account: AccountStream, lease: Lease) {
    const { tuning, clock } = parts;
    this.#parts = parts;
    this.#account = account;
    this.#lease = lease;
    this.#refusals = new Refusals(clock);
    this.#sessions = Array.from(
      { length: tuning.sessions },
      (_, index) =>
        new StreamSession(
          parts,
          account,
          lease.state.sessionIds?.[index] ?? crypto.randomUUID(),
          (refused, symbols) => this.#refusals.add(refused, symbols),
        ),
    );
    this.#batches = new Batches(account.log, this.#sessions);
  }

  async work(until: number, signal: AbortSignal): Promise<MarketStreamRun['result']> {
    const over = this.#over.signal;
    const stop = () => this.#over.abort();
    signal.addEventListener('abort', stop);
    this.#lease.lost.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const released = new AbortController();
    const leaseIsKept = this.#lease.keep(released.signal);
    const tasks = [this.#plan(), this.#write(), this.#watchTime(until), this.#watchSecret()];
    const connections = this.#sessions.map((one, index) => this.#keep(one, index));
    // What fails here is a defect: the listener ends, and another one begins.
    for (const task of [...tasks, ...connections])
      task.catch((cause: unknown) => {
        this.#parts.report({ kind: 'failed', step: 'task', cause });
        stop();
      });
    if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve));
    await Promise.allSettled(tasks);
    released.abort();
    await leaseIsKept;
    const isLost = this.#lease.lost.aborted;
    this.#noteSessions();
    await this.#lease.release();
    const isHandedOn = !isLost && !signal.aborted && !this.isReplaced;
    if (isHandedOn) await this.#handOn(connections);
    this.#closed.abort();
    await Promise.allSettled(connections);
    signal.removeEventListener('abort', stop);
    return isLost ? 'lease_lost' : 'listened';
  }

  /** The upstream counts a connection for a minute after its end, but not one that another takes the place of. */
  async #handOn(connections: readonly Promise<void>[]): Promise<void> {
    const taken = new AbortController();
    Promise.allSettled(connections).then(() => taken.abort());
    await this.#parts.pause(handOverMs, taken.signal);
  }

  /** A session is opened when there are symbols for it. */
  async #keep(session: StreamSession, index: number): Promise<void> {
    const { pause, tuning } = this.#parts;
    const over = this.#over.signal;
    while (!over.aborted && this.#assigned.size <= index * tuning.symbolsEach) await pause(turnMs, over);
    if (!over.aborted) await session.keep(over, this.#closed.signal);
  }

  /** One subscription request a turn, of all sessions together. */
  async #plan(): Promise<void> {
    const { pause, clock } = this.#parts;
    const over = this.#over.signal;
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
    this.#lease.note({ sessionIds: this.#sessions.map(({ id }) => id) });
  }

  #assign(): void {
    const { sessions, symbolsEach } = this.#parts.tuning;
    const capacity = sessions * symbolsEach;
    this.#wanted = this.#account.demand.wanted().filter((one) => !this.#refusals.has(one));
    const carried = [...this.#assigned].filter((key) => !this.#isRefused(key));
    this.#assigned = assign(new Set(carried), this.#wanted, { capacity, maxMoves });
    this.#distribute(symbolsEach);
  }

  #isRefused(key: string): boolean {
    return this.#refusals.has({ ...partsOfKey(key), demand: 0 });
  }

  /** A symbol stays with its session; one that is new goes where there is room. */
  #distribute(symbolsEach: number): void {
    const left = new Set(this.#assigned);
    const places = this.#sessions.map((session) => {
      const kept = session.desired.filter((one) => left.delete(keyOf(one)));
      return { session, symbols: [...kept] };
    });
    for (const key of left) {
      const one = { ...partsOfKey(key), demand: 0 };
      // Messages name no category: two symbols of one name are never in one session.
      const place = places.find(
        ({ symbols }) => symbols.length < symbolsEach && symbols.every(({ symbol }) => symbol !== one.symbol),
      );
      place?.symbols.push(one);
    }
    for (const { session, symbols } of places) session.want(symbols);
  }

  async #write(): Promise<void> {
    const { pause, clock, report, tuning } = this.#parts;
    const over = this.#over.signal;
    while (!over.aborted && this.#lease.isHeld()) {
      try {
        await this.#batches.write(clock());
      } catch (cause) {
        report({ kind: 'failed', step: 'log', cause });
        await pause(turnMs, over);
      }
      await pause(tuning.batchMs, over);
    }
  }

  async #watchTime(until: number): Promise<void> {
    const { clock, pause } = this.#parts;
    const over = this.#over.signal;
    for (let reportAt = clock(); !over.aborted; ) {
      if (clock() >= reportAt) {
        this.#report(clock());
        reportAt = clock() + reportEveryMs;
      }
      await pause(Math.min(reportAt, until) - clock(), over);
      if (clock() >= until) this.#over.abort();
    }
  }

  /** Sessions stay while the app key does: the broker has nothing else of the secret, and counts each for a minute after its end. */
  async #watchSecret(): Promise<void> {
    const over = this.#over.signal;
    while (!over.aborted) {
      await this.#parts.pause(secretEveryMs, over);
      if (over.aborted || (await this.#account.isCurrent().catch(() => true))) continue;
      this.isReplaced = true;
      this.#over.abort();
    }
  }

  #report(now: number): void {
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

function partsOfKey(key: string): { readonly category: string; readonly symbol: string } {
  const at = key.indexOf(' ');
  return { category: key.slice(0, at), symbol: key.slice(at + 1) };
}
