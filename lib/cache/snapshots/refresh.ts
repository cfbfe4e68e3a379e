/**
 * Refreshes: the requester that acquires the lease plans one call or several, sends them, and writes what came of
 * each into the refresh log, so that all instances have it too. One conditional write of the control item grants a lease.
 */

import { type BackOff, backOffMs } from '../../kernel/pauses.ts';
import type { Priority } from '../../limiter/index.ts';
import { StoreThrottled } from '../../limiter/store-throttled.ts';
import type { SymbolDirectory } from './directory.ts';
import { fingerprintOf } from './entries.ts';
import { withoutMessage } from './failed-symbols.ts';
import type { AcquireResult } from './health.ts';
import type { SnapshotMemory } from './memory.ts';
import { type PlanInput, planMisses, planProbe, planRefresh, priorityOf, type RefreshPlan } from './plan.ts';
import {
  type AskUpstream,
  minuteMs,
  type RefreshPermits,
  type Runtime,
  type SnapshotOptions,
  type UpstreamAnswer,
} from './ports.ts';
import { cutRecords, maxAnsweredRecords } from './records.ts';
import type { RefreshLog } from './refresh-log.ts';
import {
  type CheckpointMark,
  type NegativeItem,
  type PendingMiss,
  type RefreshControl,
  type RefreshFlight,
  type RefreshKind,
  type RefreshOutcome,
  type RefreshRecord,
  readMiss,
  type SnapshotStore,
} from './store.ts';

/**
 * Between two refreshes that requests wait for: what is missed meanwhile goes along with the second. Short while
 * enough misses are left for a full call, longer for single symbols: after a cold start every call counts.
 */
const coalesceMs = { many: 20, few: 150 } as const;
/** A checkpoint at least this often while leases are acquired; in a storm, where many read nothing else, more often. */
const checkpointMs = { calm: 10_000, storm: 1500 } as const;

/** Calls for misses that may follow each other within a minute without the pace of refreshes. */
const missBurst = 250;
/** This many remaining symbols trigger an early call. */
export const manyRemaining = 30;

export interface PlannedCall {
  readonly plan: RefreshPlan;
  readonly priority: Priority;
}

export interface RefreshLease {
  /** The sequence number of its first call; undefined without a store, when this instance calls for itself alone. */
  readonly first: number | undefined;
  /** Whether its holder writes the next checkpoint. */
  readonly writesCheckpoint: boolean;
}

export const flightOf = (
  sequence: number,
  { kind, view, symbols, caller, isUnlistedProbe }: RefreshPlan,
  now: number,
): RefreshFlight => ({
  sequence,
  at: now,
  view,
  fingerprints: symbols.map(fingerprintOf),
  ...(kind === 'probe' && caller !== undefined && { caller }),
  isUnlistedProbe,
});

export class RefreshLeases {
  readonly #store: SnapshotStore;
  readonly #log: RefreshLog;
  readonly #memory: SnapshotMemory;
  readonly #options: SnapshotOptions;
  readonly #clock: () => number;

  constructor(
    store: SnapshotStore,
    log: RefreshLog,
    memory: SnapshotMemory,
    options: SnapshotOptions,
    clock: () => number,
  ) {
    this.#store = store;
    this.#log = log;
    this.#memory = memory;
    this.#options = options;
    this.#clock = clock;
  }

  /** Undefined when another instance has it. */
  async acquire(
    kind: RefreshKind,
    calls: readonly PlannedCall[],
    { flights, now }: PlanInput,
  ): Promise<RefreshLease | undefined> {
    const alone = { first: undefined, writesCheckpoint: false };
    if (this.#log.isStoreDown(now)) return alone;
    const { sequence: after, checkpoint } = this.#log.control;
    const sequence = after + calls.length;
    const writesCheckpoint = this.#log.isComplete && this.#isCheckpointDue(sequence, now);
    const next: RefreshControl = {
      sequence,
      ...this.#pacingAfter(kind, calls, now),
      flights: [...flights, ...calls.map(({ plan }, index) => flightOf(after + 1 + index, plan, now))],
      checkpoint: writesCheckpoint ? this.#checkpointAfter(sequence, now) : checkpoint,
    };
    try {
      const answer = await this.#store.acquire(next, after);
      if (!answer.acquired) {
        this.#log.replaceControl(answer.control);
        return undefined;
      }
      this.#log.updateControl(next);
      return { first: after + 1, writesCheckpoint };
    } catch (cause) {
      this.#log.reportFailure(cause, this.#clock());
      // A store that throttles is there: another instance may have the lease, and this one must not act alone.
      return cause instanceof StoreThrottled ? undefined : alone;
    }
  }

  #isCheckpointDue(sequence: number, now: number): boolean {
    const { checkpoint } = this.#log.control;
    const everyMs = this.#log.isCrowded(now) ? checkpointMs.storm : checkpointMs.calm;
    return sequence >= checkpoint.sequence + checkpoint.gap || now - checkpoint.at >= everyMs;
  }

  /** After a pause there is little to write, and many may begin: at first each lease writes one, then ever fewer do. */
  #checkpointAfter(sequence: number, now: number): CheckpointMark {
    const { at, gap } = this.#log.control.checkpoint;
    const { refreshesPerCheckpoint } = this.#options;
    const next = now - at > 2 * checkpointMs.calm ? 1 : Math.min(refreshesPerCheckpoint, 2 * gap);
    return { sequence, at: now, records: this.#memory.recordsInUse(now), gap: next };
  }

  /** When the next calls are due, after these of one kind. */
  #pacingAfter(
    kind: RefreshKind,
    calls: readonly PlannedCall[],
    now: number,
  ): Pick<RefreshControl, 'due' | 'probes'> {
    const { paceMs } = this.#options;
    const last = calls.at(-1)!;
    const isInteractive = last.priority === 'interactive';
    const due = { ...this.#log.control.due };
    let { probes } = this.#log.control;
    // Evenly, neither making up for a pause nor paying for what came in between: the limiter sees to that.
    if (kind === 'refresh' || (kind === 'miss' && isInteractive)) {
      const next = Math.max(this.#log.due('refresh', now) + paceMs, now + paceMs / 2);
      due.refresh = Math.min(next, now + paceMs);
    }
    // Not at the same moment, or one waits for the other's permit; and not ever later, with probe after probe. Calls
    // for events delay nothing.
    if (kind === 'probe' && isInteractive)
      due.refresh = Math.min(Math.max(due.refresh, now) + paceMs / 2, now + paceMs);
    const soonMs = (last.plan.remaining ?? 0) >= manyRemaining ? coalesceMs.many : coalesceMs.few;
    const isInBurst = this.#memory.upstream.recentCount('miss', now) < missBurst;
    if (kind === 'miss') due.miss = now + (isInBurst ? soonMs : paceMs);
    if (kind === 'probe') {
      probes = this.#probesAfter(calls.length, now);
      due.probe = now + Math.max(soonMs, (1 - probes.left) * this.#msPerProbe);
    }
    return { due, probes };
  }

  #probesAfter(count: number, now: number): RefreshControl['probes'] {
    const { left, at } = this.#log.control.probes;
    const refilled = Math.max(0, now - at) / this.#msPerProbe;
    return { left: Math.min(this.#options.probeBurst, left + refilled) - count, at: now };
  }

  get #msPerProbe(): number {
    return minuteMs / this.#options.probesPerMinute;
  }
}

/** After a failure of the upstream; the failures in a row count. */
const upstreamBackOff: BackOff = { firstMs: 125, maxMs: 1000 };
const forbiddenMs = 30_000;
/** How long a miss waits for a permit; not so long that no request counts on the call any more. */
const missPermitMs = 800;
/** After a limiter that failed, against its contract. */
const brokenLimiterMs = 1000;

type FailedAnswer = Extract<UpstreamAnswer, { kind: 'failed' }>;

export interface RefreshCallPorts {
  readonly permits: RefreshPermits;
  readonly upstream: AskUpstream;
  readonly clock: () => number;
}

export interface CallTiming {
  readonly deadline: number;
  readonly priority: Priority;
  /** The refresh is this instance's alone, without the store: it does not wait for a permit. */
  readonly isAlone: boolean;
}

export class RefreshCalls {
  readonly #ports: RefreshCallPorts;
  readonly #memory: SnapshotMemory;
  readonly #options: SnapshotOptions;

  constructor(ports: RefreshCallPorts, memory: SnapshotMemory, options: SnapshotOptions) {
    this.#ports = ports;
    this.#memory = memory;
    this.#options = options;
  }

  /** Always resolves: a port that breaks its contract costs the call, and requests are served what is cached. */
  async send(plan: RefreshPlan, timing: CallTiming): Promise<{ sentAt: number; outcome: RefreshOutcome }> {
    const { deadline, priority, isAlone } = timing;
    const { permits, upstream, clock } = this.#ports;
    const maxWaitMs = isAlone ? 0 : this.#permitWaitMs(plan.kind, priority);
    const waitMs = Math.max(0, Math.min(maxWaitMs, deadline - clock()));
    const answer = await permits
      .acquire({ priority, waitMs })
      .catch(() => ({ ok: false, retryAfterMs: brokenLimiterMs, isLocal: true }) as const);
    const sentAt = clock();
    if (!answer.ok) {
      const notBefore = sentAt + Math.min(minuteMs, answer.retryAfterMs);
      const shared = { kind: 'failed', notBefore, upstream: false } as const;
      return { sentAt, outcome: answer.isLocal ? this.#failedHere(notBefore) : shared };
    }
    const timeoutMs = Math.max(1, Math.min(this.#options.upstreamTimeoutMs, deadline - sentAt));
    const { view } = this.#memory.entriesOf(plan.view);
    const { symbols, caller } = plan;
    const answered = await upstream(view, symbols, answer.permit, timeoutMs, caller).catch(
      (): UpstreamAnswer => ({ kind: 'failed' }),
    );
    return { sentAt, outcome: this.#outcomeOf(answered, plan) };
  }

  /**
   * The next refresh is as good as one that is late; what a client waits for is worth more patience. A less urgent
   * call delays no requester that needs the same symbols more urgently.
   */
  #permitWaitMs(kind: RefreshKind, priority: Priority): number {
    return kind === 'refresh' || priority !== 'interactive' ? this.#options.paceMs : missPermitMs;
  }

  #outcomeOf(answer: UpstreamAnswer, plan: RefreshPlan): RefreshOutcome {
    const { symbols } = plan;
    switch (answer.kind) {
      case 'answer': {
        const records = cutRecords(answer.body, maxAnsweredRecords);
        if (!records) return this.#failed({});
        const asked = new Set(symbols);
        return {
          kind: 'answer',
          records: new Map([...records].filter(([symbol]) => asked.has(symbol))),
          unknown: symbols.filter((symbol) => !records.has(symbol)),
        };
      }
      case 'rejected':
        return answer;
      case 'forbidden': {
        const { error, forMs = forbiddenMs } = answer;
        if (answer.mayBeOfSymbols && this.#mayBeOfSymbols(plan))
          return {
            kind: 'rejected',
            error: { ...(symbols.length > 1 ? withoutMessage(error) : error), forMs },
          };
        return { kind: 'forbidden', error, until: this.#ports.clock() + forMs };
      }
      case 'failed':
        return this.#failed(answer);
    }
  }

  /** Not of symbols that the upstream has answered for; and not where it answers for none, or each would be asked for alone. */
  #mayBeOfSymbols({ view, symbols, isUnlistedProbe }: RefreshPlan): boolean {
    const { entries } = this.#memory.entriesOf(view);
    if (symbols.every((symbol) => entries.has(symbol))) return false;
    const since = this.#ports.clock() - minuteMs;
    return isUnlistedProbe === true || [...entries.values()].some(({ fetchedAt }) => fetchedAt > since);
  }

  #failed({ retryAfterMs, isLocal }: Omit<FailedAnswer, 'kind'>): RefreshOutcome {
    const pauseMs = retryAfterMs ?? backOffMs(upstreamBackOff, this.#memory.upstream.failures);
    const notBefore = this.#ports.clock() + Math.min(minuteMs, pauseMs);
    return isLocal ? this.#failedHere(notBefore) : { kind: 'failed', notBefore, upstream: true };
  }

  /** What keeps this instance from asking keeps no other from it. */
  #failedHere(notBefore: number): RefreshOutcome {
    this.#memory.upstream.pauseHere(notBefore);
    return { kind: 'failed', notBefore: this.#ports.clock(), upstream: false };
  }
}

export interface RefreshPorts {
  readonly store: SnapshotStore;
  readonly permits: RefreshPermits;
  readonly upstream: AskUpstream;
  readonly runtime: Runtime;
  readonly directory?: Pick<SymbolDirectory, 'advance'> | undefined;
}

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
