/**
 * Plans what a call asks for. A refresh asks for the symbols in use with the greatest age × demand^¼: with the square
 * root the mean age would be a little lower and the tail much longer. The value of a call is the
 * sum of the squares: views, and suspect groups, compete by it for the one limit.
 *
 * A probe learns whether symbols exist. Callers with few new symbols share one; a caller with many, or whose symbols
 * failed, has calls of its own, so that its invalid symbols delay no other caller's. The caller with the fewest probes
 * in the last minute comes first.
 */

import type { Priority } from '../../limiter/index.ts';
import { fingerprintOf, type SnapshotEntry, type ViewEntries } from './entries.ts';
import type { SnapshotMemory } from './memory.ts';
import type { PendingMiss, RefreshFlight, RefreshKind } from './store.ts';
import { aloneGroup } from './symbol-status.ts';

export interface RefreshPlan {
  readonly kind: RefreshKind;
  readonly view: string;
  readonly symbols: readonly string[];
  readonly sibling?: readonly string[];
  readonly caller?: string | undefined;
  /** It asks for a symbol that the directory does not list. */
  readonly isUnlistedProbe?: true;
  /** How many missed symbols are left for a later call of this kind. */
  readonly remaining?: number;
}

export interface PlanInput {
  readonly memory: SnapshotMemory;
  readonly flights: readonly RefreshFlight[];
  /** The symbols that requests miss, here and elsewhere. */
  readonly misses: readonly PendingMiss[];
  readonly now: number;
  /** The callers of calls that are planned already and sent at the same time. */
  readonly plannedCallers?: readonly (string | undefined)[];
}

/** Symbols that one call of the upstream takes. */
export const maxSymbols = 100;
/**
 * Symbols that one call probes, until the upstream's error messages have proved to name unknown symbols: at one
 * unknown symbol in a hundred, two of three such calls succeed.
 */
const maxProbed = 40;
/** A caller with at most this many new symbols shares probes with other callers; one with more has its own. */
const maxSharedSymbols = 20;
/** Symbols are refreshed as often as demand to this power, relative to each other. */
const demandExponent = 0.25;
/** No symbol in use counts less than this part of the mean demand. */
const demandFloor = 0.1;
/** A missed entry counts as one of this age. */
const missAgeMs = 5000;

interface Scored {
  readonly symbol: string;
  readonly score: number;
}

interface ScoredView {
  readonly entries: ViewEntries;
  /** The score of a symbol without demand for each millisecond of its age. */
  readonly floor: number;
  /** Symbols that may go along with any others, best first. */
  readonly shareable: readonly Scored[];
  /** Suspect symbols, by the group that they are probed in. */
  readonly groups: readonly { readonly plan: RefreshPlan; readonly symbols: readonly Scored[] }[];
}

/** A call that keeps entries fresh; undefined when none is in use. */
export function planRefresh(input: PlanInput): RefreshPlan | undefined {
  const { memory, now } = input;
  const active = [...memory.views.values()].filter(({ view }) => !memory.isCoolingDown(view.id, now));
  const views = active.map((entries) => scoredView(entries, input));
  const missesOf = shareableMisses(input);
  const plans = views.flatMap(({ entries, floor, shareable, groups }) => {
    const { view } = entries;
    const all = missesOf.get(view.id) ?? [];
    const misses = memory.trustsDirectory(now) ? all : validOnly(all, input, view.id);
    const value = misses.length * (missAgeMs * floor) ** 2 + refreshValue(shareable.slice(0, maxSymbols));
    const symbols = filledUp(misses, shareable);
    return [
      { value, plan: { kind: 'refresh' as const, view: view.id, symbols } },
      ...groups.map((group) => ({ value: refreshValue(group.symbols), plan: group.plan })),
    ];
  });
  const useful = plans.filter(({ plan }) => plan.symbols.length > 0);
  return useful.sort((a, b) => b.value - a.value)[0]?.plan;
}

/** A call for the misses of the view with the most of them, filled up with entries that are due. */
export function planMisses(input: PlanInput): RefreshPlan | undefined {
  const { memory, now } = input;
  const byView = [...shareableMisses(input)];
  const [most] = byView.sort(([, a], [, b]) => b.length - a.length);
  if (!most) return undefined;
  const [view, all] = most;
  const valid = memory.trustsDirectory(now) ? all : validOnly(all, input, view);
  // Symbols that are only listed share no call with served ones, which would fail with them.
  const misses = valid.length === 0 ? all : valid;
  const others = valid.length === 0 ? [] : scoredView(memory.entriesOf(view), input).shareable;
  const symbols = filledUp(misses, others);
  const caller = input.misses.find((miss) => miss.view === view && misses.includes(miss.symbol))?.caller;
  const total = byView.reduce((sum, [, { length }]) => sum + length, 0);
  const remaining = total - Math.min(misses.length, maxSymbols);
  return { kind: 'miss', view, symbols, remaining, ...(caller && { caller }) };
}

/**
 * The priority of a call's permit: that of the most urgent request that waits for it.
 *
 * @param isEventDriven whether events drive the requester that acquires the lease
 */
export function priorityOf(plan: RefreshPlan, { misses }: PlanInput, isEventDriven: boolean): Priority {
  const symbols = new Set(plan.symbols);
  const served = misses.filter((miss) => miss.view === plan.view && symbols.has(miss.symbol));
  if (served.some((miss) => !miss.isEventDriven)) return 'interactive';
  if (served.length > 0) return 'events';
  return isEventDriven ? 'background' : 'interactive';
}

/** Fingerprints of the symbols that calls under way ask for, by view. */
function fingerprintsInFlight(
  flights: readonly Pick<RefreshFlight, 'view' | 'fingerprints'>[],
): ReadonlyMap<string, ReadonlySet<number>> {
  const byView = new Map<string, Set<number>>();
  for (const { view, fingerprints } of flights) {
    const found = byView.get(view) ?? new Set();
    for (const fingerprint of fingerprints) found.add(fingerprint);
    byView.set(view, found);
  }
  return byView;
}

/** Missed symbols that may go along with others, by view, without those that a call under way asks for. */
function shareableMisses({ memory, flights, misses, now }: PlanInput): Map<string, string[]> {
  const inFlight = fingerprintsInFlight(flights);
  const byView = new Map<string, Set<string>>();
  for (const { view, symbol } of misses) {
    if (!memory.statusOf(view).mayShareCall(symbol, view)) continue;
    if (memory.isCoolingDown(view, now)) continue;
    if (inFlight.get(view)?.has(fingerprintOf(symbol))) continue;
    byView.set(view, (byView.get(view) ?? new Set()).add(symbol));
  }
  return new Map([...byView].map(([view, symbols]) => [view, [...symbols]]));
}

function validOnly(symbols: readonly string[], { memory }: PlanInput, view: string): readonly string[] {
  const status = memory.statusOf(view);
  return symbols.filter((symbol) => status.isValid(symbol));
}

/** Scores a view's entries in use. */
function scoredView(entries: ViewEntries, { memory, flights, now }: PlanInput): ScoredView {
  const { id, category } = entries.view;
  const status = memory.statusIn(category);
  const inFlight = fingerprintsInFlight(flights).get(id);
  const used = entries.inUse(now);
  const minDemand = Math.max(1e-9, (demandFloor * totalDemand(used)) / Math.max(1, used.length));
  const shareable: Scored[] = [];
  const groups = new Map<string, { readonly plan: RefreshPlan; readonly symbols: Scored[] }>();
  for (const entry of used) {
    const { symbol, fingerprint, sentAt, demand } = entry;
    if (inFlight?.has(fingerprint) || isKeptFresh(entry, now)) continue;
    const score = (now - sentAt) * Math.max(demand, minDemand) ** demandExponent;
    const scored = { symbol, score };
    if (status.mayShareCall(symbol, id)) {
      shareable.push(scored);
      continue;
    }
    if (status.suspects.isBackedOff(symbol, id, now)) continue;
    const { symbols, sibling, caller } = status.groupToProbe(symbol, id, now) ?? aloneGroup(symbol);
    const key = symbols[0] ?? '';
    // The group may have failed in another view; the entries of this one are due.
    const plan = { kind: 'probe' as const, view: id, symbols, sibling, caller };
    groups.set(key, { plan, symbols: [...(groups.get(key)?.symbols ?? []), scored] });
  }
  shareable.sort((a, b) => b.score - a.score);
  return { entries, floor: minDemand ** demandExponent, shareable, groups: [...groups.values()] };
}

/**
 * Whether the stream keeps a record fresh. Members that it does not carry, such as ratios to the price, are fetched in
 * this time; and a fetch shows whether the stream tells the truth.
 */
const isKeptFresh = ({ isStreamed, sentAt, fetchedAt }: SnapshotEntry, now: number): boolean =>
  isStreamed && now - sentAt < streamedFreshMs && now - fetchedAt < uncarriedMs;
const streamedFreshMs = 2000;
const uncarriedMs = 30_000;

function filledUp(first: readonly string[], others: readonly Scored[]): readonly string[] {
  const symbols = new Set(first.slice(0, maxSymbols));
  for (const { symbol } of others) {
    if (symbols.size >= maxSymbols) break;
    symbols.add(symbol);
  }
  return [...symbols];
}

const refreshValue = (symbols: readonly Scored[]) =>
  symbols.reduce((sum, { score }) => sum + score * score, 0);
const totalDemand = (entries: readonly SnapshotEntry[]) =>
  entries.reduce((sum, { demand }) => sum + demand, 0);

/** Stands for the callers whose symbols go into one call. */
const sharedCall = '*';

interface ProbeCall extends Omit<RefreshPlan, 'kind'> {
  /** The caller whose quota it counts against. */
  caller: string;
  readonly symbols: string[];
  /** How many of the new symbols in it are each caller's; empty for a group. */
  readonly symbolsByCaller: Map<string, number>;
  /** Whether it asks for served symbols: these are also probed in the place of a refresh, and come last here. */
  readonly isServed: boolean;
  /** How many misses it would serve. */
  waiting: number;
}

interface ProbeInput extends PlanInput {
  readonly calls: Map<string, ProbeCall>;
  readonly isInFlight: (view: string, symbol: string) => boolean;
}

/** A call that learns whether symbols exist; undefined when none has to be probed now. */
export function planProbe(plan: PlanInput): RefreshPlan | undefined {
  const input = { ...plan, calls: new Map<string, ProbeCall>(), isInFlight: inFlightTest(plan) };
  addSuspectGroups(input);
  addMisses(input);
  return bestProbe(input);
}

/** An answer in any view says whether a symbol exists; only one in the view says more of a symbol that does. */
function inFlightTest({ memory, flights }: PlanInput): (view: string, symbol: string) => boolean {
  const categoryOf = (view: string) => memory.entriesOf(view).view.category;
  const byView = fingerprintsInFlight(flights);
  const byCategory = fingerprintsInFlight(
    flights.map(({ view, fingerprints }) => ({ view: categoryOf(view), fingerprints })),
  );
  return (view, symbol) => {
    const exists = memory.statusOf(view).exists(symbol);
    const fingerprints = exists ? byView.get(view) : byCategory.get(categoryOf(view));
    return fingerprints?.has(fingerprintOf(symbol)) ?? false;
  };
}

function addSuspectGroups(input: ProbeInput): void {
  const { memory, isInFlight, now } = input;
  const categories = new Set([...memory.views.values()].map(({ view }) => view.category));
  for (const category of categories)
    for (const { symbols, sibling, view, caller } of memory.statusIn(category).suspectGroups(now))
      if (!memory.isCoolingDown(view, now) && !symbols.some((symbol) => isInFlight(view, symbol)))
        addCall(input, { view, caller, sibling, symbols: [...symbols] }, symbols.length);
}

function addMisses(input: ProbeInput): void {
  const { memory, calls, misses, isInFlight, now } = input;
  const missesOf = new Map<string, number>();
  for (const { caller } of misses) missesOf.set(caller, (missesOf.get(caller) ?? 0) + 1);
  for (const miss of misses) {
    const { view, symbol, caller } = miss;
    const status = memory.statusOf(view);
    if (status.mayShareCall(symbol, view) || status.negativeEntry(symbol, view, now)) continue;
    if (status.suspects.isBackedOff(symbol, view, now) || isInFlight(view, symbol)) continue;
    const group = status.groupToProbe(symbol, view, now);
    if (group) {
      const unlisted = memory.isUnlisted(view, symbol) && { isUnlistedProbe: true as const };
      addCall(input, { view, caller, sibling: group.sibling, symbols: [...group.symbols], ...unlisted }, 1);
    } else addNew(input, miss, missesOf.get(caller) ?? 0);
  }
  // The caller with most symbols in a call pays for it.
  for (const call of calls.values())
    if (call.symbolsByCaller.size > 0)
      call.caller = [...call.symbolsByCaller].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

/** @param misses how many symbols the caller misses in all */
function addNew(input: ProbeInput, { view, symbol, caller, request }: PendingMiss, misses: number): void {
  const { memory, now } = input;
  const status = memory.statusOf(view);
  // Symbols that share a call with those of a failing request have to wait. The phones of one app are in many networks,
  // and have few new symbols each.
  const isShared = misses <= maxSharedSymbols;
  const group = memory.quota.isRisky(caller, now) ? `${caller}.${request}` : isShared ? sharedCall : caller;
  const { symbols, symbolsByCaller } = addCall(input, { view, caller, symbols: [] }, 1, `/${group}`);
  const max = Math.min(status.probeSize, status.namesUnknown ? maxSymbols : maxProbed);
  if (symbols.length >= max || symbols.includes(symbol)) return;
  symbols.push(symbol);
  symbolsByCaller.set(caller, (symbolsByCaller.get(caller) ?? 0) + 1);
}

/** @param group names those that share the call; default its caller */
function addCall(
  { memory, calls }: ProbeInput,
  call: Omit<ProbeCall, 'waiting' | 'isServed' | 'symbolsByCaller'>,
  waiting: number,
  group = call.caller,
): ProbeCall {
  const key = `${group}/${call.view}/${call.sibling ? call.symbols[0] : ''}`;
  const found = calls.get(key);
  if (found) {
    found.waiting += waiting;
    return found;
  }
  const { entries } = memory.entriesOf(call.view);
  const isServed = call.symbols.some((symbol) => entries.has(symbol));
  const added = { ...call, waiting, isServed, symbolsByCaller: new Map<string, number>() };
  calls.set(key, added);
  return added;
}

function bestProbe({
  memory,
  calls,
  flights,
  plannedCallers = [],
  now,
}: ProbeInput): RefreshPlan | undefined {
  /** How many probes each caller had in the last minute, and has planned. */
  const recent = new Map<string, number>();
  for (const { caller } of calls.values()) {
    const planned = plannedCallers.filter((one) => one === caller).length;
    recent.set(caller, memory.upstream.recentCount('probe', now, caller) + planned);
  }
  /** A caller whose symbols fail has new symbols probed before those that failed, and few before many. */
  const rankOf = ({ caller, sibling, symbols }: ProbeCall) =>
    memory.quota.isRisky(caller, now) ? symbols.length + (sibling ? maxSymbols : 0) : 0;
  const [best] = [...calls.values()]
    .filter(({ caller }) => {
      const underWay = flights.filter((flight) => flight.caller === caller);
      return !memory.quota.isOver(caller, now, underWay);
    })
    .sort(
      (a, b) =>
        Number(a.isServed) - Number(b.isServed) ||
        recent.get(a.caller)! - recent.get(b.caller)! ||
        rankOf(a) - rankOf(b) ||
        b.waiting - a.waiting,
    );
  if (!best) return undefined;
  const { waiting, isServed: _, symbolsByCaller: __, ...plan } = best;
  const total = [...calls.values()].reduce((sum, call) => sum + call.waiting, 0);
  return { kind: 'probe', ...plan, remaining: total - waiting };
}
