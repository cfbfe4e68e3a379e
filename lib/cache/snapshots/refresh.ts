/**
 * Taking a turn: one conditional write says whose it is; the one who has it draws a permission, asks the
 * upstream once and writes into the journal what came of it, so that all others have it too.
 */

import { StoreThrottled } from '../../store-throttled.ts';
import type { SymbolDirectory } from './directory.ts';
import type { SnapshotMemory } from './memory.ts';
import { checkpointMs, coalesceMs, minuteMs, type SnapshotOptions } from './options.ts';
import {
  planMisses,
  planProbe,
  planRefresh,
  priorityOf,
  type RefreshPlan,
  type Situation,
} from './plan-refresh.ts';
import type { AskUpstream, RefreshPermits, RefreshPriority, Runtime, UpstreamAnswer } from './ports.ts';
import { cutRecords } from './records.ts';
import type { RefreshLog } from './refresh-log.ts';
import {
  type CheckpointMark,
  type Control,
  type Flight,
  type PendingMiss,
  type RefreshKind,
  type RefreshOutcome,
  type RefreshRecord,
  readMiss,
  type SnapshotStore,
} from './store.ts';
import { markOf } from './view-entries.ts';

export interface RefreshPorts {
  readonly store: SnapshotStore;
  readonly permissions: RefreshPermits;
  readonly upstream: AskUpstream;
  readonly runtime: Runtime;
  readonly directory?: Pick<SymbolDirectory, 'advance'> | undefined;
}

/** `taken`: what came of it is known by now. `lost`: somebody else has it. `idle`: there is nothing to ask for. */
export type LeaseAnswer = 'taken' | 'lost' | 'idle';

export interface Requester {
  readonly deadline: number;
  /** No client waits for whoever takes the turn. */
  readonly byEvents: boolean;
}

export interface Refresher {
  /**
   * Takes a turn of this kind now, if there is anything to ask for and nobody else has it.
   *
   * @param own what the caller waits for himself
   */
  take(kind: RefreshKind, own: readonly PendingMiss[], taker: Requester): Promise<LeaseAnswer>;
}

/** Calls that one instance makes at the same time. */
const mostAtOnce = 8;
const flightOf = (
  turn: number,
  { kind, view, symbols, caller, isProbe }: RefreshPlan,
  now: number,
): Flight => ({
  turn,
  at: now,
  view,
  marks: symbols.map(markOf),
  ...(kind === 'test' && caller !== undefined && { caller }),
  ...(isProbe && { isProbe }),
});
const planners = { refresh: planRefresh, wanted: planMisses, test: planProbe } as const;
/** How many symbols of each view an entry tells the demand of. */
const mostTold = 100;
/** Wanted turns a minute that may come one on the heels of the other. */
const wantedBurst = 250;
/** So many that are left are worth a call. */
const manyLeft = 30;
/** For a permission; not so long that nobody counts on the turn any more. */
const wantedPermissionMs = 800;
/** After a failure of the upstream; twice as much after each further one. */
const firstPauseMs = 125;
const longestPauseMs = 1000;
const deniedMs = 30_000;
/** Without permissions nobody asks again for so long. */
const brokenMs = 1000;
/** An outcome that the store throttles is written again, so often and after such pauses: others wait for it. */
const writePausesMs = [20, 60, 180] as const;

export function createRefresher(
  ports: RefreshPorts,
  journal: RefreshLog,
  board: SnapshotMemory,
  figures: SnapshotOptions,
): Refresher {
  const { store, permissions, upstream, runtime, directory } = ports;
  const { clock, sleep, random } = runtime;
  const by = Math.floor(random() * 2 ** 24).toString(36);

  async function take(
    kind: RefreshKind,
    own: readonly PendingMiss[],
    { deadline, byEvents }: Requester,
  ): Promise<LeaseAnswer> {
    const isStarved = kind === 'refresh' && board.isStarved(clock());
    // Where nothing is missing, a refresh need not look for it.
    const isCalm = kind === 'refresh' && !isStarved && !journal.isCrowded(clock());
    const told = isCalm ? [] : await missesOfOthers();
    const now = clock();
    const wants = [...told.filter((want) => !isServed(want, now)), ...own];
    const situation: Situation = { board, figures, flights: journal.flights(now), wants, now };
    // A symbol that no instance holds comes before one that is only older.
    const instead = isStarved ? planProbe(situation) : undefined;
    const plans = instead ? [instead] : planAll(kind, situation);
    if (plans.length === 0) return 'idle';
    const calls = plans.map((plan) => ({ plan, priority: priorityOf(plan, situation, byEvents) }));
    // A test in a refresh's place is paced like one: it takes nothing from those who bring new symbols.
    const claimed = await claim(kind, calls, situation);
    if (claimed === undefined) return 'lost';
    const said = [...knownUnknown(situation), ...board.tellUnknown(now)];
    // A page of the directory beside a refresh: of all requests, this one waits for the upstream anyway.
    const page = kind === 'refresh' && claimed.first > 0 ? directory?.advance(deadline) : undefined;
    await Promise.all([
      page,
      ...calls.map(({ plan, priority }, index) => {
        const turn = claimed.first === 0 ? 0 : claimed.first + index;
        return carryOut(turn, plan, priority, { deadline, now, unknown: index === 0 ? said : [] });
      }),
    ]);
    if (claimed.writesCheckpoint) await writeCheckpoint();
    return 'taken';
  }

  /** As many calls at once as are needed, each with other symbols; only what is waited for is worth more than one. */
  function planAll(kind: RefreshKind, situation: Situation): readonly RefreshPlan[] {
    const plans: RefreshPlan[] = [];
    const flights = [...situation.flights];
    const { tests } = journal.control;
    const most = kind === 'refresh' ? 1 : kind === 'test' ? Math.min(mostAtOnce, tests.left) : mostAtOnce;
    do {
      const callers = plans.map(({ caller }) => caller);
      const plan = planners[kind]({ ...situation, flights, planned: callers });
      // In a storm a small call would spend a permit that the next one fills better.
      const isSmall = plan && plan.symbols.length < manyLeft / 2 && journal.isCrowded(situation.now);
      if (!plan || (plans.length > 0 && isSmall)) break;
      plans.push(plan);
      flights.push(flightOf(0, plan, situation.now));
    } while (plans.length < most);
    return plans;
  }

  async function carryOut(
    turn: number,
    plan: RefreshPlan,
    priority: RefreshPriority,
    {
      deadline,
      now,
      unknown,
    }: Pick<Requester, 'deadline'> & { now: number; unknown: NonNullable<RefreshRecord['unknown']> },
  ): Promise<void> {
    const waitMs = turn === 0 ? 0 : permissionMs(plan.kind, priority);
    const { sentAt, outcome } = await askOnce(plan, deadline, { priority, waitMs });
    const entry: RefreshRecord = {
      turn,
      by,
      kind: plan.kind,
      view: plan.view,
      sentAt,
      symbols: plan.symbols,
      outcome,
      ...(plan.sibling && plan.sibling.length > 0 && { sibling: plan.sibling }),
      ...(plan.caller !== undefined && { caller: plan.caller }),
      ...(priority !== 'interactive' && { priority }),
      ...(plan.isProbe && { isProbe: true }),
      ...(board.symbolsOf(plan.view).isNamed && { namesUnknown: true }),
      failedTests: board.junk.tell(now),
      unknown,
      asked: [...board.sheets].flatMap(([view, sheet]) =>
        sheet.tell(mostTold).map(([symbol, times]) => [view, symbol, times] as const),
      ),
    };
    journal.sawOwn(entry);
    if (turn > 0) await writeSurely(entry).catch((cause) => journal.failed(cause, clock()));
  }

  /** What other requests miss, together with a look at the journal: both are as of now. */
  async function missesOfOthers(): Promise<readonly PendingMiss[]> {
    if (journal.isAway(clock())) return [];
    const isCurrent = journal.isCurrent(clock());
    const [keys] = await Promise.all([
      store.readMisses().catch((cause: unknown): readonly string[] => {
        journal.failedAside(cause, clock());
        return [];
      }),
      isCurrent ? undefined : journal.poll(),
    ]);
    return keys.map(readMiss);
  }

  /**
   * Whether it is there and is kept fresh: then the instance that told it is behind, and will read it. What nobody
   * asked for any more stands in no checkpoint and is not refreshed.
   */
  function isServed({ view, symbol }: PendingMiss, now: number): boolean {
    const line = board.sheet(view).lines.get(symbol);
    if (line === undefined || now - line.askedAt > figures.forgetMs) return false;
    return now - line.sentAt < figures.expireAfterMs;
  }

  async function writeCheckpoint(): Promise<void> {
    const now = clock();
    await store
      .writeCheckpoint(0, board.checkpoint(journal.readUpTo(now), now))
      .catch((cause) => journal.failedAside(cause, now));
  }

  async function writeSurely(entry: RefreshRecord): Promise<void> {
    for (const pauseMs of writePausesMs)
      try {
        return await store.write(entry);
      } catch (cause) {
        if (!(cause instanceof StoreThrottled)) throw cause;
        await sleep(pauseMs * (0.5 + random()));
      }
    return store.write(entry);
  }

  /** The number of the first turn is 0 when there is no store to ask; undefined when another instance has it. */
  async function claim(
    kind: RefreshKind,
    calls: readonly { readonly plan: RefreshPlan; readonly priority: RefreshPriority }[],
    { flights, now }: Situation,
  ): Promise<{ readonly first: number; readonly writesCheckpoint: boolean } | undefined> {
    const alone = { first: 0, writesCheckpoint: false };
    if (journal.isAway(now)) return alone;
    const { turn: after, checkpoint } = journal.control;
    const turn = after + calls.length;
    const writesCheckpoint = journal.isComplete && isCheckpointDue(turn, now);
    const next: Control = {
      turn,
      ...pacedAfter(kind, calls.length, calls.at(-1)!, now),
      flights: [...flights, ...calls.map(({ plan }, index) => flightOf(after + 1 + index, plan, now))],
      checkpoint: writesCheckpoint ? checkpointAfter(turn, now) : checkpoint,
    };
    try {
      const answer = await store.take(next, after);
      if (!answer.taken) {
        journal.lostTo(answer.control);
        return undefined;
      }
      journal.saw(next);
      return { first: after + 1, writesCheckpoint };
    } catch (cause) {
      journal.failed(cause, clock());
      // A store that throttles is there: another instance may have the turn, and this one must not act alone.
      return cause instanceof StoreThrottled ? undefined : alone;
    }
  }

  function isCheckpointDue(turn: number, now: number): boolean {
    const { checkpoint } = journal.control;
    const everyMs = journal.isCrowded(now) ? checkpointMs.storm : checkpointMs.calm;
    return turn >= checkpoint.turn + checkpoint.gap || now - checkpoint.at >= everyMs;
  }

  /** After a pause there is little to tell, and many may begin: at first each turn tells it, then ever fewer. */
  function checkpointAfter(turn: number, now: number): CheckpointMark {
    const { at, gap } = journal.control.checkpoint;
    const next = now - at > 2 * checkpointMs.calm ? 1 : Math.min(figures.checkpointTurns, 2 * gap);
    return { turn, at: now, records: board.recordsInUse(now), gap: next };
  }

  /** When the next turns are due, once so many of this kind are taken. */
  function pacedAfter(
    kind: RefreshKind,
    count: number,
    { plan: { left = 0 }, priority }: { readonly plan: RefreshPlan; readonly priority: RefreshPriority },
    now: number,
  ): Pick<Control, 'due' | 'tests'> {
    const { paceMs, testBurst, testsPerMinute } = figures;
    const { control } = journal;
    const due = { ...control.due };
    let { tests } = control;
    // Evenly, neither making up for a pause nor paying for what came in between: the budget sees to that.
    if (kind === 'refresh' || (kind === 'wanted' && priority === 'interactive')) {
      const next = Math.max(journal.due('refresh', now) + paceMs, now + paceMs / 2);
      due.refresh = Math.min(next, now + paceMs);
    }
    // Not at the same moment, or one waits for the other's permission; and not ever later, with test after test.
    // What events want puts off nothing.
    if (kind === 'test' && priority === 'interactive')
      due.refresh = Math.min(Math.max(due.refresh, now) + paceMs / 2, now + paceMs);
    const soonMs = left >= manyLeft ? coalesceMs.many : coalesceMs.few;
    if (kind === 'wanted') due.wanted = now + (board.turns('wanted', now) < wantedBurst ? soonMs : paceMs);
    if (kind === 'test') {
      const msPerTest = minuteMs / testsPerMinute;
      const back = Math.max(0, now - tests.at) / msPerTest;
      tests = { left: Math.min(testBurst, tests.left + back) - count, at: now };
      due.test = now + Math.max(soonMs, (1 - tests.left) * msPerTest);
    }
    return { due, tests };
  }

  async function askOnce(
    plan: RefreshPlan,
    deadline: number,
    { priority, waitMs }: { readonly priority: RefreshPriority; readonly waitMs: number },
  ): Promise<{ sentAt: number; outcome: RefreshOutcome }> {
    const answer = await permitted({ priority, waitMs: Math.max(0, Math.min(waitMs, deadline - clock())) });
    const sentAt = clock();
    if (!answer.ok) {
      const notBefore = sentAt + Math.min(minuteMs, answer.retryAfterMs);
      return { sentAt, outcome: { kind: 'failed', notBefore, upstream: false } };
    }
    const timeoutMs = Math.max(1, Math.min(figures.upstreamTimeoutMs, deadline - sentAt));
    const { view } = board.sheet(plan.view);
    const said = await upstream(view, plan.symbols, answer.permit, timeoutMs).catch(
      (): UpstreamAnswer => ({ kind: 'failed' }),
    );
    return { sentAt, outcome: read(said, plan.symbols) };
  }

  /** Whatever breaks costs the turn; those who wait are still given what is known. */
  const permitted: RefreshPermits['ask'] = (call) =>
    permissions.ask(call).catch(() => ({ ok: false, retryAfterMs: brokenMs }));

  /**
   * The next refresh is as good as one that is late; what a client waits for is worth more patience. Whoever is
   * less urgent keeps nobody waiting who wants the same.
   */
  const permissionMs = (kind: RefreshKind, priority: RefreshPriority) =>
    kind === 'refresh' || priority !== 'interactive' ? figures.paceMs : wantedPermissionMs;

  function read(answer: UpstreamAnswer, symbols: readonly string[]): RefreshOutcome {
    switch (answer.kind) {
      case 'answer': {
        const records = cutRecords(answer.body);
        if (!records) return failed();
        const asked = new Set(symbols);
        return {
          kind: 'answer',
          records: new Map([...records].filter(([symbol]) => asked.has(symbol))),
          unknown: symbols.filter((symbol) => !records.has(symbol)),
        };
      }
      case 'rejected':
        return answer;
      case 'denied':
        return { kind: 'denied', says: answer.says, until: clock() + (answer.forMs ?? deniedMs) };
      case 'failed':
        return { ...failed(answer.retryAfterMs), upstream: !answer.wasHeld };
    }
  }

  function failed(retryAfterMs?: number): Extract<RefreshOutcome, { kind: 'failed' }> {
    const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(10, board.failures));
    const notBefore = clock() + Math.min(minuteMs, retryAfterMs ?? pause);
    return { kind: 'failed', notBefore, upstream: true };
  }

  function knownUnknown({ wants, now }: Situation): NonNullable<RefreshRecord['unknown']> {
    return wants.flatMap(({ view, symbol }) => {
      const unknown = board.unknown(view, symbol, now);
      return unknown ? [[unknown.view, symbol, unknown.until] as const] : [];
    });
  }

  return { take };
}
