/**
 * What a call asks for. Of the symbols in use those with the greatest age × demand^¼: with the square root the mean
 * age would be a little lower and the tail much longer. The sum of the squares is what a call is worth: by it views,
 * and suspect groups, compete for the one limit.
 */

import type { Priority } from '../../limiter/index.ts';
import type { SnapshotMemory } from './memory.ts';
import type { SnapshotOptions } from './options.ts';
import type { PendingMiss } from './pending-miss.ts';
import type { RefreshFlight, RefreshKind } from './store.ts';
import { fingerprintOf, type SnapshotEntry, type ViewEntries } from './view-entries.ts';

export interface RefreshPlan {
  readonly kind: RefreshKind;
  readonly view: string;
  readonly symbols: readonly string[];
  readonly sibling?: readonly string[];
  readonly caller?: string;
  /** It asks for a symbol that the directory does not list. */
  readonly isUnlistedProbe?: true;
  /** How many missed symbols are left for a later call of this kind. */
  readonly remaining?: number;
}

export interface PlanInput {
  readonly memory: SnapshotMemory;
  readonly options: SnapshotOptions;
  readonly flights: readonly RefreshFlight[];
  /** What requests miss, here and elsewhere. */
  readonly misses: readonly PendingMiss[];
  readonly now: number;
  /** For whom calls are planned already that are sent at the same time. */
  readonly plannedCallers?: readonly (string | undefined)[];
}

/** A missed entry counts as one of this age. */
const missAgeMs = 5000;

interface Scored {
  readonly symbol: string;
  readonly score: number;
}

interface ScoredView {
  readonly entries: ViewEntries;
  /** What a symbol without demand counts for each millisecond of its age. */
  readonly floor: number;
  /** Symbols that may go along with any others, best first. */
  readonly shareable: readonly Scored[];
  /** Suspect symbols, by the group that they are probed in. */
  readonly groups: readonly { readonly plan: RefreshPlan; readonly symbols: readonly Scored[] }[];
}

/** A call that keeps entries fresh; undefined when none is in use. */
export function planRefresh(input: PlanInput): RefreshPlan | undefined {
  const { memory, now } = input;
  const { maxSymbols } = input.options;
  const active = [...memory.views.values()].filter(({ view }) => !memory.isCoolingDown(view.id, now));
  const views = active.map((entries) => scoredView(entries, input));
  const missesOf = shareableMisses(input);
  const plans = views.flatMap(({ entries, floor, shareable, groups }) => {
    const { view } = entries;
    const all = missesOf.get(view.id) ?? [];
    const misses = memory.trustsDirectory(now) ? all : validOnly(all, input, view.id);
    const value = misses.length * (missAgeMs * floor) ** 2 + refreshValue(shareable.slice(0, maxSymbols));
    const symbols = filledUp(misses, shareable, maxSymbols);
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
  const { maxSymbols } = input.options;
  const byView = [...shareableMisses(input)];
  const [most] = byView.sort(([, a], [, b]) => b.length - a.length);
  if (!most) return undefined;
  const [view, all] = most;
  const valid = memory.trustsDirectory(now) ? all : validOnly(all, input, view);
  // Symbols that are only listed go without those that are served, and would fail with them.
  const misses = valid.length === 0 ? all : valid;
  const others = valid.length === 0 ? [] : scoredView(memory.entriesOf(view), input).shareable;
  const symbols = filledUp(misses, others, maxSymbols);
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
export function fingerprintsInFlight(
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

/** Missed symbols that may go along with others, by view; not what a call under way asks for. */
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

/** A view's entries in use by what refreshing them is worth. */
function scoredView(entries: ViewEntries, { memory, options, flights, now }: PlanInput): ScoredView {
  const { demandExponent, demandFloor } = options;
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
    if (status.isBackedOff(symbol, id, now)) continue;
    const group = status.groupToProbe(symbol, id, now) ?? { symbols: [symbol], sibling: [] };
    const key = group.symbols[0] ?? '';
    const plan = { kind: 'probe' as const, view: id, ...group };
    groups.set(key, { plan, symbols: [...(groups.get(key)?.symbols ?? []), scored] });
  }
  shareable.sort((a, b) => b.score - a.score);
  return { entries, floor: minDemand ** demandExponent, shareable, groups: [...groups.values()] };
}

/**
 * Whether the stream keeps a record fresh. What it does not carry, such as ratios to the price, is fetched in this time; and a
 * fetch shows whether the stream tells the truth.
 */
const isKeptFresh = ({ isStreamed, sentAt, fetchedAt }: SnapshotEntry, now: number): boolean =>
  isStreamed && now - sentAt < streamedFreshMs && now - fetchedAt < uncarriedMs;
const streamedFreshMs = 2000;
const uncarriedMs = 30_000;

function filledUp(first: readonly string[], others: readonly Scored[], max: number): readonly string[] {
  const symbols = new Set(first.slice(0, max));
  for (const { symbol } of others) {
    if (symbols.size >= max) break;
    symbols.add(symbol);
  }
  return [...symbols];
}

const refreshValue = (symbols: readonly Scored[]) =>
  symbols.reduce((sum, { score }) => sum + score * score, 0);
const totalDemand = (entries: readonly SnapshotEntry[]) =>
  entries.reduce((sum, { demand }) => sum + demand, 0);
