/**
 * A call that learns whether symbols exist. Callers with few new symbols share one; a caller with many, or whose
 * symbols failed, has calls of its own, so that its invalid symbols delay no other caller's. The caller with the
 * fewest probes in the last minute comes first.
 */

import type { SnapshotMemory } from './memory.ts';
import type { PendingMiss } from './pending-miss.ts';
import { fingerprintsInFlight, type PlanInput, type RefreshPlan } from './plan-refresh.ts';
import type { SuspectGroup } from './suspect-groups.ts';
import { fingerprintOf } from './view-entries.ts';

/** Stands for the callers whose symbols go into one call. */
const sharedCall = '*';

interface ProbeCall extends Omit<RefreshPlan, 'kind'> {
  /** Whose quota it counts against. */
  caller: string;
  readonly symbols: string[];
  /** Then it is probed in the place of a refresh, too, and comes last here. */
  readonly isServed: boolean;
  /** How many misses it would serve. */
  waiting: number;
}

export function planProbe(input: PlanInput): RefreshPlan | undefined {
  const planner = new ProbePlanner(input);
  planner.addSuspectGroups();
  planner.addMisses();
  return planner.best();
}

class ProbePlanner {
  readonly #input: PlanInput;
  readonly #calls = new Map<string, ProbeCall>();
  /** How many symbols of each caller are in a call. */
  readonly #symbolsByCaller = new Map<ProbeCall, Map<string, number>>();
  readonly #inFlightByCategory: ReadonlyMap<string, ReadonlySet<number>>;
  readonly #inFlightByView: ReadonlyMap<string, ReadonlySet<number>>;

  constructor(input: PlanInput) {
    this.#input = input;
    const { flights, memory } = input;
    this.#inFlightByCategory = fingerprintsInFlight(
      flights.map(({ view, fingerprints }) => ({ view: categoryOf(memory, view), fingerprints })),
    );
    this.#inFlightByView = fingerprintsInFlight(flights);
  }

  addSuspectGroups(): void {
    const { memory, now } = this.#input;
    const categories = new Set([...memory.views.values()].map(({ view }) => view.category));
    for (const category of categories)
      for (const { symbols, sibling, view, caller } of memory.statusIn(category).suspectGroups(now))
        if (!memory.isCoolingDown(view, now) && !symbols.some((symbol) => this.#isInFlight(view, symbol)))
          this.#add({ view, caller, sibling, symbols: [...symbols] }, symbols.length);
  }

  addMisses(): void {
    const { memory, misses, now } = this.#input;
    const missesOf = new Map<string, number>();
    for (const { caller } of misses) missesOf.set(caller, (missesOf.get(caller) ?? 0) + 1);
    for (const miss of misses) {
      const { view, symbol, caller } = miss;
      const status = memory.statusOf(view);
      if (status.mayShareCall(symbol, view) || status.negativeEntry(symbol, view, now)) continue;
      if (status.isBackedOff(symbol, view, now) || this.#isInFlight(view, symbol)) continue;
      const group = status.groupToProbe(symbol, view, now);
      if (group) this.#addGroup(miss, group);
      else this.#addNew(miss, missesOf.get(caller) ?? 0);
    }
    // The caller with most symbols in a call pays for it.
    for (const [call, callers] of this.#symbolsByCaller)
      call.caller = [...callers].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
  }

  best(): RefreshPlan | undefined {
    const { memory, flights, now } = this.#input;
    const recent = this.#recentProbes();
    const [best] = [...this.#calls.values()]
      .filter(({ caller }) => {
        const underWay = flights.filter((flight) => flight.caller === caller);
        return !memory.quota.isOver(caller, now, underWay);
      })
      .sort(
        (a, b) =>
          Number(a.isServed) - Number(b.isServed) ||
          recent.get(a.caller)! - recent.get(b.caller)! ||
          this.#rank(a) - this.#rank(b) ||
          b.waiting - a.waiting,
      );
    if (!best) return undefined;
    const { waiting, isServed: _, ...plan } = best;
    const total = [...this.#calls.values()].reduce((sum, call) => sum + call.waiting, 0);
    return { kind: 'probe', ...plan, remaining: total - waiting };
  }

  #addGroup({ view, caller, symbol }: PendingMiss, group: Pick<SuspectGroup, 'symbols' | 'sibling'>): void {
    const unlisted = this.#input.memory.isUnlisted(view, symbol) && { isUnlistedProbe: true as const };
    this.#add({ view, caller, sibling: group.sibling, symbols: [...group.symbols], ...unlisted }, 1);
  }

  /** @param misses of the caller, in all */
  #addNew({ view, symbol, caller, request }: PendingMiss, misses: number): void {
    const { memory, options, now } = this.#input;
    const status = memory.statusOf(view);
    // Among the symbols of a request that fails, those of another would have to wait. The phones of one app are in
    // many networks, and have few new symbols each.
    const isShared = misses <= options.maxSharedSymbols;
    const group = memory.quota.isRisky(caller, now) ? `${caller}.${request}` : isShared ? sharedCall : caller;
    const call = this.#add({ view, caller, symbols: [] }, 1, `/${group}`);
    const max = Math.min(status.probeSize, status.namesUnknown ? options.maxSymbols : options.maxProbed);
    if (call.symbols.length >= max || call.symbols.includes(symbol)) return;
    call.symbols.push(symbol);
    const callers = this.#symbolsByCaller.get(call) ?? new Map<string, number>();
    this.#symbolsByCaller.set(call, callers.set(caller, (callers.get(caller) ?? 0) + 1));
  }

  /** @param group what shares the call; default its caller */
  #add(call: Omit<ProbeCall, 'waiting' | 'isServed'>, waiting: number, group = call.caller): ProbeCall {
    const key = `${group}/${call.view}/${call.sibling ? call.symbols[0] : ''}`;
    const found = this.#calls.get(key);
    if (found) {
      found.waiting += waiting;
      return found;
    }
    const { entries } = this.#input.memory.entriesOf(call.view);
    const isServed = call.symbols.some((symbol) => entries.has(symbol));
    const added = { ...call, waiting, isServed };
    this.#calls.set(key, added);
    return added;
  }

  /** An answer in any view says whether a symbol exists; of one that does, only one in the view says more. */
  #isInFlight(view: string, symbol: string): boolean {
    const { memory } = this.#input;
    const fingerprints = memory.statusOf(view).exists(symbol)
      ? this.#inFlightByView.get(view)
      : this.#inFlightByCategory.get(categoryOf(memory, view));
    return fingerprints?.has(fingerprintOf(symbol)) ?? false;
  }

  /** Of each caller, in the last minute and planned. */
  #recentProbes(): ReadonlyMap<string, number> {
    const { memory, plannedCallers = [], now } = this.#input;
    const counts = new Map<string, number>();
    for (const { caller } of this.#calls.values()) {
      if (counts.has(caller)) continue;
      const planned = plannedCallers.filter((one) => one === caller).length;
      counts.set(caller, memory.upstream.recentCount('probe', now, caller) + planned);
    }
    return counts;
  }

  /** Of a caller whose symbols fail, new symbols come before those that failed, and few before many. */
  #rank({ caller, sibling, symbols }: ProbeCall): number {
    const { memory, options, now } = this.#input;
    if (!memory.quota.isRisky(caller, now)) return 0;
    return symbols.length + (sibling ? options.maxSymbols : 0);
  }
}

const categoryOf = (memory: SnapshotMemory, view: string) => memory.entriesOf(view).view.category;
