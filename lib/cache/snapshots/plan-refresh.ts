/**
 * What a turn asks for. Of the symbols in use those with the greatest age × demand^¼: with the square root
 * the mean would be a little better and the tail much worse. The sum of the squares is what a call is worth:
 * by it views, and groups under suspicion, compete for the one budget.
 */

import type { SnapshotMemory } from './memory.ts';
import type { SnapshotOptions } from './options.ts';
import type { RefreshPriority } from './ports.ts';
import type { Flight, PendingMiss, RefreshKind } from './store.ts';
import { markOf, type SnapshotEntry, type ViewEntries } from './view-entries.ts';

export interface RefreshPlan {
  readonly kind: RefreshKind;
  readonly view: string;
  readonly symbols: readonly string[];
  readonly sibling?: readonly string[];
  readonly caller?: string;
  /** It asks for a symbol that the directory does not list. */
  readonly isProbe?: true;
  /** How many symbols that are waited for stay for a later turn of this kind. */
  readonly left?: number;
}

export interface Situation {
  readonly board: SnapshotMemory;
  readonly figures: SnapshotOptions;
  readonly flights: readonly Flight[];
  /** What is waited for, here and elsewhere. */
  readonly wants: readonly PendingMiss[];
  readonly now: number;
  /** For whom calls are planned already that are made at the same time. */
  readonly planned?: readonly (string | undefined)[];
}

/** A quote that is waited for counts as one of this age. */
const wantedAgeMs = 5000;

interface Scored {
  readonly symbol: string;
  readonly score: number;
}

/** A call that keeps quotes fresh; undefined when none is in use. */
export function planRefresh(situation: Situation): RefreshPlan | undefined {
  const { board, now } = situation;
  const awake = [...board.sheets.values()].filter(({ view }) => !board.isResting(view.id, now));
  const sheets = awake.map((sheet) => scored(sheet, situation));
  const wanted = wantsByView(situation);
  const plans = sheets.flatMap(({ sheet, floor, alone, groups }) => {
    const { isProven } = board.symbols(sheet.view.category);
    const all = wanted.get(sheet.view.id) ?? [];
    const wants = board.trustsList(now) ? all : all.filter(isProven);
    const value = wants.length * (wantedAgeMs * floor) ** 2;
    const symbols = topped(wants, alone, situation.figures.mostSymbols);
    const refresh = { kind: 'refresh' as const, view: sheet.view.id, symbols };
    return [
      { value: value + worth(alone.slice(0, situation.figures.mostSymbols)), plan: refresh },
      ...groups.map(({ plan, lines }) => ({ value: worth(lines), plan })),
    ];
  });
  const useful = plans.filter(({ plan }) => plan.symbols.length > 0);
  return useful.sort((a, b) => b.value - a.value)[0]?.plan;
}

/** A call for quotes that are waited for, of the view where most are, filled up with others that are due. */
export function planMisses(situation: Situation): RefreshPlan | undefined {
  const byView = [...wantsByView(situation)];
  const [most] = byView.sort(([, a], [, b]) => b.length - a.length);
  if (!most) return undefined;
  const [view, all] = most;
  const { board, now } = situation;
  const proven = board.trustsList(now) ? all : all.filter(board.symbolsOf(view).isProven);
  const isAlone = proven.length === 0;
  const wants = isAlone ? all : proven;
  const alone = isAlone ? [] : scored(board.sheet(view), situation).alone;
  const symbols = topped(wants, alone, situation.figures.mostSymbols);
  const caller = situation.wants.find((want) => want.view === view && wants.includes(want.symbol))?.caller;
  const left = byView.reduce((total, [, { length }]) => total + length, 0);
  const taken = Math.min(wants.length, situation.figures.mostSymbols);
  return { kind: 'wanted', view, symbols, left: left - taken, ...(caller && { caller }) };
}

/**
 * A call that learns whether symbols exist. Callers who bring few new symbols share one; a caller who brings many, or
 * whose symbols failed, has calls apart, so that its junk delays no other caller's symbols. The caller with the fewest
 * tests in the last minute comes first.
 */
export function planProbe(situation: Situation): RefreshPlan | undefined {
  const { board, figures, now } = situation;
  // In whatever view a symbol is asked for, the answer says whether it exists; then, whether it does in that view.
  const flights = situation.flights.map((flight) => ({ ...flight, view: categoryOf(board, flight.view) }));
  const marks = marksInFlight(flights);
  const marksByView = marksInFlight(situation.flights);
  const calls = new Map<string, Call>();
  const isInFlight = (view: string, symbol: string) =>
    (board.symbolsOf(view).exists(symbol) ? marksByView.get(view) : marks.get(categoryOf(board, view)))?.has(
      markOf(symbol),
    ) ?? false;
  const put = (call: Omit<Call, 'waiting' | 'kind' | 'isServed'>, waiting: number, among?: string) => {
    const key = `${among ?? call.caller}/${call.view}/${call.sibling ? call.symbols[0] : ''}`;
    const known = calls.get(key);
    if (known) known.waiting += waiting;
    else {
      const { lines } = board.sheet(call.view);
      const isServed = call.symbols.some((symbol) => lines.has(symbol));
      calls.set(key, { kind: 'test', ...call, waiting, isServed });
    }
    return calls.get(key)!;
  };
  for (const category of new Set([...board.sheets.values()].map(({ view }) => view.category)))
    for (const { symbols, sibling, view, caller } of board.symbols(category).pending(now))
      if (!board.isResting(view, now) && !symbols.some((symbol) => isInFlight(view, symbol)))
        put({ view, caller, sibling, symbols: [...symbols] }, symbols.length);
  const brought = new Map<string, number>();
  for (const { caller } of situation.wants) brought.set(caller, (brought.get(caller) ?? 0) + 1);
  /** By call, whose symbols are in it. */
  const callersOf = new Map<Call, Map<string, number>>();
  for (const { view, symbol, caller, request } of situation.wants) {
    const symbols = board.symbolsOf(view);
    if (symbols.isGood(symbol, view) || symbols.unknown(symbol, view, now)) continue;
    if (symbols.isPutOff(symbol, view, now)) continue;
    if (isInFlight(view, symbol)) continue;
    const group = symbols.groupOf(symbol, view, now);
    const probe = symbols.isUnlisted(symbol) && { isProbe: true as const };
    if (group) put({ view, caller, sibling: group.sibling, symbols: [...group.symbols], ...probe }, 1);
    else {
      // Among the symbols of a request that fails, those of another would have to wait. The phones of one app are in
      // many networks, and bring few symbols each.
      const among = board.junk.isSuspect(caller, now)
        ? `${caller}.${request}`
        : (brought.get(caller) ?? 0) <= figures.fewSymbols
          ? anybody
          : caller;
      const call = put({ view, caller, symbols: [] }, 1, `/${among}`);
      const most = Math.min(symbols.perTest, symbols.isNamed ? figures.mostSymbols : figures.mostTested);
      if (call.symbols.length >= most || call.symbols.includes(symbol)) continue;
      call.symbols.push(symbol);
      const callers = callersOf.get(call) ?? new Map<string, number>();
      callersOf.set(call, callers.set(caller, (callers.get(caller) ?? 0) + 1));
    }
  }
  // Whoever has most symbols in a call pays for it.
  for (const [call, callers] of callersOf)
    call.caller = [...callers].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
  const fewest = new Map<string, number>();
  for (const { caller } of calls.values())
    if (!fewest.has(caller)) {
      const planned = situation.planned?.filter((one) => one === caller).length ?? 0;
      fewest.set(caller, board.turns('test', now, caller) + planned);
    }
  // Of one whose symbols fail, what is new comes before what failed, and little before much.
  const rank = ({ caller, sibling, symbols }: Call) =>
    board.junk.isSuspect(caller, now) ? symbols.length + (sibling ? figures.mostSymbols : 0) : 0;
  const [best] = [...calls.values()]
    .filter(({ caller }) => {
      const underWay = situation.flights.filter((flight) => flight.caller === caller);
      return !board.junk.isSpent(caller, now, underWay);
    })
    .sort(
      (a, b) =>
        Number(a.isServed) - Number(b.isServed) ||
        fewest.get(a.caller)! - fewest.get(b.caller)! ||
        rank(a) - rank(b) ||
        b.waiting - a.waiting,
    );
  if (!best) return undefined;
  const { waiting, isServed: _, ...plan } = best;
  const all = [...calls.values()].reduce((total, call) => total + call.waiting, 0);
  return { ...plan, left: all - waiting };
}

/** Stands for callers whose symbols go into one call. */
const anybody = '*';

const categoryOf = (board: SnapshotMemory, view: string) => board.sheet(view).view.category;

interface Call extends RefreshPlan {
  caller: string;
  readonly symbols: string[];
  /** Then it is tested in the place of a refresh, too, and comes last here. */
  readonly isServed: boolean;
  waiting: number;
}

/**
 * What a turn asks its permission with: it is as urgent as the most urgent of those who wait for it.
 *
 * @param byEvents whether whoever takes it is driven by events
 */
export function priorityOf(plan: RefreshPlan, { wants }: Situation, byEvents: boolean): RefreshPriority {
  const symbols = new Set(plan.symbols);
  const served = wants.filter((want) => want.view === plan.view && symbols.has(want.symbol));
  if (served.some((want) => !want.byEvents)) return 'interactive';
  if (served.length > 0) return 'events';
  return byEvents ? 'background' : 'interactive';
}

/** Of the wants those that may go along with others, by view; not what is under way already. */
function wantsByView({ board, flights, wants, now }: Situation): Map<string, string[]> {
  const marks = marksInFlight(flights);
  const byView = new Map<string, Set<string>>();
  for (const { view, symbol } of wants) {
    if (!board.symbolsOf(view).isGood(symbol, view)) continue;
    if (board.isResting(view, now)) continue;
    if (marks.get(view)?.has(markOf(symbol))) continue;
    byView.set(view, (byView.get(view) ?? new Set()).add(symbol));
  }
  return new Map([...byView].map(([view, symbols]) => [view, [...symbols]]));
}

/** A sheet's lines in use by what refreshing them is worth, best first. */
function scored(sheet: ViewEntries, { board, figures, flights, now }: Situation) {
  const { demandExponent, demandFloor } = figures;
  const symbols = board.symbols(sheet.view.category);
  const inFlight = marksInFlight(flights).get(sheet.view.id);
  const lines = sheet.inUse(now);
  const least = Math.max(1e-9, (demandFloor * sum(lines)) / Math.max(1, lines.length));
  const alone: Scored[] = [];
  const groups = new Map<string, { readonly plan: RefreshPlan; readonly lines: Scored[] }>();
  for (const line of lines) {
    if (inFlight?.has(line.mark)) continue;
    const score = (now - line.sentAt) * Math.max(line.demand, least) ** demandExponent;
    const one = { symbol: line.symbol, score };
    if (symbols.isGood(line.symbol, sheet.view.id)) {
      alone.push(one);
      continue;
    }
    if (symbols.isPutOff(line.symbol, sheet.view.id, now)) continue;
    const group = symbols.groupOf(line.symbol, sheet.view.id, now) ?? { symbols: [line.symbol], sibling: [] };
    const key = group.symbols[0] ?? '';
    const plan = { kind: 'test' as const, view: sheet.view.id, ...group };
    groups.set(key, { plan, lines: [...(groups.get(key)?.lines ?? []), one] });
  }
  alone.sort((a, b) => b.score - a.score);
  return { sheet, floor: least ** demandExponent, alone, groups: [...groups.values()] };
}

function topped(first: readonly string[], others: readonly Scored[], most: number): readonly string[] {
  const symbols = new Set(first.slice(0, most));
  for (const { symbol } of others) {
    if (symbols.size >= most) break;
    symbols.add(symbol);
  }
  return [...symbols];
}

function marksInFlight(flights: readonly Flight[]): ReadonlyMap<string, ReadonlySet<number>> {
  const marks = new Map<string, Set<number>>();
  for (const flight of flights) {
    const of = marks.get(flight.view) ?? new Set();
    for (const mark of flight.marks) of.add(mark);
    marks.set(flight.view, of);
  }
  return marks;
}

const worth = (lines: readonly Scored[]) => lines.reduce((total, { score }) => total + score * score, 0);
const sum = (lines: readonly SnapshotEntry[]) => lines.reduce((total, { demand }) => total + demand, 0);
