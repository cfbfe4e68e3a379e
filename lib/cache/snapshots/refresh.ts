/**
 * Refreshes: the requester that acquires the lease plans one call or several, sends them, and writes what came of
 * each into the refresh log, so that all instances have it too.
 */

import { StoreThrottled } from '../../limiter/store-throttled.ts';
import type { SymbolDirectory } from './directory.ts';
import type { SnapshotMemory } from './memory.ts';
import type { SnapshotOptions } from './options.ts';
import { type PendingMiss, readMiss } from './pending-miss.ts';
import { planProbe } from './plan-probe.ts';
import { type PlanInput, planMisses, planRefresh, priorityOf, type RefreshPlan } from './plan-refresh.ts';
import type { AskUpstream, RefreshPermits, Runtime } from './ports.ts';
import { RefreshCalls } from './refresh-call.ts';
import { flightOf, manyRemaining, type PlannedCall, RefreshLeases } from './refresh-lease.ts';
import type { RefreshLog } from './refresh-log.ts';
import type { NegativeItem, RefreshKind, RefreshRecord, SnapshotStore } from './store.ts';

export interface RefreshPorts {
  readonly store: SnapshotStore;
  readonly permits: RefreshPermits;
  readonly upstream: AskUpstream;
  readonly runtime: Runtime;
  readonly directory?: Pick<SymbolDirectory, 'advance'> | undefined;
}

/** `acquired`: what came of it is known by now. `lost`: another instance has it. `idle`: there is nothing to ask for. */
export type AcquireResult = 'acquired' | 'lost' | 'idle';

/** The request on whose time a refresh is made. */
export interface RefreshRequester {
  readonly deadline: number;
  /** No client waits for it. */
  readonly isEventDriven: boolean;
}

/** Calls that one instance sends at the same time. */
const maxConcurrentCalls = 8;
/** Of how many symbols of each view a record holds the demand. */
const maxDemand = 100;
/** An outcome that the store throttles is written again, after these pauses: other instances wait for it. */
const writePausesMs = [20, 60, 180] as const;

const planners = { refresh: planRefresh, miss: planMisses, probe: planProbe } as const;

export class Refresher {
  readonly #ports: RefreshPorts;
  readonly #log: RefreshLog;
  readonly #memory: SnapshotMemory;
  readonly #options: SnapshotOptions;
  readonly #leases: RefreshLeases;
  readonly #calls: RefreshCalls;
  /** A short name of this instance. */
  readonly #writer: string;

  constructor(ports: RefreshPorts, log: RefreshLog, memory: SnapshotMemory, options: SnapshotOptions) {
    const { clock, random } = ports.runtime;
    this.#ports = ports;
    this.#log = log;
    this.#memory = memory;
    this.#options = options;
    this.#leases = new RefreshLeases(ports.store, log, memory, options, clock);
    this.#calls = new RefreshCalls({ ...ports, clock }, memory, options);
    this.#writer = Math.floor(random() * 2 ** 24).toString(36);
  }

  /**
   * Acquires a lease of this kind and refreshes, if there is anything to ask for and no other instance is faster.
   *
   * @param own what the requester itself misses
   */
  async acquire(
    kind: RefreshKind,
    own: readonly PendingMiss[],
    requester: RefreshRequester,
  ): Promise<AcquireResult> {
    const { clock } = this.#ports.runtime;
    const isStarved = kind === 'refresh' && this.#memory.upstream.areProbesStarved(clock());
    // Where nothing is missing, a refresh need not read the pending misses.
    const isCalm = kind === 'refresh' && !isStarved && !this.#log.isCrowded(clock());
    const others = isCalm ? [] : await this.#missesOfOthers();
    const now = clock();
    const misses = [...others.filter((miss) => !this.#isServed(miss, now)), ...own];
    const flights = this.#log.flights(now);
    const input: PlanInput = { memory: this.#memory, options: this.#options, flights, misses, now };
    // A symbol that no instance has comes before one that is only older.
    const probe = isStarved ? planProbe(input) : undefined;
    const plans = probe ? [probe] : this.#planAll(kind, input);
    if (plans.length === 0) return 'idle';
    const calls = plans.map((plan) => ({
      plan,
      priority: priorityOf(plan, input, requester.isEventDriven),
    }));
    // A probe in a refresh's place is paced like one: it takes nothing from callers with new symbols.
    const lease = await this.#leases.acquire(kind, calls, input);
    if (!lease) return 'lost';
    const negative = [...this.#negativeMisses(input), ...this.#memory.flushNegativeHits(now)];
    // A page of the directory beside a refresh: of all requests, this one waits for the upstream anyway.
    const isRefresh = kind === 'refresh' && lease.first !== undefined;
    const page = isRefresh ? this.#ports.directory?.advance(requester.deadline) : undefined;
    await Promise.all([page, ...this.#sendAll(calls, lease.first, requester, { now, negative })]);
    if (lease.writesCheckpoint) await this.#writeCheckpoint();
    return 'acquired';
  }

  /** As many concurrent calls as are needed, each with other symbols; only misses and probes are worth more than one. */
  #planAll(kind: RefreshKind, input: PlanInput): readonly RefreshPlan[] {
    const plans: RefreshPlan[] = [];
    const flights = [...input.flights];
    const { left } = this.#log.control.probes;
    const max =
      kind === 'refresh' ? 1 : kind === 'probe' ? Math.min(maxConcurrentCalls, left) : maxConcurrentCalls;
    do {
      const plannedCallers = plans.map(({ caller }) => caller);
      const plan = planners[kind]({ ...input, flights, plannedCallers });
      // In a storm a small call would spend a permit that the next one fills better.
      const isSmall = plan && plan.symbols.length < manyRemaining / 2 && this.#log.isCrowded(input.now);
      if (!plan || (plans.length > 0 && isSmall)) break;
      plans.push(plan);
      flights.push(flightOf(0, plan, input.now));
    } while (plans.length < max);
    return plans;
  }

  /** @param first the sequence number of the first call; undefined without a store */
  #sendAll(
    calls: readonly PlannedCall[],
    first: number | undefined,
    requester: RefreshRequester,
    { now, negative }: { readonly now: number; readonly negative: readonly NegativeItem[] },
  ): readonly Promise<void>[] {
    return calls.map((call, index) => {
      const sequence = first === undefined ? 0 : first + index;
      return this.#send(sequence, call, requester, { now, negative: index === 0 ? negative : [] });
    });
  }

  async #send(
    sequence: number,
    { plan, priority }: PlannedCall,
    { deadline }: RefreshRequester,
    { now, negative }: { readonly now: number; readonly negative: readonly NegativeItem[] },
  ): Promise<void> {
    const isAlone = sequence === 0;
    const { sentAt, outcome } = await this.#calls.send(plan, { deadline, priority, isAlone });
    const record: RefreshRecord = {
      sequence,
      writer: this.#writer,
      kind: plan.kind,
      view: plan.view,
      sentAt,
      symbols: plan.symbols,
      outcome,
      ...(plan.sibling && plan.sibling.length > 0 && { sibling: plan.sibling }),
      caller: plan.caller,
      ...(priority !== 'interactive' && { priority }),
      ...(plan.isUnlistedProbe && { isUnlistedProbe: true }),
      ...(this.#memory.statusOf(plan.view).namesUnknown && { namesUnknown: true }),
      failedProbes: this.#memory.quota.levels(now),
      negative,
      demand: [...this.#memory.views].flatMap(([view, entries]) =>
        entries.flushDemand(maxDemand).map(([symbol, times]) => [view, symbol, times] as const),
      ),
    };
    this.#log.applyOwn(record);
    if (isAlone) return;
    await this.#write(record).catch((cause) => this.#log.reportFailure(cause, this.#ports.runtime.clock()));
  }

  async #write(record: RefreshRecord): Promise<void> {
    const { store, runtime } = this.#ports;
    for (const pauseMs of writePausesMs)
      try {
        return await store.write(record);
      } catch (cause) {
        if (!(cause instanceof StoreThrottled)) throw cause;
        await runtime.sleep(pauseMs * (0.5 + runtime.random()));
      }
    return store.write(record);
  }

  /** What other requests miss, read together with the log: both are as of now. */
  async #missesOfOthers(): Promise<readonly PendingMiss[]> {
    const { store, runtime } = this.#ports;
    if (this.#log.isStoreDown(runtime.clock())) return [];
    const isCurrent = this.#log.isCurrent(runtime.clock());
    const [keys] = await Promise.all([
      store.readMisses().catch((cause: unknown): readonly string[] => {
        this.#log.reportOptionalFailure(cause, runtime.clock());
        return [];
      }),
      isCurrent ? undefined : this.#log.poll(),
    ]);
    return keys.map(readMiss);
  }

  /**
   * Whether the entry is there and is refreshed: then the instance that missed it is behind, and will read it. What
   * no client requested any more is in no checkpoint and is not refreshed.
   */
  #isServed({ view, symbol }: PendingMiss, now: number): boolean {
    const entry = this.#memory.entriesOf(view).entries.get(symbol);
    if (entry === undefined || now - entry.requestedAt > this.#options.forgetMs) return false;
    return now - entry.sentAt < this.#options.expireAfterMs;
  }

  /** Missed symbols that this instance knows to be unknown to the upstream. */
  #negativeMisses({ misses, now }: PlanInput): readonly NegativeItem[] {
    return misses.flatMap(({ view, symbol }) => {
      const entry = this.#memory.negativeEntry(view, symbol, now);
      return entry ? [[entry.view, symbol, entry.until] as const] : [];
    });
  }

  async #writeCheckpoint(): Promise<void> {
    const now = this.#ports.runtime.clock();
    const checkpoint = this.#memory.createCheckpoint(this.#log.readUpTo(now), now);
    await this.#ports.store
      .writeCheckpoint(0, checkpoint)
      .catch((cause) => this.#log.reportOptionalFailure(cause, now));
  }
}
