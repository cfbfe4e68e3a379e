/**
 * Snapshots for many clients out of few upstream calls. Every instance answers from memory, and looks into
 * the journal while it serves. Whoever serves when a refresh is due makes it, and is the only one to wait;
 * who asks for what nobody has waits with all who want the like.
 */

import type { SnapshotCache } from './call.ts';
import { createContention } from './contention.ts';
import { createDirectory, type DirectoryPorts } from './directory.ts';
import { SnapshotMemory } from './memory.ts';
import { defaultSnapshotOptions, minuteMs, type SnapshotOptions } from './options.ts';
import type { AskUpstream, RefreshPermits, RefreshPriority, Runtime } from './ports.ts';
import { outcomeOf, type ReadResult, readMemory } from './read.ts';
import { createRefresher, type Requester } from './refresh.ts';
import { createRefreshLog } from './refresh-log.ts';
import { missKey, missMs, type PendingMiss, type RefreshKind, type SnapshotStore } from './store.ts';
import type { View } from './view.ts';
import { markOf } from './view-entries.ts';

export interface SnapshotCacheOptions extends Partial<Runtime> {
  readonly store: SnapshotStore;
  readonly permissions: RefreshPermits;
  readonly upstream: AskUpstream;
  /** Where it is said which symbols exist. Default: nowhere, and every symbol is tested. */
  readonly directory?: Omit<DirectoryPorts, 'clock'>;
  readonly figures?: Partial<SnapshotOptions>;
}

export type { Snapshot, SnapshotCache, SnapshotCall, SnapshotOutcome } from './call.ts';

/** The least time that a turn needs. */
const leastTurnMs = 500;
/** How long a request that has something to show waits for something newer. */
const softWaitMs = 1000;
/** How long a request waits when there is no store: for its own turn, because nobody shares the work. */
const aloneWaitMs = 100;
/** A request that waits looks again after the first time, and then ever less often. */
const firstNapMs = 30;
const longestNapMs = 250;
const helpAfterMs = 60;
/** How much longer than its wait a request's own call may take. */
const lastCallMs = 900;
/** How long a request waits for a probe alone; if it takes longer, the directory's word counts. */
const probeWaitMs = 800;
/** What a request that got nothing is told to wait, at least. */
const minRetryMs = 1000;
const anybody = '';

/** What a request that waits did last: `asked` when it was this one that asked the upstream. */
type Step = 'looked' | 'asked' | 'waited' | 'left';

/** One request that looks for what is missing. */
interface Seeker {
  readonly napMs: number;
  /** Whether the step before was a look into the journal: then this one is another. */
  readonly hasLooked: boolean;
  readonly taker: Requester;
  /** Whether it is counted among those that wait. */
  readonly waits: { isCounted: boolean };
}

export function createSnapshotCache(options: SnapshotCacheOptions): SnapshotCache {
  const figures: SnapshotOptions = { ...defaultSnapshotOptions, ...options.figures };
  const runtime: Runtime = {
    clock: options.clock ?? Date.now,
    sleep: options.sleep ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms))),
    random: options.random ?? Math.random,
  };
  const { clock, sleep, random } = runtime;
  const { store } = options;
  const directory = options.directory && createDirectory({ ...options.directory, clock });
  const board = new SnapshotMemory(figures, directory);
  const journal = createRefreshLog(store, runtime, figures, board);
  const turns = createRefresher({ ...options, runtime, directory }, journal, board, figures);
  const contention = createContention(random);
  let refreshing = false;
  /** When this instance last told others that it misses something, by `wantKey`. */
  const toldAt = new Map<string, number>();

  /** Brings the memory up to date, and refreshes if it is time and nobody here does already. */
  async function keepUp(taker: Requester, onlyIfCached = false): Promise<void> {
    if (journal.isOld(clock())) await journal.poll();
    if (onlyIfCached || refreshing || !isRefreshDue(taker) || taker.deadline - clock() < leastTurnMs) return;
    refreshing = true;
    try {
      // What is due may be somebody else's by now.
      if (!journal.isCurrent(clock())) await journal.poll();
      if (isRefreshDue(taker)) contention.heed(await turns.take('refresh', [], taker));
    } finally {
      refreshing = false;
    }
  }

  function isRefreshDue({ byEvents }: Requester): boolean {
    // Where there are clients, one of them refreshes, with more urgency.
    const due = byEvents
      ? dueAt('refresh', 'background') + 2 * figures.paceMs
      : dueAt('refresh', 'interactive');
    return clock() >= due + contention.delayMs(journal.control.turn);
  }

  function dueAt(kind: RefreshKind, priority: RefreshPriority): number {
    const due = Math.max(journal.due(kind, clock()), board.notBefore(kind, priority));
    if (kind !== 'test' || priority === 'interactive') return due;
    // Half of the tests are left to clients.
    const { left, at } = journal.control.tests;
    return Math.max(
      due,
      Math.min(at, clock()) + ((figures.testBurst / 2 - left) * minuteMs) / figures.testsPerMinute,
    );
  }

  /** Whether it makes sense to wait for what was not found. */
  function isWorthWaiting(
    { older, missing }: ReadResult,
    { caller, view, isWish }: { readonly caller: string; readonly view: View; readonly isWish: boolean },
  ): boolean {
    if (missing.length > 0) return !board.isDown(clock()) && !isRefused(missing, view, caller);
    if (older.length === 0 || board.failures > 0 || journal.isAway(clock())) return false;
    return !isWish || board.turns('wanted', clock(), caller) < figures.refreshesPerMinute;
  }

  /** Whether all that is missing has to be tested, and so much of the caller's failed that nobody does. */
  const isRefused = (missing: readonly string[], view: View, caller: string) =>
    board.junk.isSpent(caller, clock()) &&
    !missing.some((symbol) => board.symbolsOf(view.id).isGood(symbol, view.id));

  /** Whether nobody asks the upstream before then: there is no permission, or it wants to be left alone. */
  const isInVain = (priority: RefreshPriority, end: number) =>
    Math.min(dueAt('wanted', priority), dueAt('test', priority)) >= end &&
    journal.flights(clock()).length === 0;

  /** One step towards what is missing. */
  async function seek(wants: readonly PendingMiss[], seeker: Seeker): Promise<Step> {
    const { napMs, hasLooked, taker } = seeker;
    if (!hasLooked && !journal.isCurrent(clock()) && !journal.isAway(clock())) {
      await journal.poll();
      return 'looked';
    }
    const now = clock();
    const { deadline, byEvents } = taker;
    const priority = byEvents ? 'events' : 'interactive';
    const flights = journal.flights(now);
    const open = wants.filter(
      ({ view, symbol }) =>
        !flights.some((flight) => flight.view === view && flight.marks.includes(markOf(symbol))),
    );
    if (open.length > 0 && (await journal.catchUp())) return 'looked';
    const isCrowded = journal.isCrowded(now);
    // An upstream that may be down is asked by one at a time.
    if (open.length === 0 || (board.isDoubtful && flights.length > 0))
      return isCrowded ? 'left' : nap(napMs * (0.5 + random()), seeker);
    const isGood = ({ view, symbol }: PendingMiss) => board.symbolsOf(view).isGood(symbol, view);
    const kind = open.some(isGood) ? 'wanted' : 'test';
    // What is only older than wished for is there for the others.
    const untold = open
      .filter(({ view, symbol }) => !board.sheet(view).lines.has(symbol))
      .map(missKey)
      .filter((key) => now - (toldAt.get(key) ?? 0) >= missMs);
    // Of many that wait for the same, those that come anew go on; the others help if no other does.
    const patience = untold.length > 0 && napMs === firstNapMs ? 0 : helpAfterMs * (1 + random());
    const isDue = now >= dueAt(kind, priority) + (isCrowded ? 0 : patience);
    const mayTry = !isCrowded || contention.mayTry(journal.starts);
    if (isDue && deadline - now >= leastTurnMs && mayTry) {
      const taken = await turns.take(kind, open, taker);
      contention.heed(taken);
      if (taken === 'taken') return 'asked';
      // Idle: in another view it is under way already.
      if (!isCrowded) return taken === 'idle' ? nap(napMs * (0.5 + random()), seeker) : 'waited';
    }
    if (untold.length > 0 && !journal.isAway(now))
      try {
        await store.tellMisses(untold);
        remember(untold, now);
      } catch (cause) {
        journal.failedAside(cause, clock());
      }
    // A request that waits has its instance for itself, and there are not enough of them for all.
    if (isCrowded) return 'left';
    // Not all at the same moment: the first takes what the others want along.
    const pause =
      Math.min(Math.max(patience, dueAt(kind, priority) - clock() + patience), napMs) + random() * 10;
    return nap(Math.min(pause, Math.max(1, deadline - now)), seeker);
  }

  function remember(keys: readonly string[], now: number): void {
    for (const [key, at] of toldAt) if (now - at >= missMs) toldAt.delete(key);
    for (const key of keys) toldAt.set(key, now);
  }

  async function nap(ms: number, { waits }: Seeker): Promise<'waited' | 'left'> {
    if (!waits.isCounted && !(await journal.mayWait())) return 'left';
    waits.isCounted = true;
    await sleep(ms);
    return 'waited';
  }

  return {
    async ask(call) {
      const arrived = clock();
      const { view, symbols, deadline = Number.POSITIVE_INFINITY } = call;
      const { caller } = call;
      const sheet = board.sheet(view.id);
      for (const symbol of symbols) {
        const line = sheet.lines.get(symbol);
        if (line) sheet.count(line, arrived);
      }
      const byEvents = call.priority === 'events';
      await keepUp({ deadline, byEvents }, call.onlyIfCached);
      const known = board.symbols(view.category);
      const isWish = call.maxAgeMs !== undefined;
      const priority = byEvents ? 'events' : 'interactive';
      const lookAgain = (mayProbe: boolean) =>
        readMemory(call, arrived, { board, figures, now: clock(), mayProbe });
      /** Of what the directory does not list, each caller has a few probes: it may be new. */
      const mayProbe = () =>
        !call.onlyIfCached &&
        !journal.isCrowded(clock()) &&
        !board.junk.isSpent(caller, clock()) &&
        dueAt('test', priority) <= arrived + probeWaitMs;
      let looked = lookAgain(mayProbe());
      if (directory && looked.missing.some((symbol) => !known.isGood(symbol, view.id))) {
        await directory.load();
        looked = lookAgain(mayProbe());
      }
      /** What there was before it waited, if it does. */
      let before: number | undefined;
      let own = false;
      let step: Step | undefined;
      let napMs = firstNapMs;
      const waits = { isCounted: false };
      const request = Math.floor(random() * 2 ** 32).toString(36);
      while (!call.onlyIfCached && isWorthWaiting(looked, { caller, view, isWish })) {
        const waitMs = journal.isAway(clock())
          ? aloneWaitMs
          : looked.missing.length > 0 && !board.isDoubtful
            ? figures.waitMs
            : softWaitMs;
        const isProbe =
          looked.missing.length > 0 && looked.missing.every((symbol) => board.isUnlisted(view.id, symbol));
        const end = Math.min(arrived + (isProbe ? Math.min(probeWaitMs, waitMs) : waitMs), deadline);
        const denied = board.denial(view.id, clock());
        if (clock() >= end || denied || isInVain(priority, end)) break;
        before ??= newsOf(looked);
        const sought = [...looked.missing, ...looked.older.map(({ symbol }) => symbol)];
        // Whose wish it is matters only for symbols that have to be tested, and for what is wanted anew.
        const wants = sought.map((symbol) => ({
          ...(isWish || !known.isGood(symbol, view.id) ? { caller, request } : { caller: anybody }),
          view: view.id,
          symbol,
          ...(byEvents && { byEvents }),
        }));
        // What it asks the upstream for ends soon after its wait does.
        const taker = { deadline: Math.min(deadline, end + lastCallMs), byEvents };
        step = await seek(wants, { napMs, hasLooked: step === 'looked', taker, waits });
        if (step === 'left') break;
        own ||= step === 'asked';
        napMs = step === 'asked' ? firstNapMs : Math.min(longestNapMs, napMs * 1.3);
        looked = lookAgain(mayProbe());
      }
      // Whoever waited in vain has what memory held all the time.
      const hasNews = before !== undefined && newsOf(looked) !== before;
      // What was not probed by now counts as the directory has it.
      if (looked.missing.length > 0) looked = lookAgain(false);
      for (const symbol of looked.unknown) board.countUnknown(view.id, symbol, clock());
      const from = hasNews ? (own ? 'own-turn' : 'other-turn') : 'memory';
      const now = clock();
      return outcomeOf(call, looked, from, {
        board,
        figures,
        now,
        isSpent: isRefused(looked.missing, view, caller),
        testDueAt: dueAt('test', priority),
        // Those that are told to come again do not all come at once.
        retryAfterMs: minRetryMs * (journal.isCrowded(now) ? 1 + Math.floor(2 * random()) : 1),
      });
    },
  };
}

/** Another number once anything newer is known. */
const newsOf = ({ found, older, unknown }: ReadResult) =>
  [...found, ...older].reduce((sum, { sentAt }) => sum + sentAt, unknown.length);
