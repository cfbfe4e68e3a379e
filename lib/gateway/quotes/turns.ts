/**
 * Taking a turn: one conditional write says whose it is; the one who has it draws a permission, asks the
 * upstream once and writes into the journal what came of it, so that all others have it too.
 */

import type { Board } from './board.ts';
import {
  type Plan,
  planRefresh,
  planTest,
  planWanted,
  priorityOf,
  type Situation,
  wantsOf,
} from './choose.ts';
import { coalesceMs, type Figures, minuteMs } from './figures.ts';
import type { Journal } from './journal.ts';
import type { AskUpstream, Permissions, Runtime, TurnPriority, UpstreamAnswer } from './ports.ts';
import { cutRecords } from './records.ts';
import { markOf } from './sheet.ts';
import {
  type Entry,
  type QuoteStore,
  readWant,
  type Turn,
  type TurnKind,
  type TurnOutcome,
  type Want,
} from './store.ts';

export interface TurnPorts {
  readonly store: QuoteStore;
  readonly permissions: Permissions;
  readonly upstream: AskUpstream;
  readonly runtime: Runtime;
}

/** `taken`: what came of it is known by now. `lost`: somebody else has it. `idle`: there is nothing to ask for. */
export type Taken = 'taken' | 'lost' | 'idle';

export interface Taker {
  readonly deadline: number;
  /** No client waits for whoever takes the turn. */
  readonly byEvents: boolean;
}

export interface Turns {
  /**
   * Takes a turn of this kind now, if there is anything to ask for and nobody else has it.
   *
   * @param own what the caller waits for himself
   */
  take(kind: TurnKind, own: readonly Want[], taker: Taker): Promise<Taken>;
}

const planners = { refresh: planRefresh, wanted: planWanted, test: planTest } as const;
/** How many symbols of each view an entry tells the demand of. */
const mostTold = 100;
/** Wanted turns a minute that may come one on the heels of the other. */
const wantedBurst = 60;
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

export function createTurns(ports: TurnPorts, journal: Journal, board: Board, figures: Figures): Turns {
  const { store, permissions, upstream, runtime } = ports;
  const { clock } = runtime;

  async function take(kind: TurnKind, own: readonly Want[], { deadline, byEvents }: Taker): Promise<Taken> {
    const now = clock();
    const wants = [...journal.control.wants.map(readWant), ...own];
    const situation: Situation = { board, figures, flights: journal.flights(now), wants, now };
    const plan = planners[kind](situation);
    if (!plan) return 'idle';
    const priority = priorityOf(plan, situation, byEvents);
    // A test in a refresh's place is paced like one: it takes nothing from those who bring new symbols.
    const turn = await claim({ ...plan, kind }, situation, priority);
    if (turn === undefined) return 'lost';
    const waitMs = turn === 0 ? 0 : permissionMs(plan.kind, priority);
    const { sentAt, outcome } = await askOnce(plan, deadline, { priority, waitMs });
    const entry: Entry = {
      turn,
      kind: plan.kind,
      view: plan.view,
      sentAt,
      symbols: plan.symbols,
      outcome,
      ...(plan.sibling && plan.sibling.length > 0 && { sibling: plan.sibling }),
      ...(plan.caller !== undefined && { caller: plan.caller }),
      ...(priority !== 'interactive' && { priority }),
      ...(board.symbolsOf(plan.view).isNamed && { namesUnknown: true }),
      failedTests: board.junk.tell(now),
      unknown: [...knownUnknown(situation), ...board.tellUnknown(situation.now)],
      asked: [...board.sheets].flatMap(([view, sheet]) =>
        sheet.tell(mostTold).map(([symbol, times]) => [view, symbol, times] as const),
      ),
    };
    journal.sawOwn(entry);
    if (turn > 0) await store.write(entry).catch(() => journal.failed(clock()));
    return 'taken';
  }

  /** The number of the turn; 0 when there is no store to ask, undefined when somebody else has it. */
  async function claim(
    plan: Plan,
    situation: Situation,
    priority: TurnPriority,
  ): Promise<number | undefined> {
    if (journal.isAway(situation.now)) return 0;
    const turn = journal.control.turn + 1;
    const next: Turn = {
      turn,
      ...pacedAfter(plan, situation.now, priority),
      flights: [
        ...situation.flights,
        { turn, at: situation.now, view: plan.view, marks: plan.symbols.map(markOf) },
      ],
      takesWants: wantsOf(plan, situation),
    };
    try {
      const answer = await store.take(next);
      if (!answer.taken) {
        journal.lostTo(answer.control);
        return undefined;
      }
      const taken = new Set(next.takesWants);
      journal.saw({ ...next, wants: journal.control.wants.filter((key) => !taken.has(key)) });
      return turn;
    } catch {
      journal.failed(clock());
      return 0;
    }
  }

  /** When the next turns are due, once one of this kind is taken. */
  function pacedAfter(
    { kind, left = 0 }: Plan,
    now: number,
    priority: TurnPriority,
  ): Pick<Turn, 'due' | 'tests'> {
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
      tests = { left: Math.min(testBurst, tests.left + back) - 1, at: now };
      due.test = now + Math.max(soonMs, (1 - tests.left) * msPerTest);
    }
    return { due, tests };
  }

  async function askOnce(
    plan: Plan,
    deadline: number,
    { priority, waitMs }: { readonly priority: TurnPriority; readonly waitMs: number },
  ): Promise<{ sentAt: number; outcome: TurnOutcome }> {
    const answer = await permitted({ priority, waitMs: Math.max(0, Math.min(waitMs, deadline - clock())) });
    const sentAt = clock();
    if (!answer.ok) {
      const notBefore = sentAt + Math.min(minuteMs, answer.retryAfterMs);
      return { sentAt, outcome: { kind: 'failed', notBefore, upstream: false } };
    }
    const timeoutMs = Math.max(1, Math.min(figures.upstreamTimeoutMs, deadline - sentAt));
    const { view } = board.sheet(plan.view);
    const said = await upstream(view, plan.symbols, answer.permission, timeoutMs).catch(
      (): UpstreamAnswer => ({ kind: 'failed' }),
    );
    return { sentAt, outcome: read(said, plan.symbols) };
  }

  /** Whatever breaks costs the turn; those who wait are still given what is known. */
  const permitted: Permissions['ask'] = (call) =>
    permissions.ask(call).catch(() => ({ ok: false, retryAfterMs: brokenMs }));

  /**
   * The next refresh is as good as one that is late; what a client waits for is worth more patience. Whoever is
   * less urgent keeps nobody waiting who wants the same.
   */
  const permissionMs = (kind: TurnKind, priority: TurnPriority) =>
    kind === 'refresh' || priority !== 'interactive' ? figures.paceMs : wantedPermissionMs;

  function read(answer: UpstreamAnswer, symbols: readonly string[]): TurnOutcome {
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

  function failed(retryAfterMs?: number): Extract<TurnOutcome, { kind: 'failed' }> {
    const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(10, board.failures));
    const notBefore = clock() + Math.min(minuteMs, retryAfterMs ?? pause);
    return { kind: 'failed', notBefore, upstream: true };
  }

  function knownUnknown({ wants, now }: Situation): NonNullable<Entry['unknown']> {
    return wants.flatMap(({ view, symbol }) => {
      const unknown = board.unknown(view, symbol, now);
      return unknown ? [[unknown.view, symbol, unknown.until] as const] : [];
    });
  }

  return { take };
}
